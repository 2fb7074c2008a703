"""Repairs that only raise or lower distances, and repairs to integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matrices import random_matrix, triangles_hold
from places import DATA
from scipy.optimize import nnls

from trimetric.nearness import closure, nearest_metric, read_matrix

METHODS = ("active-set", "decrease-only", "increase-only")
FILES = sorted((DATA / "vrp").glob("*.txt")) + sorted((DATA / "atsp").glob("*.atsp"))


def nearest_above(d: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The nearest metric above d, as a least-distance problem of Lawson and Hanson with every triangle."""
    n = len(d)
    root = np.sqrt(weights).ravel()
    rows, limits = [], []
    for i in range(n):
        for j in range(n):
            for k in range(n):
                if len({i, j, k}) == 3:
                    row = np.zeros((n, n))
                    row[i, k] = row[k, j] = 1
                    row[i, j] = -1
                    rows.append(row.ravel())
                    limits.append(d[i, j] - d[i, k] - d[k, j])
    matrix = np.concatenate([np.array(rows), np.eye(n * n)]) / root  # of v = root * (x - d)
    limit = np.concatenate([limits, np.zeros(n * n)])
    equations, target = np.vstack([matrix.T, limit]), np.append(np.zeros(n * n), 1.0)
    solution, _ = nnls(equations, target, maxiter=10_000)
    rest = equations @ solution - target
    return d + (-rest[:-1] / rest[-1] / root).reshape(n, n)


@pytest.mark.parametrize("n", [3, 5, 6])
@pytest.mark.parametrize("seed", range(3))
def test_increase_only_is_the_nearest_metric_above(n: int, seed: int) -> None:
    d = random_matrix(n, seed, symmetric=False)
    weights = np.random.default_rng(seed).uniform(0.5, 2, (n, n))
    result = nearest_metric(d, weights=weights, method="increase-only", tolerance=1e-9)
    assert triangles_hold(result.matrix)
    assert (result.matrix >= d).all()
    assert result.converged
    np.testing.assert_allclose(result.matrix, nearest_above(d, weights), atol=1e-4)
    assert result.lower_bound <= (weights * (nearest_above(d, weights) - d) ** 2).sum() * (1 + 1e-6) + 1e-12


def test_increase_only_of_a_known_optimum_and_of_symmetric_and_metric_matrices() -> None:
    broken = np.array([[0.0, 1, 5], [1, 0, 1], [5, 1, 0]])
    result = nearest_metric(broken, symmetric=True, method="increase-only", tolerance=1e-9)
    np.testing.assert_allclose(result.matrix, [[0, 2.5, 5], [2.5, 0, 2.5], [5, 2.5, 0]], atol=1e-4)
    assert triangles_hold(result.matrix)
    d = random_matrix(20, 0, symmetric=True)
    found = nearest_metric(d, symmetric=True, method="increase-only", tolerance=1e-4)
    np.testing.assert_array_equal(found.matrix, found.matrix.T)
    metric = closure(d)
    np.testing.assert_array_equal(nearest_metric(metric, method="increase-only").matrix, metric)
    with pytest.raises(ValueError, match="missing"):
        nearest_metric(np.where(d > 0.5, np.nan, d), missing="nan", method="increase-only")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_integers_keep_every_triangle(method: str, symmetric: bool, whole: bool) -> None:
    for seed in range(4):
        d = 40 * random_matrix(15, seed, symmetric=symmetric)
        d = np.rint(d) if whole else d
        result = nearest_metric(d, symmetric=symmetric, method=method, integers=True, tolerance=1e-4)  # type: ignore[arg-type]
        assert result.matrix.dtype == np.int64
        assert triangles_hold(result.matrix)
        if method == "decrease-only":
            assert (result.matrix <= d).all()
            np.testing.assert_array_equal(result.matrix, closure(np.floor(d)))
        if method == "increase-only":
            assert (result.matrix >= d).all()
        if method == "active-set":
            free = nearest_metric(d, symmetric=symmetric)
            assert np.abs(result.matrix - free.matrix).max() < 1.5
        assert result.objective == pytest.approx(((result.matrix - d) ** 2).sum())
        assert result.lower_bound <= result.objective


def test_the_largest_integer_metric_below_is_found_by_trying_all() -> None:
    d = np.array([[0, 1.7, 3.2], [2.9, 0, 1.2], [1.1, 2.4, 0]])
    result = nearest_metric(d, method="decrease-only", integers=True)
    off = ~np.eye(3, dtype=bool)
    best = np.inf
    for values in np.ndindex(*(np.floor(d[off]).astype(int) + 1)):
        x = np.zeros((3, 3))
        x[off] = values
        if triangles_hold(x):
            best = min(best, ((x - d) ** 2).sum())
    assert result.objective == pytest.approx(best)


def test_integers_are_refused_where_sums_are_not_exact() -> None:
    with pytest.raises(ValueError, match="2\\^52"):
        nearest_metric([[0, 2.0**53], [1, 0]], integers=True)
    with pytest.raises(ValueError, match="2\\^52"):
        nearest_metric([[0, 1e200], [1, 0]], integers=True)


QUICK = ("br17", "p43", "ry48p", "ORTEC-VRPTW-ASYM-898e14bd-d1-n230-k20")


@pytest.mark.skipif(not FILES, reason="the instances are not here")
@pytest.mark.parametrize(
    "file", [pytest.param(f, id=f.stem[-25:], marks=[] if f.stem in QUICK else pytest.mark.slow) for f in FILES]
)
def test_instances_are_repaired_without_any_violation(file: Path) -> None:
    d = read_matrix(file)
    for method in METHODS:
        limit = 1.0 if method == "increase-only" else None  # a metric comes out after any time
        for integers in (False, True):
            x = nearest_metric(d, method=method, integers=integers, max_seconds=limit).matrix  # type: ignore[arg-type]
            assert triangles_hold(x), method
            assert method != "decrease-only" or (x <= d).all()
            assert method != "increase-only" or (x >= d).all()
            if integers:
                assert x.dtype.kind == "i"
