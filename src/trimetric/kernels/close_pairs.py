"""Computes close pairs again, whose digits are lost in differences of projections.

`W y - W x` is computed from what is known of each point; `W (y - x)`, the definition, is not.  The first loses digits
where ||y - x||^2 <= CLOSE (||x||^2 + ||y||^2), with x and y centered; at most 4 bits elsewhere.  Closer pairs,
including equal points, are computed again by the definition, from the given points (centering costs digits too).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from trimetric.kernels.pairs import PairKernel, Projection

CLOSE = 1 / 256
FIND_FLOATS = 1 << 17  # pairs that are looked at together: they stay in the cache


def recompute_close_pairs(kernel: PairKernel, components: Callable[[Tensor, Tensor], Tensor], *, k: int) -> PairKernel:
    """Turn the kernel of a translation-invariant function of `y - x` into an accurate kernel of a distance.

    Args:
        kernel: its `project` reads points; its `pairs` takes differences of their projections.
        components: the definition, of points `(pairs, dim)` and `(pairs, dim)`.
        k: number of components.

    Returns:
        A kernel whose `project` reads points and the center that it subtracts from them.
    """

    def project(x: Float[Tensor, "n dim"], center: Float[Tensor, " dim"]) -> Projection:
        points = x - center
        wide = points.detach().to(torch.promote_types(x.dtype, torch.float32))
        return kernel.project(points), x, wide, wide.square().sum(dim=1)

    def pairs(px: Projection, py: Projection) -> Tensor:
        (rows, x, x_wide, x_squares), (columns, y, y_wide, y_squares) = px, py
        values = kernel.pairs(rows, columns)
        bound = x_squares.unsqueeze(1) + y_squares
        squares = torch.addmm(bound, x_wide, y_wide.mT, alpha=-2)
        i, j = torch.le(squares, bound.mul_(CLOSE)).nonzero().unbind(1)
        if not len(i):
            return values
        put = Tensor.index_put if torch.is_grad_enabled() else Tensor.index_put_
        return put(values, (i, j), components(x[i], y[j]))

    fused = None if kernel.fused is None else kernel.fused.centered()
    return PairKernel(project, pairs, kernel.floats + k, fused=fused)


def find_close_pairs(
    x: Float[Tensor, "n dim"], y: Float[Tensor, "m dim"], center: Float[Tensor, " dim"], *, at_most: int
) -> tuple[Int[Tensor, " p"], Int[Tensor, " p"]] | None:
    """Find the pairs whose digits would be lost; needs numba and points in the memory of the CPU.

    Args:
        x: points.
        y: points.
        center: a point amid them.
        at_most: pairs above which it gives up.

    Returns:
        Their rows and columns; None if there are too many.
    """
    x_wide, y_wide = (points.detach() - center for points in (x, y))
    # ||y - x||^2 <= CLOSE (||x||^2 + ||y||^2) where x . y >= (1 - CLOSE) / 2 (||x||^2 + ||y||^2).
    x_half, y_half = ((1 - CLOSE) / 2 * points.square().sum(dim=1) for points in (x_wide, y_wide))
    height = max(1, FIND_FLOATS // max(1, len(y)))
    products = x_wide.new_empty(min(height, len(x)), len(y))
    found, count = [], 0
    for first in range(0, len(x), height):
        rows = slice(first, min(first + height, len(x)))
        part = torch.mm(x_wide[rows], y_wide.mT, out=products[: rows.stop - first])
        close = _large(part, x_half[rows], y_half)
        count += len(close)
        if count > at_most:
            return None
        found.append(close + close.new_tensor([first, 0]))
    i, j = torch.cat(found).unbind(1) if found else (torch.empty(0, dtype=torch.long, device=x.device),) * 2
    return i, j


def _large(products: Float[Tensor, "n m"], x_half: Float[Tensor, " n"], y_half: Float[Tensor, " m"]) -> Tensor:
    """Where products are at least the sum of both halves, as `nonzero` says it."""
    from trimetric.kernels.euclidean_loops import find_large  # here, because it imports numba

    given = products.numpy(), x_half.numpy(), y_half.numpy()
    places = torch.empty(2 * sum(products.shape), 2, dtype=torch.long, device=products.device)
    count = find_large(*given, places.numpy())
    if count > len(places):
        places = torch.empty(count, 2, dtype=torch.long, device=products.device)
        find_large(*given, places.numpy())
    return places[:count]
