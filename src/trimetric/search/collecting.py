"""Keeps what may be in the answer of each block of distances."""

from __future__ import annotations

from typing import Any

from trimetric.kernels.machine_code import njit


@njit
def replace_largest(heap: Any, value: float) -> None:
    """Replace the largest value of a heap, which is the first."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= len(heap):
            break
        if child + 1 < len(heap) and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value


@njit
def collect_near(
    values: Any, rows: Any, best: Any, heap: bool, relative: float, absolute: float, found_rows: Any, found_columns: Any
) -> int:
    """Find the values of a block that may be among the best of their rows, and update the best.

    Args:
        values: distances `(rows, columns)`.
        rows: the query of each row.
        best: for each query the k least values so far as a heap, the largest first; or one limit.
        heap: whether `best` is a heap, which is updated.
        relative: how far a value may be from the real one, as a part of it.
        absolute: the same, added.
        found_rows: receives the row of each value that was found.
        found_columns: receives its column.

    Returns:
        The number of values that were found.
    """
    number = 0
    for i in range(values.shape[0]):
        own = best[rows[i]]
        if heap:
            for j in range(values.shape[1]):
                value = values[i, j]
                if value < own[0]:
                    replace_largest(own, value)
        limit = own[0] + 2 * relative * abs(own[0]) + absolute
        for j in range(values.shape[1]):
            if values[i, j] <= limit:
                found_rows[number] = i
                found_columns[number] = j
                number += 1
    return number


@njit
def collect_near_pairs(
    values: Any, rows: Any, best: Any, heap: bool, relative: float, absolute: float, found: Any
) -> int:
    """Find the values of pairs that may be among the best of their queries, and update the best.

    Args:
        values: a distance for each pair.
        rows: the query of each pair.
        best: as for `collect_near`.
        heap: as for `collect_near`.
        relative: as for `collect_near`.
        absolute: as for `collect_near`.
        found: receives the pairs that were found.

    Returns:
        The number of pairs that were found.
    """
    if heap:
        for i in range(len(values)):
            own = best[rows[i]]
            if values[i] < own[0]:
                replace_largest(own, values[i])
    number = 0
    for i in range(len(values)):
        least = best[rows[i], 0]
        if values[i] <= least + 2 * relative * abs(least) + absolute:
            found[number] = i
            number += 1
    return number
