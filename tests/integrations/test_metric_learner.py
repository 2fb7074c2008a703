"""The estimators that learn from labels: scikit-learn's own checks, and what they learn."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import trimetric as tm

pytest.importorskip("sklearn", reason="needs the extra `sklearn`")

from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from trimetric.integrations.sklearn import MetricClassifier, MetricLearner
from trimetric.labels import NTXentLoss, TripletLoss

SMALL: dict[str, Any] = {"epochs": 2, "embedding_dim": 4, "encoder_widths": (8,), "batch_size": 64, "random_state": 0}
QUICK: dict[str, Any] = SMALL | {"epochs": 15, "learning_rate": 0.02}


@parametrize_with_checks([MetricLearner(**SMALL), MetricClassifier(MetricLearner(**SMALL))])
def test_scikit_learn(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def iris() -> tuple[np.ndarray, np.ndarray]:
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def directed(iris: tuple[np.ndarray, np.ndarray]) -> MetricLearner:
    return MetricLearner(head="wide", **QUICK).fit(*iris)


def tuples(X: np.ndarray, y: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray | None]:  # noqa: N803
    """Pairs with +1 or -1, or triplets or quadruplets in the right order."""
    random = np.random.default_rng(0)
    a, c = random.integers(len(X), size=(2, 400))
    if size == 2:
        return X[np.stack([a, c], axis=1)], np.where(y[a] == y[c], 1, -1)
    b = np.array([random.choice(np.flatnonzero(y == y[i])) for i in a])
    d = np.array([random.choice(np.flatnonzero(y != y[i])) for i in (a if size == 3 else c)])
    return X[np.stack([a, b, d] if size == 3 else [a, b, c, d], axis=1)], None


@pytest.mark.parametrize("size", [2, 3, 4])
def test_it_learns_from_tuples_as_metric_learn_does(iris: tuple[np.ndarray, np.ndarray], size: int) -> None:
    X, y = iris  # noqa: N806
    given, truth = tuples(X, y, size)
    options = QUICK | {"epochs": 8}
    learner = MetricLearner(**options).fit(given, truth)
    assert learner.score(given, truth) > 0.95
    assert learner.n_features_in_ == 4
    assert learner.score(X, y) > 0.9  # of single objects it was told nothing
    assert learner.transform(given).shape == (400, size, 4)
    np.testing.assert_allclose(learner.transform(given)[:, 0], learner.transform(given[:, 0]), atol=1e-6)
    again = MetricLearner(**options).fit(torch.as_tensor(given), truth)
    np.testing.assert_array_equal(again.pairwise(X), learner.pairwise(X))


def test_signs_are_those_of_metric_learn(directed: MetricLearner, iris: tuple[np.ndarray, np.ndarray]) -> None:
    pairs = iris[0][[[0, 1], [0, 100], [100, 0]]]
    distances = directed.pair_distance(pairs)
    assert distances[0] < distances[1]  # of one class: nearer
    np.testing.assert_array_equal(directed.pair_score(pairs), -distances)
    np.testing.assert_array_equal(directed.score_pairs(pairs), distances)
    np.testing.assert_allclose(distances, np.diag(directed.pairwise(pairs[:, 0], pairs[:, 1])), rtol=1e-5)


def test_the_metric_stays_when_the_learner_is_fitted_again(iris: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = iris  # noqa: N806
    learner = MetricLearner(**QUICK).fit(X, y)
    metric, before = learner.get_metric(), learner.pairwise(X[:1], X[-1:])[0, 0]
    learner.set_params(random_state=7).fit(X, y)
    assert metric(X[0], X[-1]) == pytest.approx(before, rel=1e-5)
    assert learner.pairwise(X[:1], X[-1:])[0, 0] != pytest.approx(before, rel=1e-3)
    assert pickle.loads(pickle.dumps(metric))(X[0], X[-1]) == pytest.approx(before, rel=1e-5)


def test_an_asymmetric_metric_says_so(directed: MetricLearner, iris: tuple[np.ndarray, np.ndarray]) -> None:
    X = iris[0]  # noqa: N806
    assert directed.audit(X[::3]).holds
    assert directed.audit(X[::3]).asymmetry > 1e-3
    with pytest.raises(ValueError, match="asymmetry: expected 'max', 'mean' or 'directed'"):
        directed.get_metric()
    assert directed.get_metric(asymmetry="max")(X[0], X[99]) == pytest.approx(
        directed.pairwise(X[[0, 99]]).max(), rel=1e-5
    )
    both = MetricLearner(head="wide", symmetric=True, **SMALL).fit(*iris).pairwise(X)
    np.testing.assert_allclose(both, both.T, rtol=1e-5)


def test_embeddings_of_the_euclidean_head_are_right_for_any_estimator(iris: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = iris  # noqa: N806
    learner = MetricLearner(**QUICK).fit(X, y)
    embedded, measured = learner.transform(X), learner.pairwise(X)
    plain = np.linalg.norm(embedded[:, None] - embedded, axis=2)
    np.testing.assert_allclose(plain * measured.sum() / plain.sum(), measured, rtol=1e-3, atol=1e-4)
    pipeline = make_pipeline(StandardScaler(), clone(learner), KNeighborsClassifier()).fit(X[::2], y[::2])
    assert pipeline.score(X[1::2], y[1::2]) > 0.9


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_the_classifier_is_a_vote_of_the_nearest(iris: tuple[np.ndarray, np.ndarray], weights: Any) -> None:
    X, y = iris  # noqa: N806
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    classifier = MetricClassifier(
        MetricLearner(head="wide", **(QUICK | {"epochs": 60})), n_neighbors=7, weights=weights
    )
    classifier.fit(X[::2], names[::2])
    matrix = classifier.learner_.pairwise(X[1::2], X[::2])
    slow = KNeighborsClassifier(7, metric="precomputed", weights=weights)
    slow.fit(classifier.learner_.pairwise(X[::2]), names[::2])
    np.testing.assert_allclose(classifier.predict_proba(X[1::2]), slow.predict_proba(matrix), atol=1e-4)
    assert classifier.score(X[1::2], names[1::2]) > 0.9
    assert classifier.predict_proba(X[::2]).shape == (75, 3)  # at distance 0 of itself


def test_losses_and_heads_are_searched_over(iris: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = iris  # noqa: N806
    grid = {
        "metricclassifier__learner__loss": ["proxy", TripletLoss(margin=0.2), NTXentLoss()],
        "metricclassifier__learner__head": ["euclidean", "wide"],
    }
    pipeline = make_pipeline(StandardScaler(), MetricClassifier(MetricLearner(**SMALL)))
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 6
    assert search.best_score_ > 0.5
    chosen = GridSearchCV(MetricLearner(**SMALL), {"embedding_dim": [2, 4]}, cv=2, error_score="raise").fit(X, y)
    assert chosen.transform(X).shape == (150, chosen.best_params_["embedding_dim"])


def test_it_is_repeatable_clones_and_pickles(iris: tuple[np.ndarray, np.ndarray]) -> None:
    learner = MetricLearner(loss=NTXentLoss(temperature=0.3), head="wide", **SMALL)
    state = torch.random.get_rng_state()
    first = learner.fit(*iris).pairwise(iris[0])
    assert torch.equal(torch.random.get_rng_state(), state)
    copy = clone(learner)
    assert copy.get_params() == learner.get_params()
    np.testing.assert_array_equal(copy.fit(*iris).pairwise(iris[0]), first)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(learner)).pairwise(iris[0]), first)


def test_it_becomes_a_model_that_needs_no_pickle(
    directed: MetricLearner, iris: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    directed.to_model().save(tmp_path / "iris.safetensors")
    model = tm.Model.load(tmp_path / "iris.safetensors")
    features = torch.as_tensor(iris[0], dtype=torch.float32)
    np.testing.assert_allclose(model.all_pairs(features).numpy(), directed.pairwise(iris[0]), rtol=1e-3, atol=1e-4)


def test_features_stay_as_they_are_where_that_is_asked_for(iris: tuple[np.ndarray, np.ndarray]) -> None:
    learner = MetricLearner(standardize=False, **SMALL).fit(*iris)
    np.testing.assert_array_equal(learner.mean_, 0)
    np.testing.assert_array_equal(learner.scale_, 1)


X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.arange(12) % 2
PAIRS = X.reshape(6, 2, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MetricLearner().fit(X), "requires y to be passed"),
        (lambda: MetricLearner().fit(X, 0 * Y), "y: expected at least 2 classes, got 1"),
        (lambda: MetricLearner().fit(X, X[:, 0]), "Unknown label type: continuous"),
        (
            lambda: MetricLearner().fit(PAIRS),
            r"y: expected \+1 \(similar\) or -1 \(dissimilar\) for each pair, got None",
        ),
        (lambda: MetricLearner().fit(PAIRS, Y[:6]), r"y: expected \+1 .* for each of 6 pairs, got values \[0, 1\]"),
        (lambda: MetricLearner().fit(PAIRS, np.ones(6)), r"y: expected similar and dissimilar pairs, got only \+1"),
        (lambda: MetricLearner().fit(X.reshape(4, 3, 3), Y[:4]), "y: expected None with tuples of 3"),
        (
            lambda: MetricLearner().fit(X.reshape(1, 12, 3)),
            r"X: expected pairs \(n, 2, d\), triplets.*got shape \(1, 12",
        ),
        (lambda: MetricLearner(head="best").fit(X, Y), "head: expected one of 'wide', 'deep'"),
        (
            lambda: MetricLearner(head="recommended", concave_units=3).fit(X, Y),
            "concave_units: expected 0 with head='re",
        ),
        (lambda: MetricLearner(loss="angular").fit(X, Y), "loss: expected one of 'triplet', 'contrastive'"),
        (
            lambda: MetricLearner(loss="proxy").fit(X.reshape(4, 3, 3)),
            "loss: expected a loss of comparisons.*ProxyLoss",
        ),
        (lambda: MetricLearner(loss="multi_similarity").fit(PAIRS, 2 * Y[:6] - 1), "loss: expected a loss of pairs"),
        (
            lambda: MetricLearner(loss=TripletLoss(mining="hard")).fit(X.reshape(4, 3, 3)),
            "mining: expected the default",
        ),
        (lambda: MetricLearner(standardize=2).fit(X, Y), "standardize: expected"),
        (lambda: MetricLearner(**SMALL).fit(X, Y).pair_distance(X), r"pairs: expected pairs of shape \(n, 2, d\)"),
        (
            lambda: MetricLearner(**SMALL).fit(X, Y).pairwise(X[:, :2]),
            r"X: expected objects with 3 features, got shape",
        ),
        (lambda: MetricClassifier(KNeighborsClassifier()).fit(X, Y), "learner: expected a MetricLearner"),
        (lambda: MetricClassifier(n_neighbors=0).fit(X, Y), "n_neighbors: expected a positive integer"),
        (lambda: MetricClassifier(weights="rank").fit(X, Y), "weights: expected one of 'uniform', 'distance'"),
    ],
)
def test_messages(call: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()
