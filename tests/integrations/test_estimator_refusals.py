"""The scikit-learn estimators: what is refused instead of answered wrongly, and lists of pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs the extra `sklearn`")

from trimetric.integrations.sklearn.estimators import DistanceRegressor, LearnedMetricTransformer
from trimetric.integrations.sklearn.metric_classifier import MetricClassifier
from trimetric.integrations.sklearn.metric_learner import MetricLearner

SMALL: dict[str, Any] = {
    "epochs": 2,
    "embedding_dim": 4,
    "encoder_widths": (8,),
    "batch_size": 64,
    "random_state": 0,
}
RNG = np.random.default_rng(0)
PAIRS = RNG.uniform(size=(60, 2, 3))
DISTANCES = np.abs(PAIRS[:, 1] - PAIRS[:, 0]).sum(axis=1)
X, Y = RNG.normal(size=(40, 3)), np.arange(40) % 2
FAR = [[1e25, 0.0, 0.0]]


def classifier(**options: Any) -> MetricClassifier:
    return MetricClassifier(MetricLearner(**SMALL), **options).fit(X, Y)


def regressor(**options: Any) -> DistanceRegressor:
    return DistanceRegressor(**(SMALL | options)).fit(PAIRS, DISTANCES)


def test_pairs_may_be_lists() -> None:
    found = DistanceRegressor(**SMALL).fit(PAIRS.tolist(), DISTANCES.tolist())
    assert np.array_equal(found.predict(PAIRS.tolist()), regressor().predict(PAIRS))
    sides = PAIRS.reshape(60, 6)
    assert np.array_equal(found.predict(sides.tolist()), found.predict(sides))
    with pytest.raises(ValueError, match=r"X: expected pairs of shape \(n, 2, d\), got shape \(20, 3, 3\)"):
        DistanceRegressor(**SMALL).fit(np.zeros((20, 3, 3)).tolist(), np.zeros(20))


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_more_neighbors_than_objects_are_refused(weights: Any) -> None:
    assert classifier(n_neighbors=40, weights=weights).predict(X).shape == (40,)
    with pytest.raises(ValueError, match="n_neighbors: expected at most 40, the number of fitted objects, got 1000"):
        classifier(n_neighbors=1000, weights=weights).predict(X)


FINITE = "expected objects whose distances are finite, got NaN or infinity for row 0"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: classifier(weights="distance").predict_proba(FAR), FINITE),
        (lambda: classifier().predict(FAR), FINITE),
        (lambda: regressor().predict(np.array([[FAR[0], [0.0, 0.0, 0.0]]])), FINITE),
        (lambda: regressor().pairwise(FAR, X), FINITE),
        (lambda: regressor().nearest_neighbors(X, FAR), FINITE),
        (lambda: classifier().learner_.pair_distance([[FAR[0], [0.0, 0.0, 0.0]]]), FINITE),
        (lambda: DistanceRegressor(**SMALL).fit(PAIRS, -DISTANCES), "y: expected distances >= 0, got -"),
        (lambda: regressor(symmetric="no"), "symmetric: expected True or False, got 'no'"),
        (lambda: regressor(validation_fraction=7), "validation_fraction: expected a finite number above 0"),
        (lambda: regressor(head="recommended", concave_units=3), "concave_units: expected 0 or the default"),
        (
            lambda: LearnedMetricTransformer(**SMALL, symmetric="no").fit(PAIRS, DISTANCES),
            "symmetric: expected True or False, got 'no'",
        ),
        (lambda: MetricLearner(**SMALL, symmetric="no").fit(X, Y), "symmetric: expected True or False, got 'no'"),
    ],
)
def test_wrong_answers_are_errors(call: Callable[[], Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_defaults_suit_heads_without_concave_units() -> None:
    assert regressor(head="recommended").predict(PAIRS).shape == (60,)
    assert regressor(head="recommended", concave_units=0).predict(PAIRS).shape == (60,)
