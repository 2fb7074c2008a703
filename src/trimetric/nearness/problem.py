"""The problem of metric nearness: which entries are known, how much they weigh, and what is wrong with the input."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from torch import Tensor

from trimetric.nearness.entry_error import EntryError, wrong_entry

SYMMETRY = 1e-9
"""how much of its largest entry a matrix may be off symmetry, as rounding does it"""


@dataclass(frozen=True)
class Problem:
    r"""Minimize $\sum_e w_e (x_e - d_e)^2$ over the entries $e$ of the metrics on `n` objects.

    Entry $e = (i, j)$ stands at place `i * n + j` of the vectors; of a symmetric problem only $i < j$ is used, with the
    weights of both directions.  One more place at the end is always 0: rows of inequalities are filled up with it.
    """

    n: int
    symmetric: bool
    distances: np.ndarray
    """d, and 0 where it is not known"""
    weights: np.ndarray
    """w, and 0 where d is not known"""
    inverse_weights: np.ndarray
    """1/w, and 0 where d is not known: what is not known does not move"""
    known: np.ndarray
    """(n, n), both directions of a symmetric problem"""

    @cached_property
    def complete(self) -> bool:
        """Whether all distances are known."""
        return bool(self.known.all())

    @cached_property
    def one_weight(self) -> float | None:
        """That of every entry, where it is one number."""
        given = self.weights[self.weights > 0]
        if not self.complete or len(given) == 0 or given.min() != given.max():
            return None
        return float(given[0])

    @property
    def norm_squared(self) -> float:
        return float((self.weights * self.distances**2).sum())

    def squared_distance(self, x: np.ndarray) -> float:
        """Of a vector or of a matrix to the given distances."""
        if x.ndim == 2:
            x = self.vector(x)
        change = np.subtract(x, self.distances, out=np.zeros_like(x), where=self.weights > 0)  # others may be infinite
        return float((self.weights * change**2).sum())

    def vector(self, matrix: np.ndarray) -> np.ndarray:
        return np.append(matrix.ravel(), 0.0)

    def matrix(self, x: np.ndarray) -> np.ndarray:
        """The matrix of a vector of entries; 0 where nothing is known."""
        matrix = x[:-1].reshape(self.n, self.n)
        if not self.symmetric:
            return matrix.copy()
        upper = np.triu(matrix, 1)
        return upper + upper.T

    def place(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Where the entry (i, j) stands."""
        if self.symmetric:
            i, j = np.minimum(i, j), np.maximum(i, j)
        return i.astype(np.int64) * self.n + j


def make_problem(matrix: Any, *, symmetric: bool, weights: Any, missing: Any) -> Problem:
    """Checks everything that can be wrong with the input, and says which entry it is."""
    d = _square("D", matrix)
    n = len(d)
    unknown = _missing(missing, d)
    d[unknown & np.eye(n, dtype=bool)] = 0.0  # an object's distance from itself is always known
    known = ~unknown
    np.fill_diagonal(known, True)
    _check_entries(d, known)
    d = np.where(known, d, 0.0)
    w = np.ones_like(d) if weights is None else _weights(weights, n)
    w = np.where(known, w, 0.0)
    np.fill_diagonal(w, 0.0)
    if n > 1 and not w.any():
        raise ValueError("weights: expected one above 0 at least, for a known distance, got none")
    if symmetric:
        d, w = _symmetrized(d, w, known & (w > 0))
        known = known | known.T
    known = (w > 0) if not symmetric else (w + w.T > 0)
    np.fill_diagonal(known, True)
    with np.errstate(divide="ignore"):
        inverse = np.where(w > 0, 1.0 / w, 0.0)
    if not np.isfinite(inverse).all():
        raise ValueError(f"weights: expected 0 or at least {np.finfo(float).tiny}, got {w[w > 0].min():g}")
    pad = lambda entries: np.append(np.where(w > 0, entries, 0.0).ravel(), 0.0)  # noqa: E731
    return Problem(n, symmetric, pad(d), pad(w), pad(inverse), known)


def _check_entries(d: np.ndarray, known: np.ndarray) -> None:
    if (bad := known & np.isnan(d)).any():
        raise wrong_entry("distances that are numbers", d, bad, remedy="missing")
    if (bad := known & np.isinf(d)).any():
        raise wrong_entry("finite distances", d, bad, remedy="known")
    if (bad := known & (d < 0)).any():
        raise wrong_entry("distances >= 0", d, bad)
    if np.diagonal(d).any():
        raise wrong_entry("zeros on the diagonal", d, np.diag(np.diagonal(d) != 0))
    if len(d) > 1 and known.sum() == len(d):
        raise ValueError("D: expected at least one known distance, got none")


def _square(name: str, value: Any) -> np.ndarray:
    array = numbers_of(name, value, "a square matrix of numbers")
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"{name}: expected a square matrix, got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name}: expected at least one object, got none")
    return array


def numbers_of(name: str, value: Any, expected: str) -> np.ndarray:
    """Convert to a new array of float64.

    Args:
        name: of the argument, for error messages.
        value: an array, nested lists or a tensor.
        expected: what the argument must be, for error messages.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected {expected}, got a masked array; missing={name}.mask marks what is unknown")
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        value = value.double().numpy() if value.is_floating_point() else value.numpy()
    try:
        array = np.asarray(value)
        if array.dtype.kind == "c":
            raise TypeError("complex numbers")
        return np.array(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected {expected}, got {type(value).__name__} ({error})") from None


def _missing(missing: Any, d: np.ndarray) -> np.ndarray:
    if missing is None:
        return np.zeros(d.shape, dtype=bool)
    if isinstance(missing, str):
        if missing != "nan":
            raise ValueError(f"missing: expected 'nan' or a matrix of booleans, got {missing!r}")
        return np.isnan(d)
    array = np.array(missing)
    if array.dtype != bool or array.shape != d.shape:
        raise ValueError(
            f"missing: expected 'nan' or booleans of shape {d.shape}, got {array.dtype} of shape {array.shape}"
        )
    return array


def _weights(weights: Any, n: int) -> np.ndarray:
    array = numbers_of("weights", weights, "a matrix of numbers")
    if array.shape != (n, n):
        raise ValueError(f"weights: expected shape {(n, n)}, got {array.shape}")
    bad = ~np.isfinite(array) | (array < 0)
    if bad.any():
        raise ValueError(f"weights: expected finite numbers >= 0, got {first_entry('weights', array, bad)}")
    return array


def _symmetrized(d: np.ndarray, w: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The upper triangle, with the weights of both directions; where one is not known, the other counts."""
    off = known & known.T & (np.abs(d - d.T) > SYMMETRY * d.max(initial=0.0))
    if off.any():
        i, j = (int(index) for index in np.argwhere(off)[0])
        others = int(off.sum()) // 2 - 1
        raise EntryError("a symmetric matrix", d, (i, j), (j, i), more=others, remedy="average")
    both = w + w.T
    mean = np.divide(w * d + w.T * d.T, both, out=np.zeros_like(d), where=both > 0)
    exact = np.where((d == d.T) & known & known.T, d, mean)  # a mean of equal numbers may round to another
    return np.triu(exact, 1), np.triu(both, 1)


def first_entry(name: str, array: np.ndarray, bad: np.ndarray) -> str:
    i, j = np.argwhere(bad)[0]
    more = int(bad.sum()) - 1
    return f"{name}[{i}, {j}] = {array[i, j]:g}" + (f" and {more} more" if more else "")
