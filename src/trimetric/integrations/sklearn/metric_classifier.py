"""A scikit-learn classifier: the nearest labeled objects vote, by a learned distance."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric._support import checks
from trimetric._support.optional import needing
from trimetric.integrations.sklearn.metric_learner import MetricLearner

with needing("trimetric.integrations.sklearn", "sklearn"):
    from sklearn.base import BaseEstimator, ClassifierMixin, clone
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data


class MetricClassifier(ClassifierMixin, BaseEstimator):
    """Classify by the nearest labeled objects, by a distance that was learned from the same labels.

    Distances are measured from the query to the labeled objects, by any head.  scikit-learn's
    `KNeighborsClassifier` on `MetricLearner.transform` is equivalent for the head "euclidean" only.

    Args:
        learner: learns the distance; by default a `MetricLearner()`.  In a grid search its parameters are named
            `learner__head` and so on.
        n_neighbors: how many labeled objects vote.
        weights: "uniform", or "distance": each votes with one over its distance.

    Examples:
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> learner = MetricLearner(head="wide", loss="nt_xent", epochs=20, random_state=0)
        >>> classifier = MetricClassifier(learner, n_neighbors=3).fit(X[::2], y[::2])
        >>> bool(classifier.score(X[1::2], y[1::2]) > 0.9)
        True

    Attributes:
        learner_: the fitted `MetricLearner`.
        classes_: the classes, sorted.
        objects_, numbers_: the labeled objects, and the number of the class of each.
        n_features_in_: features of an object.
    """

    def __init__(
        self,
        learner: MetricLearner | None = None,
        *,
        n_neighbors: int = 5,
        weights: Literal["uniform", "distance"] = "uniform",
    ) -> None:
        self.learner = learner
        self.n_neighbors = n_neighbors
        self.weights: Literal["uniform", "distance"] = weights

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Learn the distance, and keep the labeled objects.

        Args:
            X: objects `(n, d)`.
            y: their classes.
        """
        checks.positive_int("n_neighbors", self.n_neighbors)
        checks.one_of("weights", self.weights, ("uniform", "distance"))
        learner = MetricLearner() if self.learner is None else self.learner
        checks.instance("learner", learner, MetricLearner)
        rows, labels = validate_data(self, X, y, dtype=np.float64)  # type: ignore
        check_classification_targets(labels)
        self.classes_, self.numbers_ = np.unique(np.asarray(labels), return_inverse=True)
        self.learner_: MetricLearner = clone(learner).fit(rows, self.numbers_)  # type: ignore[assignment]
        self.objects_: NDArray[np.float64] = np.asarray(rows)
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """The share of the votes for each class, `(n, classes)`.

        Args:
            X: objects `(n, d)`.
        """
        check_is_fitted(self)
        queries = validate_data(self, X, dtype=np.float64, reset=False)  # type: ignore
        if checks.positive_int("n_neighbors", self.n_neighbors) > len(self.objects_):
            raise ValueError(
                f"n_neighbors: expected at most {len(self.objects_)}, the number of fitted objects, got "
                f"{self.n_neighbors}"
            )
        distances, nearest = self.learner_.nearest_neighbors(self.objects_, queries, n_neighbors=self.n_neighbors)
        votes = np.ones(distances.shape) if self.weights == "uniform" else _one_over(distances.astype(np.float64))
        shares = np.zeros((len(queries), len(self.classes_)))
        np.add.at(shares, (np.arange(len(queries))[:, None], self.numbers_[nearest]), votes)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X: ArrayLike) -> NDArray:  # noqa: N803
        """The class with the most votes; of several, the first.

        Args:
            X: objects `(n, d)`.
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]


def _one_over(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of voters; those at distance 0 outvote all others."""
    equal = distances <= 0
    return np.where(equal.any(axis=1, keepdims=True), equal, 1 / np.where(equal, 1.0, distances))
