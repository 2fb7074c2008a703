"""Nearest neighbors by a learned distance, as a sparse graph that scikit-learn's estimators read."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
import torch
from scipy.sparse import csr_matrix

from trimetric._support import checks
from trimetric._support.optional import needing
from trimetric.search import Index
from trimetric.search.subject import Searched

with needing("trimetric.integrations.sklearn", "sklearn"):
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted


class NeighborsTransformer(TransformerMixin, BaseEstimator):
    """Turn objects into the sparse graph of their nearest neighbors, by any distance that an `Index` can search.

    It replaces scikit-learn's `KNeighborsTransformer` before an estimator with `metric="precomputed"`, such as
    `KNeighborsClassifier`, `DBSCAN` or `TSNE`.  Neighbors are exact, for asymmetric distances too, and no dense matrix
    is computed.

    Args:
        distance: a distance, norm, `Siamese` or function.
        n_neighbors: the number of neighbors; one more is stored, because each point is its own neighbor.
        direction: "from" uses the distances from each object to the fitted ones, "to" those in the other direction.

    Examples:
        >>> import numpy as np, trimetric as tm
        >>> points = np.array([[0.0], [1.0], [5.0]])
        >>> NeighborsTransformer(tm.Mahalanobis(1), n_neighbors=1).fit_transform(points).shape
        (3, 3)
    """

    def __init__(self, distance: Searched, *, n_neighbors: int = 5, direction: Literal["from", "to"] = "from") -> None:
        self.distance = distance
        self.n_neighbors = n_neighbors
        self.direction: Literal["from", "to"] = direction

    def fit(self, X: np.ndarray, y: object = None) -> Self:  # noqa: ARG002, N803
        """Build the index.

        Args:
            X: the objects, `(n, features)`.
            y: not used.
        """
        checks.positive_int("n_neighbors", self.n_neighbors)
        self.index_ = Index(self.distance, _numbers(X, self.distance))
        self.n_features_in_ = np.shape(X)[1]
        return self

    def transform(self, X: np.ndarray) -> csr_matrix:  # noqa: N803
        """Find the nearest fitted objects.

        Args:
            X: objects, `(m, features)`.

        Returns:
            A sparse matrix `(m, n)` of distances, nearest first in each row; zeros are stored too.
        """
        check_is_fitted(self)
        found = self.index_.nearest(_numbers(X, self.distance), self.n_neighbors + 1, direction=self.direction)
        rows, width = found.rows.shape
        places = found.rows.numpy().ravel(), np.arange(0, rows * width + 1, max(1, width))
        return csr_matrix((found.distances.double().numpy().ravel(), *places), shape=(rows, len(self.index_)))


def _numbers(X: object, distance: object) -> torch.Tensor:  # noqa: N803
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X: expected objects with features, (n, features), got shape {array.shape}")
    weights = distance.parameters() if isinstance(distance, torch.nn.Module) else ()
    dtype = next((weight.dtype for weight in weights if weight.is_floating_point()), torch.float64)
    return torch.as_tensor(array, dtype=dtype)
