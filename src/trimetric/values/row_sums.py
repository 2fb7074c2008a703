"""Sparse sums of rows with fast gradients."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor


class RowSums:
    r"""The linear map $y_r = \sum_j w_{rj}\, x_{i_{rj}}$ of the rows of a matrix: a sparse matrix that multiplies it.

    Both directions are embedding bags: the gradient sums rows of the incoming one by the transposed lists.  (Indexing
    has a gradient that adds rows one at a time, and torch's sparse matrices know no vmap.)  Under `vmap` all members
    are one call.

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
        self.forward = _Lists(targets, sources, weights, *shape)
        self.backward = _Lists(sources, targets, weights, shape[1], shape[0])

    def __call__(self, x: Float[Tensor, "sources columns"]) -> Float[Tensor, "targets columns"]:
        return _Sum.apply(x, self.forward, self.backward)  # type: ignore[return-value]


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
        """Of a matrix, or of each of several (members, sources, columns)."""
        members = len(x) if x.ndim == 3 else 1
        sources, starts, weights = self.repeated(members)
        flat = x.reshape(-1, x.shape[-1])
        summed = torch.embedding_bag(flat, sources, starts, False, 0, False, weights.to(x.dtype))[0]
        return summed.view(*x.shape[:-2], self.rows, -1)


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, there: _Lists, back: _Lists) -> Tensor:  # type: ignore[override]  # noqa: ARG004
        return there.apply(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:  # noqa: ARG004
        ctx.there, ctx.back = inputs[1:]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        # `apply` takes time of its own, and is needed only for a gradient of this gradient.
        summed = _Sum.apply(grad, ctx.back, ctx.there) if torch.is_grad_enabled() else ctx.back.apply(grad)
        return summed, None, None  # type: ignore[return-value]

    @staticmethod
    def vmap(  # pyright: ignore[reportIncompatibleMethodOverride]
        _: Any, in_dims: tuple[int | None, ...], x: Tensor, there: _Lists, back: _Lists
    ) -> tuple[Tensor, int]:
        batched = x if in_dims[0] is None else x.movedim(in_dims[0], 0)
        return _Sum.apply(batched, there, back), 0  # type: ignore[return-value]
