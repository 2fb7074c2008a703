"""The scikit-learn estimators: scikit-learn's own checks, and what they learn."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import trimetric as tm

pytest.importorskip("sklearn", reason="needs the extra `sklearn`")

from hills_distance import uphill
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from trimetric.integrations.sklearn.estimators import DistanceRegressor, LearnedMetricTransformer
from trimetric.models.heads import HEADS, make_head

SMALL: dict[str, Any] = {"epochs": 2, "embedding_dim": 4, "encoder_widths": (8,), "batch_size": 64}


def mirrored(sides: np.ndarray) -> np.ndarray:
    """An odd number of columns as one object, paired with its mirror image."""
    return np.hstack([sides, sides[:, ::-1]]) if sides.shape[1] % 2 else sides


class MirroringRegressor(DistanceRegressor):
    """Takes the odd numbers of columns of scikit-learn's checks too, so that everything else of them is tried."""

    def _halves(self, sides: np.ndarray) -> np.ndarray:
        return super()._halves(mirrored(sides))


class MirroringTransformer(LearnedMetricTransformer):
    """As `MirroringRegressor`."""

    def _halves(self, sides: np.ndarray) -> np.ndarray:
        return super()._halves(mirrored(sides))


ODD = "gives 1, 3 or 5 columns, but two objects side by side have an even number; all else of it passes when mirrored"


EXCEPTIONS = dict.fromkeys(
    (
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_estimators_dtypes",
        "check_estimators_nan_inf",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit2d_predict1d",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_pipeline_consistency",
        "check_supervised_y_2d",
        "check_transformer_data_not_an_array",
        "check_transformer_general",
        "check_transformer_preserve_dtypes",
    ),
    ODD,
)


def exceptions(estimator: BaseEstimator) -> dict[str, str]:
    return {} if isinstance(estimator, (MirroringRegressor, MirroringTransformer)) else EXCEPTIONS


