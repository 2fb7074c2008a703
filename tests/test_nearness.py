"""Metric nearness: optimal against a reference, certified, and without any broken triangle in floating point."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.optimize import LinearConstraint, minimize

import trimetric as tm
from trimetric.nearness import (
    LearnedSettings,
    closure,
    is_metric,
    min_plus,
    nearest_metric,
    read_matrix,
    repair_picture,
    repair_report,
    violations,
    write_matrix,
)
from trimetric.nearness.row_start import landmark_rows, start_as_rows

ROOT = Path(__file__).parent.parent
ATSP = Path(os.environ.get("TRIMETRIC_ATSP", ROOT.parent / "shared" / "data" / "atsp"))


def random_matrix(n: int, seed: int, *, symmetric: bool) -> np.ndarray:
    generator = np.random.default_rng(seed)
    d = generator.uniform(0, 1, (n, n)) ** 3
    if seed % 3 == 1:
        d *= generator.random((n, n)) < 0.6  # many zeros
    d = np.triu(d, 1) + np.triu(d, 1).T if symmetric else d
    np.fill_diagonal(d, 0.0)
    return d


def triangles_hold(x: np.ndarray) -> bool:
    """By the definition, one addition and one comparison for each triple, without a tolerance."""
    return bool((x >= 0).all()) and all((x <= x[:, [k]] + x[[k], :]).all() for k in range(len(x)))


def reference(d: np.ndarray, weights: np.ndarray, *, symmetric: bool) -> np.ndarray:
    """The quadratic program as it is written: all entries are variables, known or not, and all triples constraints."""
    n = len(d)
    pairs = [(i, j) for i in range(n) for j in range(n) if (i < j if symmetric else i != j)]
    number = {pair: at for at, pair in enumerate(pairs)}
    place = lambda i, j: number[(i, j) if not symmetric or i < j else (j, i)]  # noqa: E731
    rows = []
    for i, j in pairs:
        for k in set(range(n)) - {i, j}:
            row = np.zeros(len(pairs))
            row[place(i, k)] += 1
            row[place(k, j)] += 1
            row[place(i, j)] -= 1
            rows.append(row)
    target = np.array([d[pair] for pair in pairs])
    w = np.array([weights[pair] + (weights[pair[::-1]] if symmetric else 0) for pair in pairs])
    w = w / w.max()
    solution = minimize(
        lambda x: 0.5 * float(w @ (x - target) ** 2),
        np.full(len(pairs), 1.0),
        jac=lambda x: w * (x - target),
        bounds=[(0, 5)] * len(pairs),
        constraints=[LinearConstraint(np.array(rows), 0, np.inf)],
        method="SLSQP",
        options={"ftol": 1e-18, "maxiter": 500},
    )
    x = np.zeros((n, n))
    for pair, value in zip(pairs, solution.x, strict=True):
        x[pair] = value
        if symmetric:
            x[pair[::-1]] = value
    return x


KINDS = ("plain", "weighted", "missing", "weighted and missing")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "asymmetric"])
@pytest.mark.parametrize("seed", range(6))
def test_optimal_against_a_quadratic_program(seed: int, symmetric: bool, kind: str) -> None:
    n = 6 if symmetric else 5
    d = random_matrix(n, seed, symmetric=symmetric)
    generator = np.random.default_rng([seed, 1])
    weights = generator.uniform(0.2, 3, (n, n)) if "weighted" in kind else np.ones((n, n))
    missing = generator.random((n, n)) < 0.3 if "missing" in kind else np.zeros((n, n), dtype=bool)
    if symmetric:
        weights, missing = weights + weights.T, missing | missing.T
    result = nearest_metric(d, symmetric=symmetric, weights=weights, missing=missing, tolerance=1e-16)
    expected = reference(d, np.where(missing, 0.0, weights), symmetric=symmetric)
    known = ~missing & ~np.eye(n, dtype=bool)
    assert np.abs(result.matrix - expected)[known].max() < 1e-8
    assert result.gap < 1e-12
    assert triangles_hold(result.matrix)
    assert not symmetric or (result.matrix == result.matrix.T).all()


@pytest.mark.parametrize("symmetric", [True, False])
def test_weight_zero_is_missing(symmetric: bool) -> None:
    d = random_matrix(8, 4, symmetric=symmetric)
    missing = np.zeros((8, 8), dtype=bool)
    missing[2, 5] = missing[5, 2] = missing[0, 7] = missing[7, 0] = True
    one = nearest_metric(d, symmetric=symmetric, missing=missing, tolerance=1e-12)
    two = nearest_metric(d, symmetric=symmetric, weights=np.where(missing, 0, 1), tolerance=1e-12)
    three = nearest_metric(np.where(missing, np.nan, d), symmetric=symmetric, missing="nan", tolerance=1e-12)
    assert (one.matrix == two.matrix).all()
    assert (one.matrix == three.matrix).all()
    assert one.objective < nearest_metric(d, symmetric=symmetric).objective


def test_missing_entries_without_a_path_get_the_largest_distance() -> None:
    d = np.full((5, 5), np.nan)
    np.fill_diagonal(d, 0)
    d[0, 1] = d[1, 0] = 1
    d[2, 3] = d[3, 2] = 2
    result = nearest_metric(d, symmetric=True, missing="nan")
    assert result.gap == 0
    assert result.undetermined == 5 * 4 - 4
    assert result.matrix[0, 4] == 2
    assert result.matrix[0, 1] == 1
    assert triangles_hold(result.matrix)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
def test_certificate_and_no_violation(symmetric: bool, scale: float) -> None:
    d = scale * random_matrix(60, 0, symmetric=symmetric)
    result = nearest_metric(d, symmetric=symmetric)
    assert result.converged
    assert result.gap <= 1e-6
    assert result.lower_bound <= result.objective
    assert result.objective == pytest.approx(((result.matrix - d) ** 2).sum())
    assert result.distortion_squared == pytest.approx(result.distortion**2)
    assert triangles_hold(result.matrix)
    assert is_metric(result.matrix)
    assert [entry.lower_bound for entry in result.history] == sorted(entry.lower_bound for entry in result.history)


@pytest.mark.parametrize("symmetric", [True, False])
def test_dykstra_and_active_set_agree(symmetric: bool) -> None:
    pytest.importorskip("numba")
    d = random_matrix(25, 2, symmetric=symmetric)
    weights = np.random.default_rng(0).uniform(0.5, 2, d.shape)
    weights = weights + weights.T
    exact = nearest_metric(d, symmetric=symmetric, weights=weights, tolerance=1e-10)
    fixed = nearest_metric(d, symmetric=symmetric, weights=weights, tolerance=1e-10, method="dykstra")
    assert fixed.converged
    assert np.abs(exact.matrix - fixed.matrix).max() < 1e-4
    assert exact.objective == pytest.approx(fixed.objective, rel=2e-10)
    assert triangles_hold(fixed.matrix)


def test_the_papers_protocol_stops_after_its_sweeps_and_leaves_violations() -> None:
    d = random_matrix(20, 0, symmetric=True)
    result = nearest_metric(d, symmetric=True, method="dykstra", tolerance=0, max_rounds=5)
    assert (result.rounds, result.stopped, result.converged) == (5, "rounds", False)
    assert result.violations > 0
    assert result.violation > 0
    assert not triangles_hold(result.unrepaired)
    assert triangles_hold(result.matrix)


@pytest.mark.parametrize("symmetric", [True, False])
def test_decrease_only_is_the_largest_metric_below(symmetric: bool) -> None:
    d = random_matrix(30, 5, symmetric=symmetric)
    result = nearest_metric(d, symmetric=symmetric, method="decrease-only")
    assert (result.matrix <= d).all()
    assert triangles_hold(result.matrix)
    np.testing.assert_allclose(result.matrix, shortest_paths(d), atol=1e-12)
    assert result.objective >= nearest_metric(d, symmetric=symmetric).objective


def shortest_paths(d: np.ndarray) -> np.ndarray:
    x = d.copy()
    for k in range(len(x)):
        x = np.minimum(x, x[:, [k]] + x[[k], :])
    return x


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("head", ["wide", "deep", "euclidean"])
def test_learned(symmetric: bool, head: Any) -> None:
    points = np.random.default_rng(0).normal(size=(20, 2))
    d = np.linalg.norm(points[:, None] - points, axis=-1)
    training = tm.TrainingConfig(epochs=200 if head == "euclidean" else 60, batch_size=128, learning_rate=1e-2)
    settings = LearnedSettings(head=head, dim=8, training=training)
    result = nearest_metric(
        d + 0.01 * np.triu(d) * (not symmetric), symmetric=symmetric, method="learned", learned=settings
    )
    assert triangles_hold(result.matrix)
    assert result.distortion_squared < 0.02
    assert result.gap == 1.0  # it proves nothing
    assert not symmetric or (result.matrix == result.matrix.T).all()
    assert result.model is not None
    points = result.model.encoder(torch.arange(20)).detach()
    assert tm.audit(result.model.distance, points).triangle_defect < 1e-5


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("unit", [1e-3, 1e5])
def test_learned_from_the_matrix_itself_comes_near_to_the_optimum(symmetric: bool, unit: float) -> None:
    d = random_matrix(25, 0, symmetric=symmetric) * unit
    learned = nearest_metric(d, symmetric=symmetric, method="learned")
    assert triangles_hold(learned.matrix)
    optimum = nearest_metric(d, symmetric=symmetric).objective
    assert optimum * (1 - 1e-6) <= learned.objective < 1.01 * optimum


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("head", ["wide", "deep"])
def test_heads_that_start_as_landmarks_come_near_to_the_optimum(symmetric: bool, head: Any) -> None:
    d = random_matrix(24, 0, symmetric=symmetric)
    settings = LearnedSettings(
        head=head, dim=64, training=tm.TrainingConfig(epochs=150, batch_size=100, learning_rate=3e-3)
    )
    learned = nearest_metric(d, symmetric=symmetric, method="learned", learned=settings)
    optimum = nearest_metric(d, symmetric=symmetric).objective
    assert optimum * (1 - 1e-6) <= learned.objective < 1.05 * optimum


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("norm", ["deep", "wide"])
def test_a_head_starts_as_the_landmark_bound(symmetric: bool, norm: str) -> None:
    torch.manual_seed(0)
    d = random_matrix(10, 0, symmetric=symmetric)
    rows = landmark_rows(d, symmetric=symmetric, start=0.5)
    bound = tm.all_pairs(tm.LandmarkBound(rows.shape[1], directed=not symmetric), rows)
    made = (
        tm.DeepNorm(32, widths=(32, 32), pool="max")
        if norm == "deep"
        else tm.WideNorm(32, components=32, width=4, symmetric=symmetric, pool="max")
    )
    head = tm.NormInduced(tm.Symmetrized(made) if symmetric and norm == "deep" else made)
    points = torch.nn.Embedding(10, 32)
    start_as_rows(points, head, rows)
    with torch.no_grad():
        distances = tm.all_pairs(head, points.weight)
    apart = ~torch.eye(10, dtype=torch.bool)
    assert ((distances - bound)[apart].abs() / bound[apart]).mean() < 0.15


def test_learned_from_the_matrix_itself_fills_what_is_missing() -> None:
    points = np.random.default_rng(0).normal(size=(30, 2))
    d = np.linalg.norm(points[:, None] - points, axis=-1)
    hidden = np.triu(np.random.default_rng(1).random(d.shape) < 0.2, 1)
    hidden |= hidden.T
    result = nearest_metric(d, symmetric=True, missing=hidden, method="learned")
    assert triangles_hold(result.matrix)
    assert np.abs(result.matrix - d)[~hidden].max() < 0.02
    assert np.abs(result.matrix - d)[hidden].mean() < 0.2


@pytest.mark.parametrize("n", [1, 2])
def test_learned_of_nothing_to_learn(n: int) -> None:
    settings = LearnedSettings(training=tm.TrainingConfig(epochs=100, learning_rate=1e-2))
    assert nearest_metric(np.zeros((n, n)), method="learned", learned=settings).matrix.max() < 0.01


def test_learned_with_features_is_defined_for_new_objects() -> None:
    points = torch.randn(30, 2)
    settings = LearnedSettings(
        head="wide",
        dim=8,
        encoder=torch.nn.Linear(2, 8),
        objects=points,
        training=tm.TrainingConfig(epochs=100, batch_size=128, learning_rate=1e-2),
    )
    distances = torch.linalg.vector_norm(points[:, None] - points, dim=-1)
    result = nearest_metric(distances, symmetric=True, method="learned", learned=settings)
    new = torch.randn(10, 2)
    assert result.model is not None
    with torch.no_grad():
        error = (tm.all_pairs(result.model, new) - torch.cdist(new, new)).abs().mean()
    assert error < 0.3


def _with(d: np.ndarray, value: float) -> np.ndarray:
    d = d.copy()
    d[1, 2] = value
    return d


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (lambda d: d[:, :3], {}, r"D: expected a square matrix, got shape \(4, 3\)"),
        (str, {}, "D: expected a square matrix of numbers, got str"),
        (lambda d: _with(d, np.nan), {}, r"D: expected finite distances, got D\[1, 2\] = nan; say missing='nan'"),
        (lambda d: _with(d, np.inf), {"missing": "nan"}, r"D: expected finite distances, got D\[1, 2\] = inf"),
        (lambda d: _with(d, -1), {}, r"D: expected distances >= 0, got D\[1, 2\] = -1"),
        (lambda d: d + np.eye(4), {}, r"D: expected zeros on the diagonal, got D\[0, 0\] = 1 and 3 more"),
        (
            lambda d: _with(d, 9),
            {"symmetric": True},
            r"D: expected a symmetric matrix, got D\[1, 2\] = 9 and D\[2, 1\] = 1",
        ),
        (lambda d: d, {"weights": np.ones(4)}, r"weights: expected shape \(4, 4\), got \(4,\)"),
        (
            lambda d: d,
            {"weights": _with(np.ones((4, 4)), -2)},
            r"weights: expected finite numbers >= 0, got weights\[1, 2\] = -2",
        ),
        (lambda d: d, {"missing": np.ones(3, dtype=bool)}, r"missing: expected 'nan' or booleans of shape \(4, 4\)"),
        (lambda d: d, {"missing": "none"}, "missing: expected 'nan' or a matrix of booleans, got 'none'"),
        (lambda d: d, {"method": "magic"}, "method: expected one of 'auto', 'active-set', 'dykstra'"),
        (lambda d: d, {"tolerance": -1}, "tolerance: expected a finite number above 0, got -1"),
        (lambda d: d, {"method": "dykstra", "missing": np.eye(4)[::-1] > 0}, "missing: expected all distances"),
        (lambda d: d, {"method": "learned", "weights": np.arange(16.0).reshape(4, 4)}, "weights: expected equal ones"),
        (lambda d: d, {"learned": LearnedSettings()}, "learned: expected None with method='auto'"),
    ],
)
def test_mistakes(change: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        nearest_metric(change(1 - np.eye(4)), **arguments)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("symmetric", [True, False])
def test_small_matrices(n: int, symmetric: bool) -> None:
    d = 1.0 - np.eye(n)
    result = nearest_metric(d, symmetric=symmetric)
    assert (result.matrix == d).all()
    assert result.gap == 0


def test_zeros_are_a_semimetric() -> None:
    result = nearest_metric(np.zeros((6, 6)))
    assert not result.matrix.any()
    assert result.distortion == 0


@pytest.mark.parametrize("n", [1, 7, 64, 65, 131])
def test_min_plus_product(n: int) -> None:
    generator = np.random.default_rng(n)
    x, y = generator.random((2, n, n))
    expected = (x[:, :, None] + y[None]).min(axis=1)
    assert (min_plus(x, y) == expected).all()
    assert (np.triu(min_plus(x, y, upper=True)) == np.triu(expected)).all()


def test_violations_are_counted() -> None:
    x = random_matrix(30, 0, symmetric=False)
    excess = x[:, :, None] - (x[:, None, :] + x.T[None])  # i, j, k
    assert violations(x) == (excess.max(), (excess > 0).sum())
    assert violations(x, 0.3) == (excess.max(), (excess > 0.3).sum())
    assert violations(closure(x)) == (0.0, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("method", ["active-set", "dykstra", "learned"])
def test_an_interrupt_returns_the_best_so_far(method: Any, number: int) -> None:
    d = random_matrix(40, 0, symmetric=False)
    handler = signal.getsignal(number)
    sent = []

    def report(entry: object) -> None:
        if not sent:
            sent.append(entry)
            signal.raise_signal(number)

    result = nearest_metric(d, method=method, tolerance=1e-300, report=report)
    assert (result.converged, result.stopped) == (False, "interrupted")
    assert triangles_hold(result.matrix)
    assert 0 < result.gap <= 1
    assert signal.getsignal(number) is handler


def test_time_limit() -> None:
    d = random_matrix(40, 0, symmetric=True)
    result = nearest_metric(d, symmetric=True, tolerance=1e-300, max_seconds=1e-6)
    assert result.stopped == "time"
    assert triangles_hold(result.matrix)


def test_from_another_thread() -> None:
    d = random_matrix(20, 0, symmetric=True)
    results = []
    thread = threading.Thread(target=lambda: results.append(nearest_metric(d, symmetric=True)))
    thread.start()
    thread.join()
    assert results[0].converged


def test_several_threads_give_the_same() -> None:
    pytest.importorskip("numba")
    d = random_matrix(150, 0, symmetric=False)
    one = nearest_metric(d, tolerance=1e-3)
    torch.set_num_threads(2)
    try:
        two = nearest_metric(d, tolerance=1e-3)
    finally:
        torch.set_num_threads(1)
    assert (one.matrix == two.matrix).all()


WITHOUT_NUMBA = """
import sys, warnings
sys.modules["numba"] = None
import numpy as np
from trimetric.nearness import nearest_metric
d = np.load(sys.argv[1])
missing = np.random.default_rng(0).random(d.shape) < 0.2
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    plain = nearest_metric(d, tolerance=1e-8)
    holes = nearest_metric(d, missing=missing, tolerance=1e-8)
    fixed = nearest_metric(d[:8, :8], tolerance=1e-8, method="dykstra")
