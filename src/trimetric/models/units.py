"""Points that are stored as whole numbers of a unit."""

from __future__ import annotations

import torch
from jaxtyping import Float, Num
from torch import Tensor

from trimetric._support import checks
from trimetric._support.described import Described


class WholeUnits(Described):
    """Reads points that are stored in few bits: whole numbers, times a unit.

    An encoder for `Siamese` without parameters.  Numbers below 2^24 times a power of two are exact in float32.

    Args:
        dim: size of the points.
        unit: what one stands for.

    Examples:
        >>> WholeUnits(2, unit=0.5)(torch.tensor([[3, -4]], dtype=torch.int8))
        tensor([[ 1.5000, -2.0000]])
    """

    unit: Tensor

    def __init__(self, dim: int, *, unit: float) -> None:
        super().__init__()
        self.dim = checks.positive_int("dim", dim)
        self.register_buffer("unit", torch.tensor(checks.finite_number("unit", unit, above=0)))

    def forward(self, x: Num[Tensor, "*batch dim"]) -> Float[Tensor, "*batch dim"]:
        if x.shape[-1:] != (self.dim,):
            raise ValueError(f"x: expected last axis {self.dim}, got shape {tuple(x.shape)}")
        return x.to(self.unit.dtype) * self.unit
