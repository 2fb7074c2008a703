"""Differences of projections, with the digits that they lose where points are close.

`W y - W x` is computed from what is known of each point; `W (y - x)`, the definition, is not.  The first loses digits
where ||y - x||^2 <= CLOSE (||x||^2 + ||y||^2), x and y centred: at most 4 bits elsewhere.  Closer pairs, equal
ones among them, are computed again by the definition, from the points as they came (centring costs digits too).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric.kernels.pairs import PairFunction, Projection

CLOSE = 1 / 256


def centred(
    project: Callable[[Tensor], Projection], x: Float[Tensor, "n dim"], centre: Float[Tensor, " dim"]
) -> Projection:
    """The projection of the centred points, with what `mended` needs to know of them."""
    points = x - centre
    wide = points.detach().to(torch.promote_types(x.dtype, torch.float32))
    return project(points), x, wide, wide.square().sum(dim=1)


def mended(pairs: PairFunction, components: Callable[[Tensor, Tensor], Tensor]) -> PairFunction:
    """`pairs` on what `centred` made, with the close pairs taken from `components(x, y)`."""

    def mended_pairs(px: Projection, py: Projection) -> Tensor:
        (rows, x, x_wide, x_squares), (columns, y, y_wide, y_squares) = px, py
        values = pairs(rows, columns)
        bound = x_squares.unsqueeze(1) + y_squares
        squares = torch.addmm(bound, x_wide, y_wide.mT, alpha=-2)
        i, j = torch.le(squares, bound.mul_(CLOSE)).nonzero().unbind(1)
        if not len(i):
            return values
        put = Tensor.index_put if torch.is_grad_enabled() else Tensor.index_put_
        return put(values, (i, j), components(x[i], y[j]))

    return mended_pairs
