"""The distinct rows that a batch of pairs refers to."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from trimetric.kernels.rows import fused

_ANY = torch.empty(0)


class RowNumbers:
    """Numbers the rows of a table that a batch of pairs refers to, in order of appearance.

    Args:
        pairs: the row where each pair starts and the row where it ends, `(n, 2)`, all at least 0.

    Examples:
        >>> numbers = RowNumbers(torch.tensor([[7, 7], [3, 5], [5, 3]]))
        >>> [found.tolist() for found in numbers.of_batch(torch.tensor([1, 2]))]
        [[3, 5], [0, 1], [1, 0]]
    """

    def __init__(self, pairs: Int[Tensor, "n 2"]) -> None:
        self.pairs = pairs.contiguous()
        self._place = torch.empty(0, dtype=torch.long, device=pairs.device)
        """where each row of the table is in the batch, -1 for nowhere"""

    def of_batch(self, batch: Int[Tensor, " b"]) -> tuple[Int[Tensor, " r"], Int[Tensor, " b"], Int[Tensor, " b"]]:
        """Find the rows of some of the pairs.

        Args:
            batch: the numbers of the pairs.

        Returns:
            The rows, and the start and end of each pair as numbers of these.
        """
        rows, start, end = (batch.new_empty(size * len(batch)) for size in (2, 1, 1))
        count, batch = batch.new_empty(1), batch.contiguous()
        _number_rows(self.pairs, batch, self._place, rows, start, end, count)
        if count.item() < 0:  # the first batch, or pairs that have changed in place since
            self._place = torch.full((int(self.pairs.max()) + 1,), -1, device=self.pairs.device)
            _number_rows(self.pairs, batch, self._place, rows, start, end, count)
        return rows[: count.item()], start, end


def numbers_in_machine_code(pairs: Tensor) -> bool:
    """Whether `RowNumbers` is the faster way to the distinct rows of a training batch."""
    return pairs.is_cpu and fused.applies(_ANY)


@fused.machine_code
def _number_rows(pairs: Any, batch: Any, place: Any, rows: Any, start: Any, end: Any, count: Any) -> None:
    for i in range(len(batch)):
        if max(pairs[batch[i], 0], pairs[batch[i], 1]) >= len(place):
            count[0] = -1
            return
    found = 0
    for i in range(len(batch)):
        for side in range(2):
            row = pairs[batch[i], side]
            if place[row] < 0:
                place[row] = found
                rows[found] = row
                found += 1
            if side == 0:
                start[i] = place[row]
            else:
                end[i] = place[row]
    for i in range(found):
        place[rows[i]] = -1
    count[0] = found
