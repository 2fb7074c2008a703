"""A scikit-learn estimator that learns a distance from classes, pairs, triplets or quadruplets."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from trimetric._support import checks
from trimetric._support.optional import needing
from trimetric.distances import Calibrated
from trimetric.distances.batching import PAIRS_AT_ONCE, in_chunks
from trimetric.distances.siamese import Siamese
from trimetric.integrations.sklearn.learned_distance import LearnedDistance, finite_distances, make_encoder
from trimetric.integrations.sklearn.metric_callable import Asymmetry, MetricCallable
from trimetric.integrations.sklearn.supervision import class_numbers, similar_pairs, tuples_of
from trimetric.labels import LabelLoss, LabelLossName, fit_labels, fit_tuples
from trimetric.models.heads import HEADS, HeadName, make_head
from trimetric.training.config import History, TrainingConfig

with needing("trimetric.integrations.sklearn", "sklearn"):
    from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.metrics import roc_auc_score
    from sklearn.utils import Tags, check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data


class MetricLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LearnedDistance):
    """Learn a distance from labels; it never breaks the triangle inequality.

    `fit` takes labels in the conventions of the library metric-learn:

    - `fit(X, y)`, objects `(n, d)` and their classes: those of one class are near each other;
    - `fit(pairs, y)`, pairs `(n, 2, d)` and +1 (similar) or -1 (dissimilar);
    - `fit(triplets)`, `(n, 3, d)`: the first is nearer to the second than to the third;
    - `fit(quadruplets)`, `(n, 4, d)`: the first two are nearer to each other than the last two.

    The estimator standardizes the features and learns `d(phi(x), phi(y))`, with an MLP for phi and a head d.  With a
    head that is not symmetric, distances are measured from the first object of a pair to the second, and from an anchor
    to its positive and negative.  `__init__` explains the arguments.

    Examples:
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> learner = MetricLearner(epochs=20, random_state=0).fit(X, y)
        >>> learner.transform(X).shape
        (150, 16)
        >>> learner.audit(X[:50]).triangle_defect
        0.0
        >>> triplets = X[[[0, 1, 60], [60, 61, 0], [0, 2, 120]]]
        >>> MetricLearner(epochs=5, random_state=0).fit(triplets).pair_distance(triplets[:, :2]).shape
        (3,)

    Attributes:
        model_: the trained `Siamese`, on standardized objects.
        history_: the `History` of its training.
        mean_, scale_: of the features of an object.
        n_features_in_: features of an object.
    """

    head: HeadName
    loss: LabelLossName | LabelLoss | None
    history_: History
    n_features_in_: int

    def __init__(
        self,
        *,
        head: HeadName = "euclidean",
        symmetric: bool = False,
        concave_units: int = 0,
        embedding_dim: int = 16,
        encoder_widths: Sequence[int] = (64,),
        loss: LabelLossName | LabelLoss | None = None,
        epochs: int = 100,
        batch_size: int = 128,
        learning_rate: float = 3e-3,
        weight_decay: float = 0.0,
        standardize: bool = True,
        random_state: int | np.random.RandomState | None = None,
        device: str = "cpu",
        verbose: bool = False,
    ) -> None:
        """Set the parameters; nothing is checked or computed before `fit`.

        Args:
            head: the name of a head, see `trimetric.models.heads`.  With "euclidean" the embeddings that `transform`
                returns can be passed to any estimator; with other heads, use the distances of `pairwise`.
            symmetric: whether d(x, y) = d(y, x) must hold, for every value of the parameters.
            concave_units: learned concave units on each component of the head's norm; 0 is the norm itself.
            embedding_dim: size of phi(x).
            encoder_widths: hidden layers of phi; none of them makes phi linear.
            loss: a loss of `trimetric.labels` or the name of one; None for "contrastive" with pairs and "triplet"
                (semi-hard) with anything else.
            epochs: passes over the objects or tuples.
            batch_size: objects or tuples per step.
            learning_rate: of Adam, decaying along a cosine.
            weight_decay: decoupled (AdamW).
            standardize: whether to give every feature mean 0 and variance 1 first.
            random_state: of initial weights and order; an int makes `fit` repeatable.
            device: where torch computes.
            verbose: show the progress.
        """
        self.head = head
        self.symmetric = symmetric
        self.concave_units = concave_units
        self.embedding_dim = embedding_dim
        self.encoder_widths = encoder_widths
        self.loss = loss
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.standardize = standardize
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:  # noqa: N803
        """Learn from what is known about objects.

        Args:
            X: objects `(n, d)`, pairs `(n, 2, d)`, triplets `(n, 3, d)` or quadruplets `(n, 4, d)`.
            y: classes of objects; +1 or -1 for similar and dissimilar pairs; None for triplets and quadruplets.
        """
        given = tuples_of(X)
        if given is None:
            rows, labels = validate_data(self, X, y, dtype=np.float64)  # type: ignore
            objects, known = np.asarray(rows), class_numbers(labels)
        else:
            ends = validate_data(self, given.reshape(-1, given.shape[2]), dtype=np.float64)  # type: ignore
            objects, indices = np.unique(ends, axis=0, return_inverse=True)
            known = indices.reshape(given.shape[:2])
        similar = None if given is None else similar_pairs(y, given)
        self._measure_features(objects)
        checks.boolean("symmetric", self.symmetric)
        if not HEADS[self._checked_head()].concave and self.concave_units != 0:
            raise ValueError(f"concave_units: expected 0 with head={self.head!r}, got {self.concave_units!r}")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        config = TrainingConfig(
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            seed=seed,
        )
        features, progress = self._standardized(objects), "auto" if self.verbose else "silent"
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(seed)
            head = make_head(self.head, self.embedding_dim, symmetric=self.symmetric, concave_units=self.concave_units)
            encoder = make_encoder(objects.shape[1], self.embedding_dim, self.encoder_widths)
            model = Siamese(encoder, Calibrated(head)).to(self.device)
            if given is None:
                loss = "triplet" if self.loss is None else self.loss
                self.history_ = fit_labels(model, features, known, loss=loss, config=config, progress=progress)
            else:
                self.history_ = fit_tuples(
                    model, known, similar, objects=features, loss=self.loss, config=config, progress=progress
                )
        self.model_ = model
        return self

    def _checked_head(self) -> HeadName:
        checks.one_of("head", self.head, HEADS)
        return self.head

    def _measure_features(self, objects: NDArray[np.float64]) -> None:
        self.mean_, self.scale_ = np.zeros(objects.shape[1]), np.ones(objects.shape[1])
        if checks.boolean("standardize", self.standardize):
            spread = objects.std(axis=0)
            self.mean_, self.scale_ = objects.mean(axis=0), np.where(spread > 0, spread, 1.0)

    @torch.no_grad()
    def transform(self, X: ArrayLike) -> NDArray[np.float32]:  # noqa: N803
        """The embeddings `(n, embedding_dim)` of objects, or `(n, t, embedding_dim)` of tuples.

        With `head="euclidean", concave_units=0`, Euclidean distances between the embeddings are the learned distances,
        up to a common factor.  For other heads use `pairwise`, or `MetricClassifier`.

        Args:
            X: objects `(n, d)`, or tuples of them `(n, t, d)`.
        """
        check_is_fitted(self)
        tuples = tuples_of(X)
        if tuples is None:
            objects = np.asarray(validate_data(self, X, dtype=np.float64, reset=False))  # type: ignore
            return self.model_.embed(self._standardized(objects)).cpu().numpy()
        points = self.model_.embed(self._objects("X", tuples.reshape(-1, tuples.shape[2])))
        return points.view(*tuples.shape[:2], -1).cpu().numpy()

    @torch.no_grad()
    def pair_distance(self, pairs: ArrayLike) -> NDArray[np.float32]:
        """The learned distance of each pair: the lower, the more similar.

        Args:
            pairs: `(n, 2, d)`.
        """
        check_is_fitted(self)
        array = tuples_of(pairs)
        if array is None or array.shape[1] != 2:
            raise ValueError(f"pairs: expected pairs of shape (n, 2, d), got shape {np.shape(pairs)}")
        start, end = (self._objects("pairs", array[:, i]) for i in range(2))
        return finite_distances("pairs", in_chunks(self.model_, start, end, size=PAIRS_AT_ONCE))

    def pair_score(self, pairs: ArrayLike) -> NDArray[np.float32]:
        """Minus the learned distance of each pair, as in metric-learn: the higher, the more similar.

        Args:
            pairs: `(n, 2, d)`.
        """
        return -self.pair_distance(pairs)

    def score_pairs(self, pairs: ArrayLike) -> NDArray[np.float32]:
        """The learned distance of each pair: the same as `pair_distance`, under an older name of metric-learn.

        In spite of its name it is lower for more similar pairs; `pair_score` is higher.

        Args:
            pairs: `(n, 2, d)`.
        """
        return self.pair_distance(pairs)

    def get_metric(self, *, asymmetry: Asymmetry = "refuse") -> MetricCallable:
        """The distance as a function of two vectors, which does not change when this estimator is fitted again.

        Args:
            asymmetry: what to do if the distance is not symmetric; see `MetricCallable`.
        """
        return copy.copy(self).as_metric(asymmetry=asymmetry)

    @torch.no_grad()
    def score(self, X: ArrayLike, y: ArrayLike | None = None) -> float:  # noqa: N803
        """How well the distance agrees with the labels, from 0 to 1.

        - Objects and classes: the share of the objects whose nearest other object is of the same class.
        - Pairs and +1 or -1: the area under the ROC curve of `pair_score`.
        - Triplets and quadruplets: the share of those in the right order; equal distances count half.

        Args:
            X: objects or tuples, as for `fit`.
            y: classes, +1 or -1, or None, as for `fit`.
        """
        check_is_fitted(self)
        tuples = tuples_of(X)
        if tuples is None:
            objects, labels = validate_data(self, X, y, dtype=np.float64, reset=False)  # type: ignore
            _, nearest = self.nearest_neighbors(objects, n_neighbors=1)
            return float(np.mean(np.asarray(labels)[nearest[:, 0]] == labels))
        similar = similar_pairs(y, tuples)
        if similar is not None:
            return float(roc_auc_score(similar, self.pair_score(tuples)))
        near = self.pair_distance(tuples[:, :2])
        far = self.pair_distance(tuples[:, [0, 2]] if tuples.shape[1] == 3 else tuples[:, 2:])
        return float(np.mean(np.where(near == far, 0.5, near < far)))

    @property
    def _n_features_out(self) -> int:
        return self.model_.head.dim

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True  # for objects; triplets need none
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
