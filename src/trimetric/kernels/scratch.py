"""Memory that the blocks of one computation share."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


class Scratch:
    """Buffers that are used again by the next block: fresh pages cost as much as the arithmetic on them.

    Examples:
        >>> scratch = Scratch()
        >>> with torch.no_grad():
        ...     scratch.differences("points", torch.tensor([[1.0], [2.0]]), torch.tensor([[5.0]])).flatten()
        tensor([4., 3.])
    """

    def __init__(self) -> None:
        self._buffers: dict[str, Tensor] = {}

    def take(self, slot: str, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Get an uninitialized tensor.

        Args:
            slot: name of the buffer.
            shape: of the tensor.
            like: a tensor of the same dtype and device.

        Returns:
            A tensor that is valid until the slot is taken again; a fresh one where autograd may keep it.
        """
        if torch.is_grad_enabled():
            return like.new_empty(shape)
        size = torch.Size(shape).numel()
        buffer = self._buffers.get(slot)
        if buffer is None or buffer.numel() < size or buffer.dtype != like.dtype:
            buffer = self._buffers[slot] = like.new_empty(size)
        return buffer[:size].view(shape)

    def differences(self, slot: str, a: Float[Tensor, "n w"], b: Float[Tensor, "m w"]) -> Float[Tensor, "n m w"]:
        """Compute `b[j] - a[i]` for all i and j, differentiably.

        Args:
            slot: name of the buffer for the result.
            a: the subtrahends.
            b: the minuends.
        """
        if torch.is_grad_enabled():
            return b + a.neg().unsqueeze(1)  # so that the gradient is negated for points, not for pairs
        out = self.take(slot, (a.shape[0], b.shape[0], a.shape[1]), a)
        return torch.sub(b, a.unsqueeze(1), out=out)
