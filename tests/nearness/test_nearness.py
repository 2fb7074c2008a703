"""Metric nearness: optimal against a reference, certified, and without any broken triangle in floating point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrices import random_matrix, triangles_hold
from scipy.optimize import LinearConstraint, minimize

from trimetric.nearness import LearnedSettings, closure, is_metric, min_plus, nearest_metric, violations


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


def _with(d: np.ndarray, value: float) -> np.ndarray:
    d = d.copy()
    d[1, 2] = value
    return d


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (lambda d: d[:, :3], {}, r"D: expected a square matrix, got shape \(4, 3\)"),
        (str, {}, "D: expected a square matrix of numbers, got str"),
        (
            lambda d: _with(d, np.nan),
            {},
            r"D: expected distances that are numbers, got D\[1, 2\] = nan; missing='nan' says",
        ),
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
        (lambda d: d, {"tolerance": -1}, "tolerance: expected a finite number from 0, got -1"),
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
