"""The loops over lists of inequalities against their definitions in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from trimetric.kernels.machine_code import HAS_NUMBA
from trimetric.nearness.dual import Dual
from trimetric.nearness.problem import Problem, make_problem
from trimetric.nearness.rows import merge_active, row_sums, row_values, sweep, sweep_triangles, transposed
from trimetric.nearness.separation import Broken, broken_inequalities

N = 12


def problem(seed: int, *, symmetric: bool = False) -> Problem:
    d = np.random.default_rng(seed).random((N, N)) ** 3
    d = d + d.T if symmetric else d
    np.fill_diagonal(d, 0.0)
    return make_problem(d, symmetric=symmetric, weights=None, missing=None)


def rows_below_zero(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An x with negative entries, and the inequalities that it breaks; some of them are x_e >= 0."""
    x = x.copy()
    x[[3, 40, 77]] = -0.2
    return x, broken_inequalities(problem(0), x, 0.0).entries.astype(np.int32)


@pytest.mark.parametrize("symmetric", [True, False])
def test_rows_come_in_the_order_of_their_keys(symmetric: bool) -> None:
    given = problem(1, symmetric=symmetric)
    x = given.distances - 0.05 * (given.distances > 0)
    found = broken_inequalities(given, x, 0.0)
    assert (found.keys < 0).any()
    assert (np.diff(found.keys) > 0).all()


def test_values_sums_and_the_transposed_of_triangles() -> None:
    x, entries = rows_below_zero(problem(0).distances)
    assert np.array_equal(row_values(x, entries), x[entries[:, 0]] - x[entries[:, 1]] - x[entries[:, 2]])
    assert np.allclose(row_sums(x, entries), x[entries].sum(axis=1), rtol=1e-15)
    z = np.random.default_rng(0).random(len(entries))
    dense = np.zeros((len(entries), len(x)))
    np.add.at(dense, (np.arange(len(entries)), entries[:, 0]), 1.0)
    for side in (1, 2):
        np.add.at(dense, (np.arange(len(entries)), entries[:, side]), -1.0)
    assert np.allclose(transposed(z, entries, np.empty_like(x)), z @ dense, atol=1e-14)


@pytest.mark.skipif(not HAS_NUMBA, reason="numba is not installed")
@pytest.mark.parametrize("forwards", [True, False])
@pytest.mark.parametrize("weight", [1.0, 4.0])
def test_the_sweep_over_triangles_is_the_sweep(forwards: bool, weight: float) -> None:
    x, entries = rows_below_zero(problem(0).distances)
    assert (entries[:, 0] == len(x) - 1).any()
    inverse = np.full(len(x), 1.0 / weight)
    inverse[-1] = 0.0
    curvature = row_sums(inverse, entries)
    # Half of the multipliers are 0, as those of new rows are; some must fall back to 0.
    z = np.maximum(np.random.default_rng(2).normal(size=len(entries)), 0.0) / 10
    x_fast, z_fast = x.copy(), z.copy()
    for number in range(4):
        sweep(x, z, entries, inverse, curvature, forwards ^ (number % 2 == 1))
        sweep_triangles(x_fast, z_fast, entries, 1.0 / weight, forwards ^ (number % 2 == 1))
    assert np.allclose(x_fast, x, rtol=0, atol=1e-14)
    assert np.allclose(z_fast, z, rtol=0, atol=1e-14)
    assert (z_fast >= 0).all()
    assert (z_fast == 0).any()


@pytest.mark.skipif(not HAS_NUMBA, reason="numba is not installed")
@pytest.mark.parametrize("old", [0, 1, 30])
@pytest.mark.parametrize("new", [0, 1, 30])
def test_merging_is_adding_and_sorting(old: int, new: int) -> None:
    generator = np.random.default_rng(old + 100 * new)
    given = problem(0)

    def some(count: int) -> tuple[np.ndarray, np.ndarray]:
        keys = np.sort(generator.choice(np.arange(-5, 45), count, replace=False))  # many of them in both
        return keys, (keys[:, None] + np.array([5, 50, 90])).astype(np.int64)

    slow = Dual(given)
    slow.keys, entries = some(old)
    slow.entries = entries.astype(slow.dtype)
    slow.multipliers = np.maximum(generator.normal(size=old), 0.0)
    keys, entries = some(new)
    fast = merge_active(slow.keys, slow.entries, slow.multipliers, keys, entries)
    slow._add_and_sort(Broken(entries, keys, 0.0, np.empty(0)))
    for found, expected in zip(fast, (slow.keys, slow.entries, slow.multipliers), strict=True):
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
