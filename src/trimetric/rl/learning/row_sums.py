"""Sparse sums of rows, and their transposes, for several matrices at once."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor


class RowSums:
    r"""The linear map $y_r = \sum_j w_{rj}\, x_{i_{rj}}$ of the rows of a matrix: a product with a sparse matrix.

    Both directions are embedding bags, for several matrices at once; `transposed` is the gradient of the call.
    (The gradient of indexing adds rows one at a time, and torch's sparse matrices multiply one matrix only.)

    Args:
        targets, sources, weights: entries $r$, $i_{rj}$, $w_{rj}$, in any order.
        shape: number of rows of y and of x.

    Examples:
        >>> sums = RowSums(torch.tensor([0, 0]), torch.tensor([1, 2]), torch.ones(2), (1, 3))
        >>> sums(torch.tensor([[[1.0], [2.0], [3.0]]])).tolist()
        [[[5.0]]]
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
        """Sum rows.

        Args:
            x: matrices (members, sources, columns).

        Returns:
            Their sums of rows (members, targets, columns).
        """
        return self._there.apply(x)

    def transposed(self, y: Float[Tensor, "members targets columns"]) -> Float[Tensor, "members sources columns"]:
        """Apply the transposed map.

        Args:
            y: matrices (members, targets, columns).

        Returns:
            Matrices (members, sources, columns).
        """
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
        """Repeat sources, starts and weights for `times` matrices below each other."""
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
