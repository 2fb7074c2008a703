"""The encoder of grid worlds on all states of one world, for several networks at once, with a hand-written gradient."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from trimetric.rl.learning.windows import Windows


class StateEmbedding(torch.autograd.Function):
    """Computes the embeddings (members, states, dim) of all states, each distinct window once.

    It is one operation for autograd and `vmap`, since each operation of theirs costs as much time as a small product.
    Its arguments are the kernels and biases of the first convolution (members, filters, planes * 9), of the second
    (members, filters, first, 3, 3), of the dense layer (members, positions, second, hidden) and of the last one
    (members, dim, hidden), and the `Windows` of all states.
    """

    @staticmethod
    def forward(  # pyright: ignore[reportIncompatibleMethodOverride]
        first: Tensor,
        first_bias: Tensor,
        second: Tensor,
        second_bias: Tensor,
        dense: Tensor,
        dense_bias: Tensor,
        last: Tensor,
        last_bias: Tensor,
        windows: Windows,
    ) -> tuple[Tensor, ...]:
        features = (windows.first @ first.mT).add_(first_bias.unsqueeze(1)).relu_()
        # W h for each of the nine places of a feature in a window, then sums of nine.
        places = (features @ _by_place(second)).view(len(second), -1, second.shape[1])
        planes = windows.second(places).add_(second_bias.unsqueeze(1)).relu_()
        rows = windows.rows(planes)
        parts = torch.bmm(_by_position(rows, dense), dense.flatten(0, 1))
        sums = windows.states(parts.view(len(dense), -1, dense.shape[3]))
        hidden = (sums[:, :-1] + (sums[:, -1:] + dense_bias.unsqueeze(1))).relu_()
        return torch.baddbmm(last_bias.unsqueeze(1), hidden, last.mT), features, planes, rows, hidden

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        _, _, second, _, dense, _, last, _, ctx.windows = inputs
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(second, dense, last, *output[1:])

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        second, dense, last, features, planes, rows, hidden = ctx.saved_tensors
        windows: Windows = ctx.windows
        to_hidden = _below_relu(grad @ last, hidden)
        to_dense_bias = to_hidden.sum(dim=1)
        to_parts = windows.states.transposed(torch.cat([to_hidden, to_dense_bias.unsqueeze(1)], dim=1))
        to_parts = _by_position(to_parts, dense)
        to_rows = torch.bmm(to_parts, dense.flatten(0, 1).mT).view_as(rows)
        to_planes = _below_relu(windows.rows.transposed(to_rows), planes)
        to_places = windows.second.transposed(to_planes).view(*features.shape[:2], -1)
        to_features = _below_relu(to_places @ _by_place(second).mT, features)
        return (
            to_features.mT @ windows.first,
            to_features.sum(dim=1),
            (features.mT @ to_places).unflatten(2, (*second.shape[3:], -1)).permute(0, 4, 1, 2, 3),
            to_planes.sum(dim=1),
            torch.bmm(_by_position(rows, dense).mT, to_parts).view_as(dense),
            to_dense_bias,
            grad.mT @ hidden,
            grad.sum(dim=1),
            None,
        )

    @staticmethod
    def vmap(  # pyright: ignore[reportIncompatibleMethodOverride]
        info: Any, in_dims: tuple[int | None, ...], *arguments: Any
    ) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """Treat a batch of members as more members."""
        *parameters, windows = arguments
        stacked = [
            p.expand(info.batch_size, *p.shape) if at is None else p.movedim(at, 0)
            for p, at in zip(parameters, in_dims, strict=False)
        ]
        output: Any = StateEmbedding.apply(*(p.flatten(0, 1) for p in stacked), windows)
        return tuple(o.unflatten(0, (info.batch_size, -1)) for o in output), (0,) * len(output)


def _below_relu(grad: Tensor, output: Tensor) -> Tensor:
    return torch.ops.aten.threshold_backward(grad, output, 0)


def _by_place(second: Tensor) -> Tensor:
    """(members, filters, first, 3, 3) -> (members, first, 9 * filters)"""
    return second.permute(0, 2, 3, 4, 1).flatten(2)


def _by_position(rows: Tensor, dense: Tensor) -> Tensor:
    """(members, positions * height, columns) -> (members * positions, height, columns)"""
    return rows.reshape(dense.shape[0] * dense.shape[1], -1, rows.shape[2])
