"""Public functions on square matrices, based on the min-plus product; each checks its input."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from trimetric._support import checks
from trimetric.kernels.min_plus import closure as unchecked_closure
from trimetric.kernels.min_plus import count_violations
from trimetric.kernels.min_plus import min_plus as unchecked_min_plus
from trimetric.nearness.problem import first_entry

Matrix = np.ndarray


def min_plus(x: Any, y: Any = None, *, upper: bool = False) -> Matrix:
    r"""The min-plus product $(X \otimes Y)_{ij} = \min_k (x_{ik} + y_{kj})$.

    Args:
        x: a square matrix without NaN: an array, nested lists or a tensor.
        y: another matrix of the same shape; `x` by default.
        upper: whether only the upper triangle is needed; the values in the lower one are then undefined.

    Returns:
        The product, of the shape of `x`.

    >>> min_plus([[0, 1, 5], [1, 0, 1], [5, 1, 0]]).tolist()
    [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    """
    left = _without_nan("x", _square("x", x))
    right = left if y is None else _without_nan("y", _square("y", y))
    if right.shape != left.shape:
        raise ValueError(f"y: expected the shape of x, {left.shape}, got {right.shape}")
    return unchecked_min_plus(left, right.astype(left.dtype, copy=False), upper=upper)


def closure(x: Any, *, symmetric: bool = False) -> Matrix:
    """The largest (quasi)metric below `x`: all shortest paths.

    The result has **no** violation in floating point.

    Args:
        x: a square matrix without NaN: an array, nested lists or a tensor.  Negative entries count as 0, infinite ones
            as pairs without an edge; the diagonal counts as 0.
        symmetric: whether only the upper triangle of `x` is used, in both directions.

    Returns:
        The matrix of the shortest paths.

    >>> closure([[0, 1, 5], [1, 0, 1], [5, 1, 0]]).tolist()
    [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    """
    return unchecked_closure(_without_nan("x", _square("x", x)), symmetric=symmetric)


def is_metric(x: Any) -> bool:
    """Whether every inequality `x_ij <= x_ik + x_kj`, `x_ij >= 0` and `x_ii == 0` holds, in floating point.

    Args:
        x: a square matrix: an array, nested lists or a tensor.

    Returns:
        False also where an entry is NaN.

    Examples:
        >>> is_metric([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
        True
    """
    matrix = _square("x", x)
    if not (matrix >= 0).all() or np.diagonal(matrix).any():
        return False
    return bool((unchecked_min_plus(matrix) >= matrix).all())


def violations(x: Any, tolerance: float = 0.0) -> tuple[float, int]:
    """The largest `x_ij - (x_ik + x_kj)`, at least 0, and how many ordered triples exceed the tolerance.

    Each triangle of a symmetric matrix counts twice, as (i, j) and as (j, i).

    Args:
        x: a square matrix of distances, >= 0 and not NaN, with zeros on its diagonal: an array, nested lists or a
            tensor.
        tolerance: violations up to this size are not counted.

    Returns:
        The largest violation, and the number of triples.

    >>> violations([[0, 1, 5], [1, 0, 1], [5, 1, 0]])
    (3.0, 2)
    """
    matrix = _without_nan("x", _square("x", x))
    if tolerance != 0:
        checks.finite_number("tolerance", tolerance, above=0)
    if (matrix < 0).any():
        raise ValueError(f"x: expected distances >= 0, got {first_entry('x', matrix, matrix < 0)}")
    if np.diagonal(matrix).any():
        off = np.diag(np.diagonal(matrix) != 0)
        raise ValueError(f"x: expected zeros on the diagonal, got {first_entry('x', matrix, off)}")
    return count_violations(matrix, tolerance)


def _square(name: str, value: Any) -> Matrix:
    """In the precision that it has, as sums are rounded in it; in float64 where it is not of floating point."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected a square matrix of numbers, got a masked array")
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        value = (value.float() if value.dtype in (torch.bfloat16, torch.float16) else value).numpy()
    try:
        array = np.asarray(value)
        array = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64, casting="same_kind")
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected a square matrix of numbers, got {type(value).__name__} ({error})") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.size == 0:
        raise ValueError(f"{name}: expected a square matrix, got shape {array.shape}")
    return np.ascontiguousarray(array)


def _without_nan(name: str, matrix: Matrix) -> Matrix:
    bad = np.isnan(matrix)
    if bad.any():
        raise ValueError(f"{name}: expected no NaN, got {first_entry(name, matrix, bad)}")
    return matrix
