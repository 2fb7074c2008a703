"""scikit-learn estimators: learn a distance from pairs of objects and their distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from trimetric._support.optional import needing
from trimetric.distances.batching import PAIRS_AT_ONCE, in_chunks
from trimetric.integrations.sklearn.learned_distance import finite_distances
from trimetric.integrations.sklearn.pair_arrays import PairsLike
from trimetric.integrations.sklearn.pair_estimator import PairEstimator
from trimetric.models.pictures import draw_predictions

with needing("trimetric.integrations.sklearn", "sklearn"):
    from sklearn.base import RegressorMixin, TransformerMixin
    from sklearn.utils import Tags
    from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class DistanceRegressor(RegressorMixin, PairEstimator):
    """Predict the distances of pairs; the predictions never break the triangle inequality.

    The estimator standardizes the features and learns `d(phi(x), phi(y))`, with an MLP for phi and a head d that is a
    quasimetric for every value of its parameters.  `score` is the coefficient of determination.  `__init__` explains
    the arguments.

    Examples:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> pairs = rng.uniform(size=(1000, 2, 3))
        >>> distances = np.abs(pairs[:, 1] - pairs[:, 0]).sum(axis=1)
        >>> model = DistanceRegressor(epochs=20, random_state=0).fit(pairs, distances)
        >>> bool(model.score(pairs, distances) > 0.9)
        True
        >>> model.audit(pairs[:50, 0]).triangle_defect
        0.0

    Attributes:
        model_: the trained `Siamese`, on standardized objects.
        history_: the `History` of its training.
        mean_, scale_: of the features of an object.
        n_features_in_: columns of a pair, two objects side by side.
    """

    @torch.no_grad()
    def predict(self, X: PairsLike) -> NDArray[np.float32]:  # noqa: N803
        """The distance of each pair.

        Args:
            X: pairs, in any form that `fit` takes.
        """
        start, end = self._ends(X).unbind(1)
        return finite_distances("X", in_chunks(self.model_, start, end, size=PAIRS_AT_ONCE))

    def plot_predictions(self, X: PairsLike, y: ArrayLike) -> Figure:  # noqa: N803
        """Draw predicted against true distances; see `trimetric.models.draw_predictions`.

        Args:
            X: pairs, in any form that `fit` takes.
            y: their true distances.
        """
        return draw_predictions(self.predict(X), y)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on targets that are no distances, such as those of check_estimator
        return tags


# No names of output columns: one object makes embedding_dim of them, a pair twice as many.
class LearnedMetricTransformer(TransformerMixin, PairEstimator, auto_wrap_output_keys=None):
    """Map objects to embeddings phi(x), learned so that `d(phi(x), phi(y))` is the distance between x and y.

    `fit` takes pairs and distances; arguments and attributes are those of `DistanceRegressor`.  Between
    embeddings use `model_.distance` (or `pairwise` on the objects): plain Euclidean distances are correct only for
    `head="euclidean", concave_units=0`.

    Examples:
        >>> import numpy as np
        >>> pairs = np.random.default_rng(0).uniform(size=(100, 2, 3))
        >>> distances = np.abs(pairs[:, 1] - pairs[:, 0]).max(axis=1)
        >>> embed = LearnedMetricTransformer(embedding_dim=4, epochs=1, random_state=0).fit(pairs, distances)
        >>> embed.transform(pairs[:, 0]).shape
        (100, 4)
    """

    @torch.no_grad()
    def transform(self, X: PairsLike) -> NDArray[np.float32]:  # noqa: N803
        """The embeddings `(n, embedding_dim)` of objects `(n, d)`.

        Pairs, in any form that `fit` takes, give pairs of embeddings: `(n, 2, embedding_dim)`, or side by side where
        the objects came so.

        Args:
            X: objects `(n, d)`, or pairs of them.
        """
        check_is_fitted(self)
        shape = () if isinstance(X, tuple) else np.asarray(X).shape
        if shape[1:] == self.mean_.shape:
            return self._encoded(self._objects("X", cast("ArrayLike", X)))
        ends = self._ends(X)
        embedded = self._encoded(ends.flatten(0, 1))
        return embedded.reshape(len(ends), -1) if len(shape) == 2 else embedded.reshape(len(ends), 2, -1)

    def _encoded(self, objects: Tensor) -> NDArray[np.float32]:
        return self.model_.embed(objects).cpu().numpy()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
