"""Which rows of two matrices are equal, without comparing all pairs of them in full."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int, Num
from torch import Tensor

_INTEGER = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_BASE = -7046029254386353131  # odd, with scattered bits


def row_keys(x: Num[Tensor, "n dim"]) -> Int[Tensor, " n"]:
    """A number for each row, the same for equal rows: a polynomial in the bits of its entries, modulo 2^64."""
    x = x.detach()
    # -0.0 + 0.0 = 0.0
    bits = (x + 0.0).view(_INTEGER[x.element_size()]).long() if x.is_floating_point() else x.long()
    # The bits of a short number are its high ones, which a product modulo 2^64 pushes out: fold them down first.
    bits = bits ^ ((bits >> 32) & 0xFFFFFFFF)  # masked, as >> copies the sign
    bits = bits ^ ((bits >> 16) & 0xFFFFFFFFFFFF)
    powers = torch.full((x.shape[1],), _BASE, device=x.device).cumprod(dim=0)
    return (bits * powers).sum(dim=1)


def equal_rows(
    x: Float[Tensor, "n dim"], x_keys: Int[Tensor, " n"], y: Float[Tensor, "m dim"], y_keys: Int[Tensor, " m"]
) -> tuple[Int[Tensor, " p"], Int[Tensor, " p"]]:
    """All i, j with `x[i] == y[j]` in every entry; equal keys are looked at again, so this is exact."""
    i, j = (x_keys.unsqueeze(1) == y_keys).nonzero().unbind(1)
    same = (x[i] == y[j]).all(dim=1)
    return i[same], j[same]


def zero_at_equal_rows(values: Tensor, x: tuple[Tensor, Tensor], y: tuple[Tensor, Tensor]) -> Tensor:
    """The values (n, m, ...) of all pairs of points, 0 where both are equal; of each side its points and their keys."""
    i, j = equal_rows(*x, *y)
    if not len(i):
        return values
    put = Tensor.index_put if torch.is_grad_enabled() else Tensor.index_put_
    return put(values, (i, j), values.new_zeros(()))


def first_equal_row(objects: Tensor) -> Int[Tensor, " n"]:
    """For each object along the first axis, the first one that is equal to it (at most itself).

    Two different objects with one key would hide it, at odds of n^2 to 2^64; each is then its own first.
    """
    rows = objects.flatten(1) if objects.ndim > 1 else objects.unsqueeze(1)
    here = torch.arange(len(rows), device=rows.device)
    _, group = torch.unique(row_keys(rows), return_inverse=True)
    first = torch.full_like(here, len(rows)).scatter_reduce(0, group, here, "amin")[group]
    return torch.where((rows == rows[first]).all(dim=1), first, here)
