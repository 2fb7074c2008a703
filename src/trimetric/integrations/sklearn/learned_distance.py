"""What every estimator offers once it has learned a distance between objects."""

from __future__ import annotations

import copy
from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

import trimetric
from trimetric._audit.measure import Audit, audit
from trimetric._support import checks
from trimetric._support.optional import needing
from trimetric.distances.all_pairs import all_pairs
from trimetric.distances.siamese import Siamese
from trimetric.integrations.sklearn.metric_callable import Asymmetry, MetricCallable
from trimetric.models.encoders import MLP
from trimetric.models.model import Model
from trimetric.models.pictures import draw_points

with needing("trimetric.integrations.sklearn", "sklearn"):
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_array, check_is_fitted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# About the most numbers that a block of rows of the matrix of all pairs holds in nearest_neighbors.
NEIGHBOR_FLOATS = 1 << 24


class LearnedDistance(BaseEstimator):
    """A trained `Siamese` on standardized objects, and what can be asked of it."""

    device: str
    model_: Siamese
    mean_: NDArray[np.float64]
    scale_: NDArray[np.float64]
    _where_features_are: ClassVar[str] = ""

    def _standardized(self, objects: NDArray[np.float64]) -> Tensor:
        # In float64: features with a large offset, such as years, lose their digits in float32 before the mean is gone.
        scaled = (objects - self.mean_) / self.scale_
        return torch.as_tensor(scaled, dtype=torch.float32, device=self.device)

    def _objects(self, name: str, X: ArrayLike) -> Tensor:  # noqa: N803
        check_is_fitted(self)
        objects = check_array(X, dtype=np.float64, input_name=name)  # type: ignore
        if objects.shape[1] != len(self.mean_):
            raise ValueError(
                f"{name}: expected objects with {len(self.mean_)} features{self._where_features_are}, "
                f"got shape {objects.shape}"
            )
        return self._standardized(objects)

    @torch.no_grad()
    def pairwise(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[np.float32]:  # noqa: N803
        """The matrix of `d(X[i], Y[j])` for objects `(n, d)` and `(m, d)`, with `Y = X` by default.

        It is what `metric="precomputed"` takes: rows are the queries, columns the fitted objects.

        Args:
            X: objects to measure from.
            Y: objects to measure to.
        """
        x = self._objects("X", X)
        y = None if Y is None else self._objects("Y", Y)
        return finite_distances("X", all_pairs(self.model_, x, y))

    @torch.no_grad()
    def nearest_neighbors(
        self,
        X: ArrayLike,  # noqa: N803
        queries: ArrayLike | None = None,
        *,
        n_neighbors: int = 5,
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Distances and indices `(m, n_neighbors)` of the objects with the least `d(query, X[j])`, nearest first.

        Every distance is computed, in the direction from query to object, in blocks of bounded memory: right for
        asymmetric distances too.

        Args:
            X: the objects to search, `(n, d)`.
            queries: the objects whose neighbors are wanted, `(m, d)`; by default each of `X`, among the others.
            n_neighbors: how many for each query.
        """
        x = self.model_.embed(self._objects("X", X))
        q = x if queries is None else self.model_.embed(self._objects("queries", queries))
        others = len(x) - (queries is None)
        if checks.positive_int("n_neighbors", n_neighbors) > others:
            raise ValueError(f"n_neighbors: expected at most {others}, the number of candidates, got {n_neighbors}")
        step = max(1, NEIGHBOR_FLOATS // len(x))
        found = []
        for start in range(0, len(q), step):
            block = all_pairs(self.model_.head, q[start : start + step], x)
            if queries is None:
                block.diagonal(start).fill_(torch.inf)
            found.append(torch.topk(block, n_neighbors, largest=False))
        distances, nearest = (torch.cat(part) for part in zip(*found, strict=True))
        return finite_distances("X" if queries is None else "queries", distances), nearest.cpu().numpy()

    @torch.no_grad()
    def _distance(self, x: ArrayLike, y: ArrayLike) -> float:
        start, end = self.model_.embed(self._objects("x, y", np.stack([x, y])))
        return self.model_.head(start, end).item()

    def as_metric(self, *, asymmetry: Asymmetry = "refuse") -> MetricCallable:
        """The distance as `metric=` of a scikit-learn estimator.

        A call for each pair is slow: `pairwise` with `metric="precomputed"`, or `nearest_neighbors`, is not.

        Args:
            asymmetry: what to do if the distance is not symmetric; see `MetricCallable`.
        """
        check_is_fitted(self)
        return MetricCallable(self._distance, symmetric=self.model_.axioms.symmetric, asymmetry=asymmetry)

    def to_model(self, objects: ArrayLike | None = None, ids: Sequence[str] | None = None) -> Model:
        """The trained network as a `trimetric.Model`, to save without a pickle, to export, or for the command line.

        It reads features as they came, and standardizes them in float32: features whose offset is large beside their
        spread lose digits there, as they do not in this estimator.

        With `objects` the model knows these by name, as one from `trimetric fit` does; without, `trimetric predict`
        takes a file of features.

        Args:
            objects: what the model is to know, `(n, d)`.
            ids: their names; "0", "1", ... by default.
        """
        check_is_fitted(self)
        if objects is None and ids is not None:
            raise ValueError(f"ids: expected None without objects, got {len(ids)} names")
        network = copy.deepcopy(self.model_)
        standardize = network.get_submodule("encoder.standardize")
        for name, value in (("mean", self.mean_), ("scale", self.scale_)):
            standardize.get_buffer(name).copy_(torch.as_tensor(value))
        notes: dict[str, object] = {"made_by": f"trimetric {trimetric.__version__}", "estimator": type(self).__name__}
        columns = getattr(self, "feature_names_in_", ())
        if len(columns) == len(self.mean_):
            notes["feature_columns"] = [str(name) for name in columns]
        if objects is None:
            return Model(network, notes=notes)
        rows = check_array(objects, dtype=np.float64, input_name="objects")  # type: ignore
        if rows.shape[1] != len(self.mean_):
            raise ValueError(f"objects: expected {len(self.mean_)} features, got shape {rows.shape}")
        names = [str(i) for i in range(len(rows))] if ids is None else list(ids)
        return Model(network, names, torch.as_tensor(rows, dtype=torch.float32), notes=notes)

    @torch.no_grad()
    def plot_embeddings(self, X: ArrayLike, groups: ArrayLike | None = None) -> Figure:  # noqa: N803
        """Draw the embeddings of objects in the plane of their two principal axes; see `trimetric.models.draw_points`.

        Args:
            X: objects `(n, d)`.
            groups: what to color each by, such as its class.
        """
        colors = None if groups is None else np.asarray(groups)
        return draw_points(self.model_.embed(self._objects("X", X)), groups=colors)

    def audit(self, X: ArrayLike) -> Audit:  # noqa: N803
        """`trimetric.audit` of the learned distance.

        Args:
            X: the objects to measure it on, `(n, d)`.
        """
        return audit(self.model_, self._objects("X", X))


def finite_distances(name: str, distances: Tensor) -> NDArray[np.float32]:
    """Give distances as an array, and refuse those that are not finite.

    Args:
        name: of the argument with the objects.
        distances: of its rows `(n, ...)`.
    """
    found = distances.cpu().numpy()
    bad = ~np.isfinite(found).reshape(len(found), -1).all(axis=1)
    if bad.any():
        raise ValueError(
            f"{name}: expected objects whose distances are finite, got NaN or infinity for row {int(bad.argmax())}; "
            "its features are too far from those that were fitted"
        )
    return found


def make_encoder(features: int, dim: int, widths: Sequence[int]) -> MLP:
    hidden = () if isinstance(widths, Sized) and len(widths) == 0 else checks.positive_ints("encoder_widths", widths)
    return MLP(features, checks.positive_int("embedding_dim", dim), widths=hidden)
