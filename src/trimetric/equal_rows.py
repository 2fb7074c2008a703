"""Which rows of two matrices are equal, without comparing all pairs of them in full."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

_INTEGER = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_BASE = -7046029254386353131  # odd, with scattered bits


def row_keys(x: Float[Tensor, "n dim"]) -> Int[Tensor, " n"]:
    """A number for each row, the same for equal rows: a polynomial in the bits of its entries, modulo 2^64."""
    bits = (x.detach() + 0.0).view(_INTEGER[x.element_size()]).long()  # -0.0 + 0.0 = 0.0
    powers = torch.full((x.shape[1],), _BASE, device=x.device).cumprod(dim=0)
    return (bits * powers).sum(dim=1)


def equal_rows(
    x: Float[Tensor, "n dim"], x_keys: Int[Tensor, " n"], y: Float[Tensor, "m dim"], y_keys: Int[Tensor, " m"]
) -> tuple[Int[Tensor, " p"], Int[Tensor, " p"]]:
    """All i, j with `x[i] == y[j]` in every entry; equal keys are looked at again, so this is exact."""
    i, j = (x_keys.unsqueeze(1) == y_keys).nonzero().unbind(1)
    same = (x[i] == y[j]).all(dim=1)
    return i[same], j[same]
