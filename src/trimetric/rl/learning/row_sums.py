"""Sparse sums of rows, and their transposes."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor


class RowSums:
    r"""The linear map $y_r = \sum_j w_{rj}\, x_{i_{rj}}$ of the rows of a matrix: a sparse matrix that multiplies it.

    Both directions are embedding bags, of several matrices at once; `transposed` is the gradient of the call.
    (Indexing has a gradient that adds rows one at a time, and torch's sparse matrices multiply one matrix only.)

    Args:
        targets, sources, weights: the entries $r$, $i_{rj}$, $w_{rj}$, in any order.
        shape: rows of y and of x.
    """

    def __init__(
        self,
        targets: Int[Tensor, " entries"],
        sources: Int[Tensor, " entries"],
        weights: Float[Tensor, " entries"],
        shape: tuple[int, int],
    ) -> None:
        self.shape = shape
        self._there = _Lists(targets, sources, weights, *shape)
        self._back = _Lists(sources, targets, weights, shape[1], shape[0])

    def __call__(self, x: Float[Tensor, "members sources columns"]) -> Float[Tensor, "members targets columns"]:
        return self._there.apply(x)

    def transposed(self, y: Float[Tensor, "members targets columns"]) -> Float[Tensor, "members sources columns"]:
        return self._back.apply(y)


class _Lists:
    """For each target the rows that it sums, one list after the other."""

    def __init__(self, targets: Tensor, sources: Tensor, weights: Tensor, rows: int, columns: int) -> None:
        order = targets.argsort(stable=True)
        self.rows, self.columns = rows, columns
        self.sources, self.weights = sources[order], weights[order]
        counts = torch.bincount(targets, minlength=rows)
        self.starts = counts.cumsum(0) - counts
        self._repeated: dict[int, tuple[Tensor, Tensor, Tensor]] = {}

    def repeated(self, times: int) -> tuple[Tensor, Tensor, Tensor]:
        """Sources, starts and weights for that many matrices below each other."""
        if times not in self._repeated:
            shift = torch.arange(times).unsqueeze(1)
            self._repeated[times] = (
                (self.sources + shift * self.columns).flatten(),
                (self.starts + shift * len(self.sources)).flatten(),
                self.weights.repeat(times),
            )
        return self._repeated[times]

    def apply(self, x: Tensor) -> Tensor:
        sources, starts, weights = self.repeated(len(x))
        rows = x.reshape(-1, x.shape[2])
        summed = torch.embedding_bag(rows, sources, starts, False, 0, False, weights.to(x.dtype))[0]
        return summed.view(len(x), self.rows, -1)