assert len([w for w in caught if "numba is not installed" in str(w.message)]) == 1, caught
assert plain.converged and holes.converged and fixed.converged
np.savez(sys.argv[2], plain=plain.matrix, holes=holes.matrix, fixed=fixed.matrix)
"""


def test_without_numba_the_same_with_one_warning(tmp_path: Path) -> None:
    d = random_matrix(20, 3, symmetric=False)
    np.save(tmp_path / "d.npy", d)
    arguments = [sys.executable, "-c", WITHOUT_NUMBA, str(tmp_path / "d.npy"), str(tmp_path / "x.npz")]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = np.load(tmp_path / "x.npz")
    missing = np.random.default_rng(0).random(d.shape) < 0.2
    np.testing.assert_allclose(found["plain"], nearest_metric(d, tolerance=1e-8).matrix, atol=1e-4)
    np.testing.assert_allclose(found["holes"], nearest_metric(d, missing=missing, tolerance=1e-8).matrix, atol=1e-4)
    np.testing.assert_allclose(found["fixed"], nearest_metric(d[:8, :8], tolerance=1e-8).matrix, atol=1e-4)
    assert all(triangles_hold(found[name]) for name in found.files)


def tsplib(name: str) -> np.ndarray:
    path = ATSP / f"{name}.atsp"
    if not path.exists():
        pytest.skip(f"no {path.name} in {ATSP.name}/: set TRIMETRIC_ATSP to a folder of TSPLIB instances")
    return read_matrix(path)


def test_tsplib_quasimetric_is_returned_unchanged() -> None:
    d = tsplib("ftv170")
    assert d.shape == (171, 171)
    result = nearest_metric(d)
    assert (result.matrix == d).all()
    assert (result.gap, result.objective, result.violations, result.converged) == (0, 0, 0, True)


def test_tsplib_with_noise_is_repaired_towards_the_truth() -> None:
    truth = tsplib("ftv170")
    noise = np.random.default_rng(0).normal(scale=0.2 * truth.mean(), size=truth.shape)
    noisy = np.maximum(truth + noise, 0.0)
    np.fill_diagonal(noisy, 0.0)
    result = nearest_metric(noisy, tolerance=1e-5)
    assert result.converged
    assert np.linalg.norm(result.matrix - truth) < 0.9 * np.linalg.norm(noisy - truth)


@pytest.mark.parametrize("name", ["br17", "p43", "ry48p", "kro124p", "rbg443"])
def test_tsplib_instances_are_repaired_exactly(name: str) -> None:
    d = tsplib(name)
    assert violations(d)[1] > 0
    result = nearest_metric(d)
    assert result.converged
    assert result.gap <= 1e-6
    assert violations(result.matrix) == (0.0, 0)


def test_files(tmp_path: Path) -> None:
    d = random_matrix(5, 0, symmetric=False)
    for name in ("d.npy", "d.npz", "d.csv", "d.tsv", "d.txt"):
        write_matrix(tmp_path / name, d)
        assert (read_matrix(tmp_path / name) == d).all()
    (tmp_path / "named.csv").write_text("city,a,b\na,0,1\nb,,0\n")
    np.testing.assert_array_equal(read_matrix(tmp_path / "named.csv"), [[0, 1], [np.nan, 0]])
    head = "NAME: t\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {}\nEDGE_WEIGHT_SECTION\n{}\nEOF\n"
    triangle = [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    for form, numbers in {
        "FULL_MATRIX": "9 1 2 1 9 3 2 3 9",
        "UPPER_ROW": "1 2\n3",
        "LOWER_DIAG_ROW": "0 1 0 2 3 0",
    }.items():
        (tmp_path / "t.tsp").write_text(head.format(form, numbers))
        np.testing.assert_array_equal(read_matrix(tmp_path / "t.tsp"), triangle)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("d.xlsx", "", "d.xlsx: expected a name that ends in .csv, .tsv, .txt"),
        ("d.csv", "", "d.csv: expected a matrix, got an empty file"),
        ("d.csv", "0,1\n1", "d.csv, line 2: expected 2 columns as before, got 1"),
        ("d.csv", "0,1\n1,x", "d.csv, line 2: expected a number, got 'x'"),
        ("d.txt", "# from to\n0 1\n\n1 x", "d.txt, line 4: expected a number, got 'x'"),
        ("d.npy", "no array", "d.npy: cannot be read as arrays of NumPy"),
        ("t.tsp", "DIMENSION: x\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_SECTION\n1\n", "t.tsp: DIMENSION: expected a"),
        ("t.tsp", "EDGE_WEIGHT_TYPE: EUC_2D\n", "t.tsp: expected EDGE_WEIGHT_TYPE EXPLICIT with a matrix, got EUC_2D"),
        (
            "t.tsp",
            "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_SECTION\n1 2 3\nEOF",
            "t.tsp: expected 4 numbers for 2 nodes, got 3",
        ),
    ],
)
def test_mistakes_in_files(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_matrix(tmp_path / name)


def test_report_and_picture(tmp_path: Path) -> None:
    d = random_matrix(30, 0, symmetric=False)
    d[3, 4] = np.nan
    result = nearest_metric(d, missing="nan")
    report = repair_report(result, d)
    known = ~np.isnan(d) & ~np.eye(30, dtype=bool)
    assert report.known == known.sum() == 30 * 29 - 1
    assert report.filled == 1
    assert report.changed == report.raised + report.lowered > 0
    assert report.largest_rise == np.max((result.matrix - d)[known])
    assert report.broken_before > 0
    assert "after: none, in floating point" in str(report)
    repair_picture(result, d).savefig(tmp_path / "repair.png")
    assert (tmp_path / "repair.png").stat().st_size > 10_000
    with pytest.raises(ValueError, match="D: expected the matrix that was repaired"):
        repair_report(result, d[:3, :3])