@parametrize_with_checks(
    [kind(**SMALL) for kind in (DistanceRegressor, LearnedMetricTransformer, MirroringRegressor, MirroringTransformer)],
    expected_failed_checks=exceptions,
)
def test_scikit_learn(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


def test_importing_the_package_imports_neither_library() -> None:
    lines = [
        "import sys, trimetric, trimetric.integrations",
        "assert not {'sklearn', 'pytorch_metric_learning'} & set(sys.modules)",
        "assert 'integrations' in dir(trimetric)",
        "assert trimetric.integrations.sklearn.DistanceRegressor and 'sklearn' in sys.modules",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tm.nothing


def test_the_old_names_work_for_one_release() -> None:
    lines = [
        "import trimetric, trimetric.integrations.sklearn as new",
        "from trimetric.estimators import DistanceRegressor, LearnedMetricTransformer",
        "from trimetric.metric_callable import MetricCallable",
        "assert trimetric.estimators.DistanceRegressor is DistanceRegressor is new.DistanceRegressor",
        "assert LearnedMetricTransformer is new.LearnedMetricTransformer and MetricCallable is new.MetricCallable",
    ]
    command = [sys.executable, "-W", "always::DeprecationWarning", "-c", "\n".join(lines)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "trimetric.estimators is now trimetric.integrations.sklearn; the old name works" in done.stderr


def test_it_learns_an_asymmetric_distance(fitted: DistanceRegressor, points: np.ndarray) -> None:
    fresh = np.random.default_rng(2).uniform(size=(500, 2, 2))
    truth = uphill(fresh[:, 0], fresh[:, 1])
    assert fitted.score(fresh, truth) > 0.99
    assert fitted.score(fresh, uphill(fresh[:, 1], fresh[:, 0])) < 0.9
    report = fitted.audit(points)
    assert report.holds
    assert report.triangle_defect == 0
    assert report.asymmetry > 1


def test_all_forms_of_pairs_are_one(fitted: DistanceRegressor, hills: tuple[np.ndarray, np.ndarray]) -> None:
    pairs, distances = hills
    forms = [pairs, (pairs[:, 0], pairs[:, 1]), np.hstack([pairs[:, 0], pairs[:, 1]]), torch.as_tensor(pairs)]
    first = DistanceRegressor(**SMALL, random_state=3).fit(pairs, distances).predict(pairs)
    for form in forms:
        np.testing.assert_array_equal(fitted.predict(form), fitted.predict(pairs))
        again = DistanceRegressor(**SMALL, random_state=3).fit(form, distances)
        np.testing.assert_array_equal(again.predict(pairs), first)
    assert fitted.n_features_in_ == 4


def test_predict_and_pairwise_agree(fitted: DistanceRegressor, points: np.ndarray) -> None:
    matrix = fitted.pairwise(points[:20], points[20:])
    ends = np.repeat(points[:20], 20, axis=0), np.tile(points[20:], (20, 1))
    np.testing.assert_allclose(matrix.ravel(), fitted.predict(ends), rtol=1e-4, atol=1e-3)
    np.testing.assert_array_equal(np.diag(fitted.pairwise(points)), 0)


def test_the_random_state_decides_and_leaves_the_global_one_alone(hills: tuple[np.ndarray, np.ndarray]) -> None:
    before = torch.random.get_rng_state()
    same = [DistanceRegressor(**SMALL, patience=2, random_state=5).fit(*hills).predict(hills[0]) for _ in range(2)]
    other = DistanceRegressor(**SMALL, patience=2, random_state=6).fit(*hills).predict(hills[0])
    np.testing.assert_array_equal(same[0], same[1])
    assert not np.array_equal(same[0], other)
    assert torch.equal(before, torch.random.get_rng_state())


def test_features_with_a_large_offset_keep_their_digits(hills: tuple[np.ndarray, np.ndarray]) -> None:
    pairs, distances = hills
    options = {**SMALL, "epochs": 10, "random_state": 0}
    plain = DistanceRegressor(**options).fit(pairs, distances).score(pairs, distances)
    moved = DistanceRegressor(**options).fit(1e9 + pairs, distances).score(1e9 + pairs, distances)
    assert moved == pytest.approx(plain, abs=1e-2)


@pytest.mark.parametrize("head", [name for name, head in HEADS.items() if head.metric])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("concave_units", [0, 3])
def test_every_head_trains_and_promises(
    hills: tuple[np.ndarray, np.ndarray], head: Any, symmetric: bool, concave_units: int, points: np.ndarray
) -> None:
    model = DistanceRegressor(
        head=head, symmetric=symmetric, concave_units=concave_units, **{**SMALL, "epochs": 5}, random_state=0
    )
    if concave_units and not HEADS[head].concave:
        with pytest.raises(ValueError, match="concave_units: expected 0 or the default, 5, with head="):
            model.fit(*hills)
        model.set_params(concave_units=0)
    model.fit(*hills)
    assert model.history_.epochs[-1].loss < model.history_.epochs[0].loss
    report = model.audit(points)
    assert report.holds
    assert report.promised.triangle
    assert report.promised.symmetric == (symmetric or head in ("mahalanobis", "euclidean"))


def test_no_encoder_layers_make_a_linear_map(hills: tuple[np.ndarray, np.ndarray], points: np.ndarray) -> None:
    model = LearnedMetricTransformer(**{**SMALL, "encoder_widths": ()}, random_state=0).fit(*hills)
    middle = model.transform((points[:1] + points[1:2]) / 2)
    np.testing.assert_allclose(middle, model.transform(points[:2]).mean(axis=0, keepdims=True), atol=1e-5)


def test_patience_stops_early_and_holds_out(hills: tuple[np.ndarray, np.ndarray]) -> None:
    pairs, distances = hills[0][:200], hills[1][:200]
    noise = np.random.default_rng(0).permutation(distances)
    model = DistanceRegressor(**{**SMALL, "epochs": 200}, learning_rate=0.03, patience=3, random_state=0)
    model.fit(pairs, noise)
    assert model.history_.stopped_early
    assert len(model.history_.epochs) < 200
    assert model.history_.best_validation_mse is not None


def test_grid_search_and_pipeline(hills: tuple[np.ndarray, np.ndarray]) -> None:
    pairs, distances = hills
    grid = {"head": ["euclidean", "wide"], "embedding_dim": [2, 8]}
    options = {**SMALL, "epochs": 8, "learning_rate": 0.01, "random_state": 0}
    search = GridSearchCV(DistanceRegressor(**options), grid, cv=2).fit(pairs[:600], distances[:600])
    assert search.best_params_["head"] == "wide"
    assert search.predict(pairs).shape == (1000,)
    flat = pairs.reshape(len(pairs), -1)
    pipeline = make_pipeline(StandardScaler(), DistanceRegressor(**options)).fit(flat, distances)
    assert pipeline.score(flat, distances) > 0.7


def test_it_pickles_and_clones(fitted: DistanceRegressor, points: np.ndarray) -> None:
    back = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(back.pairwise(points), fitted.pairwise(points))
    assert clone(fitted).get_params() == fitted.get_params()


def test_it_becomes_a_model_that_needs_no_pickle(fitted: DistanceRegressor, points: np.ndarray, tmp_path: Path) -> None:
    fitted.to_model().save(tmp_path / "hills.safetensors")
    model = tm.Model.load(tmp_path / "hills.safetensors")
    features = torch.as_tensor(points, dtype=torch.float32)
    np.testing.assert_allclose(model.all_pairs(features).numpy(), fitted.pairwise(points), rtol=1e-4, atol=1e-3)


def test_the_transformer_embeds_objects_so_that_the_head_measures_them(
    hills: tuple[np.ndarray, np.ndarray], points: np.ndarray
) -> None:
    model = LearnedMetricTransformer(**SMALL, random_state=0).fit(*hills)
    embedded = model.transform(points)
    assert embedded.shape == (40, 4)
    with torch.no_grad():
        measured = tm.all_pairs(model.model_.distance, torch.as_tensor(embedded)).numpy()
    np.testing.assert_allclose(measured, model.pairwise(points), rtol=1e-5)
    pairs = np.stack([points[:20], points[20:]], axis=1)
    by_pairs = model.transform(pairs)
    assert by_pairs.shape == (20, 2, 4)
    np.testing.assert_allclose(by_pairs[:, 1], embedded[20:], rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(model.transform((points[:20], points[20:])), by_pairs)
    np.testing.assert_array_equal(model.transform(pairs.reshape(20, -1)), by_pairs.reshape(20, -1))


PAIRS = np.random.default_rng(0).uniform(size=(8, 2, 3))


TARGETS = np.ones(8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: DistanceRegressor().fit(PAIRS[:, 0], TARGETS), r"X: expected an even number of columns.*n_features=3"),
        (lambda: DistanceRegressor().fit(PAIRS[:, :1], TARGETS), r"X: expected pairs of shape \(n, 2, d\), got .*1, 3"),
        (lambda: DistanceRegressor().fit((PAIRS[:, 0], PAIRS[1:, 1]), TARGETS), "X: expected a tuple of two arrays"),
        (lambda: DistanceRegressor().fit(PAIRS, -TARGETS), "y: expected distances >= 0, got -1 for pair 0"),
        (lambda: DistanceRegressor(head="best").fit(PAIRS, TARGETS), "head: expected one of 'wide', 'deep'"),
        (lambda: DistanceRegressor(concave_units=-1).fit(PAIRS, TARGETS), "concave_units: expected a positive integer"),
        (lambda: DistanceRegressor(embedding_dim=0).fit(PAIRS, TARGETS), "embedding_dim: expected a positive integer"),
        (lambda: DistanceRegressor(encoder_widths=(8, 0)).fit(PAIRS, TARGETS), r"encoder_widths\[1\]: expected"),
        (lambda: DistanceRegressor(encoder_widths=8).fit(PAIRS, TARGETS), "encoder_widths: expected a sequence"),
        (lambda: DistanceRegressor(epochs=0).fit(PAIRS, TARGETS), "epochs: expected a positive integer"),
        (lambda: DistanceRegressor(loss="cosine").fit(PAIRS, TARGETS), "loss: expected one of"),
        (lambda: DistanceRegressor(patience=1, validation_fraction=1).fit(PAIRS, TARGETS), "validation_fraction: exp"),
        (lambda: DistanceRegressor(patience=1).fit(PAIRS[:1], TARGETS[:1]), "X: expected at least 2 pairs"),
        (lambda: make_head("wide", 4, concave_units=True), "concave_units: expected a positive integer, got True"),
    ],
)
def test_messages(call: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_messages_after_fitting(fitted: DistanceRegressor, points: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"X: expected objects with 2 features, half .*got shape \(8, 3\)"):
        fitted.pairwise(PAIRS[:, 0])
    with pytest.raises(ValueError, match="n_neighbors: expected at most 39, the number of candidates, got 40"):
        fitted.nearest_neighbors(points, n_neighbors=40)
    with pytest.raises(ValueError, match="asymmetry: expected one of 'refuse', 'max', 'mean', 'directed', got 'min'"):
        fitted.as_metric(asymmetry="min")  # type: ignore[arg-type]
