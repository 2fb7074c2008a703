"""Nearest metrics of distances near the limits of floating point, and what is said of entries that are none."""

from __future__ import annotations

import numpy as np
import pytest
from matrices import random_matrix

from trimetric.nearness import is_metric, nearest_metric, repair_report


@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "directed"])
@pytest.mark.parametrize("method", ["active-set", "dykstra", "decrease-only"])
@pytest.mark.parametrize("exponent", [1000, -1000])
def test_a_power_of_two_changes_nothing_but_the_scale(method: str, exponent: int, symmetric: bool) -> None:
    d = random_matrix(12, 0, symmetric=symmetric)
    plain = nearest_metric(d, method=method, symmetric=symmetric)  # type: ignore[arg-type]
    scaled = nearest_metric(np.ldexp(d, exponent), method=method, symmetric=symmetric)  # type: ignore[arg-type]
    np.testing.assert_allclose(np.ldexp(scaled.matrix, -exponent), plain.matrix, rtol=1e-12)
    assert is_metric(scaled.matrix)
    assert (scaled.converged, scaled.violations) == (plain.converged, plain.violations)
    assert scaled.distortion == pytest.approx(plain.distortion, rel=1e-12)
    report = repair_report(scaled, np.ldexp(d, exponent))
    assert report.changed == repair_report(plain, d).changed
    assert "nan" not in str(report)
    assert "inf" not in str(report)


def test_ordinary_distances_are_not_scaled() -> None:
    result = nearest_metric(1e149 * random_matrix(5, 0, symmetric=False))
    assert result.exponent == 0
    assert np.isfinite(result.objective)


@pytest.mark.parametrize("largest", [5e-324, 1e-322, 1.7e308], ids=str)
def test_the_smallest_and_the_largest_numbers(largest: float) -> None:
    d = largest * np.array([[0.0, 1, 0], [1, 0, 1], [1, 0, 0]])
    result = nearest_metric(d)
    assert is_metric(result.matrix)
    assert result.converged
    assert np.isfinite([result.distortion, result.gap, result.violation]).all()


def test_missing_with_huge_distances() -> None:
    d = 1e300 * random_matrix(8, 0, symmetric=False)
    d[0, 1] = d[3, 0] = d[2, 2] = np.nan
    result = nearest_metric(d, missing="nan")
    assert is_metric(result.matrix)
    assert repair_report(result, d).filled == 2
    with pytest.raises(ValueError, match=r"D: expected distances whose sums are at most 1.8e\+308, got one of "):
        nearest_metric([[0, 1.7e308, np.nan], [np.nan, 0, 1.7e308], [np.nan, np.nan, 0]], missing="nan")


def test_what_squares_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="weights: expected products with squared distances that a float can hold"):
        nearest_metric(1e50 * (1 - np.eye(3)), weights=np.full((3, 3), 1.7e308))
    with pytest.raises(ValueError, match=r"D: expected distances from 1e-151 to 1e\+151 with method='learned'"):
        nearest_metric([[0, 1e200], [1e200, 0]], method="learned")


@pytest.mark.parametrize(
    ("d", "named", "message"),
    [
        (
            [[0, np.nan], [1, 0]],
            {},
            r"^D: expected distances that are numbers, got D\[0, 1\] = nan; missing='nan' says",
        ),
        ([[0, np.inf], [1, 0]], {"missing": "nan"}, r"^D: expected finite distances, got D\[0, 1\] = inf; an infinite"),
        ([[0, np.nan], [np.nan, 0]], {"missing": "nan"}, "^D: expected at least one known distance, got none$"),
        (
            [[0, 1], [2, 0]],
            {"symmetric": True},
            r"^D: expected a symmetric matrix, got D\[0, 1\] = 1 and D\[1, 0\] = 2;",
        ),
        (np.zeros((0, 0)), {}, "^D: expected at least one object, got none$"),
        ([[0, 1], [1, 0]], {"tolerance": -1}, "^tolerance: expected a finite number from 0, got -1$"),
        ([[0, 1], [1, 0]], {"tolerance": True}, "^tolerance: expected a finite number from 0, got True$"),
    ],
    ids=["nan", "inf", "nothing known", "asymmetric", "no objects", "tolerance", "tolerance true"],
)
def test_mistakes(d: object, named: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nearest_metric(d, **named)  # type: ignore[arg-type]
