"""Distances near the limits of floating point: solved in another unit, a power of two, so that squares exist."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trimetric.kernels.min_plus import closure
from trimetric.nearness.problem import Problem

SMALLEST, LARGEST = 1e-151, 1e151
"""largest distances between which their squares are ordinary numbers"""


def exponent_of(problem: Problem) -> int:
    """Of the power of two to solve in: 0 for ordinary distances, else that of the largest."""
    largest = float(problem.distances.max(initial=0.0))
    with np.errstate(over="ignore"):
        room = np.isfinite(problem.n * problem.norm_squared)
    if largest == 0.0 or (SMALLEST <= largest <= LARGEST and room):
        return 0
    return int(np.frexp(largest)[1])


def in_units(problem: Problem, exponent: int) -> Problem:
    """The problem with every distance divided by this power of two; exact, but for what then is below all others."""
    return problem if exponent == 0 else replace(problem, distances=np.ldexp(problem.distances, -exponent))


def out_of_units(matrix: np.ndarray, exponent: int, *, symmetric: bool) -> np.ndarray:
    """A metric multiplied by this power of two, still a metric in floating point.

    Raises:
        ValueError: if a distance that was filled in is longer than the longest number.
    """
    if exponent == 0:
        return matrix
    with np.errstate(over="ignore"):
        scaled = np.ldexp(matrix, exponent)
    if not np.isfinite(scaled).all():
        raise ValueError(
            f"D: expected distances whose sums are at most {np.finfo(float).max:.3g}, "
            f"got one of {float(np.ldexp(matrix.max(), -1)):.3g} * 2^{exponent + 1} to fill in"
        )
    return closure(scaled, symmetric=symmetric)  # multiples of the smallest number have been rounded
