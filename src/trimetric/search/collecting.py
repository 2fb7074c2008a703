"""Keeps what may be in the answer of each block of distances."""

from __future__ import annotations

from typing import Any

from trimetric.kernels.machine_code import njit


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
    k = best.shape[1]
    for i in range(values.shape[0]):
        own = best[rows[i]]
        if heap:
            for j in range(values.shape[1]):
                value = values[i, j]
                if value < own[0]:
                    place = 0
                    while True:  # sift down
                        child = 2 * place + 1
                        if child >= k:
                            break
                        if child + 1 < k and own[child + 1] > own[child]:
                            child += 1
                        if own[child] <= value:
                            break
                        own[place] = own[child]
                        place = child
                    own[place] = value
        limit = own[0] + 2 * relative * abs(own[0]) + absolute
        for j in range(values.shape[1]):
            if values[i, j] <= limit:
                found_rows[number] = i
                found_columns[number] = j
                number += 1
    return number
