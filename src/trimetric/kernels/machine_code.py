"""Loops in machine code: the one `njit` of the package and the one way to run such loops on several threads.

Importing this module imports numba, which takes half a second: modules that every user imports load it on first use.
"Compiled" is left to `torch.compile`, which has nothing to do with this.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, overload

import torch

from trimetric._support.optional import missing

_installed = True
try:
    import numba

    if numba.config.DISABLE_JIT:  # pyright: ignore  (NUMBA_DISABLE_JIT=1: its functions would be slow Python)
        numba = None
except ImportError:
    numba, _installed = None, False

F = TypeVar("F", bound=Callable[..., Any])

HAS_NUMBA = numba is not None
_warned = False


@overload
def njit(function: F) -> F: ...
@overload
def njit(*, fastmath: set[str]) -> Callable[[F], F]: ...
def njit(function: Any = None, *, fastmath: set[str] | None = None) -> Any:
    """Translate a loop to machine code that runs without the interpreter's lock.

    Where numba is not installed the function is returned unchanged: correct, but slow.

    Args:
        function: a function of numbers and NumPy arrays.  Without it, a decorator is returned.
        fastmath: rules of IEEE arithmetic that the compiler may break, in the words of LLVM.  With it a division by
            zero gives infinity or NaN and no exception, which would keep the loop from being vectorized.

    Returns:
        The function in machine code.  It is cached on disk where that is possible.

    Examples:
        >>> @njit
        ... def add_up(values):
        ...     total = 0.0
        ...     for value in values:
        ...         total += value
        ...     return total
    """
    if function is None:
        return lambda loop: _translate(loop, fastmath)
    return _translate(function, fastmath)


def _translate(loop: Any, fastmath: set[str] | None) -> Any:
    if numba is None:
        return loop
    options = {"nogil": True, "fastmath": fastmath or False, "error_model": "numpy" if fastmath else "python"}
    try:
        return numba.njit(cache=True, **options)(loop)
    except RuntimeError:  # there is no folder to keep the machine code in
        return numba.njit(**options)(loop)


def warn_once_without_numba() -> None:
    """Say once per process that `nearest_metric` is slow because numba is missing."""
    global _warned
    if not _installed and not _warned:
        _warned = True
        warnings.warn(
            missing("nearest_metric runs on NumPy, far slower: its fast path", "numba", "solvers"),
            RuntimeWarning,
            stacklevel=3,
        )


def thread_limit() -> int:
    """How many threads loops may use: those of torch (`torch.set_num_threads`), at most NUMBA_NUM_THREADS."""
    limit = torch.get_num_threads()
    return limit if numba is None else min(limit, numba.config.NUMBA_NUM_THREADS)  # pyright: ignore


def run_on_rows(work: Callable[[int, int], object], n: int, *, at_least: int = 64) -> None:
    """Run `work(first, last)` on blocks of the rows 0, ..., n - 1, on several threads at once.

    Python's own threads suffice because loops in machine code hold no lock, and they can be started from any thread
    and after a fork.  Each thread gets several blocks, since rows of a triangle are not equally long.

    Args:
        work: computes the rows from `first` to `last - 1`.
        n: number of rows.
        at_least: rows per thread below which another thread does not pay.

    Examples:
        >>> squares = [0] * 5
        >>> def square(first, last):
        ...     for i in range(first, last):
        ...         squares[i] = i * i
        >>> run_on_rows(square, 5)
        >>> squares
        [0, 1, 4, 9, 16]
    """
    count = min(thread_limit(), -(-n // at_least))
    if count <= 1:
        work(0, n)
        return
    size = -(-n // (4 * count))
    size += size % 2  # some loops take two rows at a time
    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(work, first, min(first + size, n)) for first in range(0, n, size)]:
            done.result()
