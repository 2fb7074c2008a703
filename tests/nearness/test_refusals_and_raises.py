"""Arguments of `nearest_metric` that would do nothing or lose something, and what increase-only leaves as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from trimetric.nearness import nearest_metric, violations

D = np.array([[0.0, 1, 5], [1, 0, 1], [5, 1, 0]])


def planes(n: int, seed: int) -> np.ndarray:
    """Whole distances in a plane, some of which are far too long."""
    random = np.random.default_rng(seed)
    points = 100 * random.random((n, 2))
    distances = np.rint(np.linalg.norm(points[:, None] - points, axis=-1)) + 3.0
    broken = random.random((n, n)) < 0.005
    distances = np.where(broken, 2 * distances, distances)
    np.fill_diagonal(distances, 0)
    return distances


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_increase_only_leaves_alone_what_no_triangle_needs(seed: int, symmetric: bool) -> None:
    given = planes(30, seed)
    given = np.maximum(given, given.T) if symmetric else given
    exact = nearest_metric(given, method="increase-only", symmetric=symmetric)
    moved = (np.abs(exact.matrix - given) > 1e-6).mean()
    assert moved == pytest.approx((np.abs(exact.matrix - given) > 1e-3).mean(), abs=0.02)  # all or nothing
    assert moved < 0.6
    whole = nearest_metric(given, method="increase-only", integers=True, symmetric=symmetric)
    assert violations(whole.matrix) == (0.0, 0)
    assert (whole.matrix >= given).all()
    assert (whole.matrix != given).mean() < moved + 0.05  # all of them, before
    assert whole.objective < 1.1 * exact.objective
    if symmetric:
        assert (whole.matrix == whole.matrix.T).all()


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="weights: expected one above 0 at least"):
        nearest_metric(D, weights=np.zeros((3, 3)))
    for name in ("symmetric", "integers"):
        with pytest.raises(TypeError, match=f"{name}: expected True or False, got 'no'"):
            nearest_metric(D, **{name: "no"})  # type: ignore[arg-type]


def test_nothing_of_the_matrix_is_lost() -> None:
    masked: Any = np.ma.array(D, mask=D == 5)
    with pytest.raises(TypeError, match=r"D: expected a square matrix of numbers, got a masked array; missing=D\.mask"):
        nearest_metric(masked)
    with pytest.raises(TypeError, match="weights: expected a matrix of numbers, got a masked array"):
        nearest_metric(D, weights=masked)
    with pytest.raises(TypeError, match="x: expected a square matrix of numbers, got a masked array"):
        violations(masked)
    with pytest.raises(TypeError, match=r"D: expected a square matrix of numbers, got ndarray \(complex numbers\)"):
        nearest_metric(D + 1j * D)
    with pytest.raises(TypeError, match="weights: expected a matrix of numbers, got str"):
        nearest_metric(D, weights="a")
    found = nearest_metric(torch.tensor(D).bfloat16(), weights=torch.ones(3, 3, requires_grad=True))
    assert np.array_equal(found.matrix, nearest_metric(D).matrix)
    assert violations(torch.tensor(D).bfloat16()) == violations(D)


def test_a_weight_of_zero_is_a_missing_entry_in_symmetric_problems_too() -> None:
    given = D.copy()
    given[0, 2] = 7.0  # unlike its reverse
    weights = np.ones((3, 3))
    weights[0, 2] = 0
    by_weight = nearest_metric(given, symmetric=True, weights=weights)
    by_mark = nearest_metric(given, symmetric=True, missing=weights == 0)
    assert np.array_equal(by_weight.matrix, by_mark.matrix)
