"""Distances of all pairs in one pass: components, the functions on them and their pool, without a tensor of components.

`PairKernel.pairs` writes the components of a block of pairs, and torch transforms and pools them: each step reads and
writes the whole block.  A `FusedPairs` says what the components are, what is done to each of them and how they are
pooled, and machine code does all of it on tiles that stay in the cache.  The kernels without it stay: they are what
this is tested against, and what is used where machine code cannot be.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from trimetric.kernels.euclidean import euclidean_distances

ComponentKind = Literal["rectified", "relu", "absolute", "interval", "euclidean"]
PoolKind = Literal["mean", "max", "maxmean"]


class Pooling(NamedTuple):
    """How components become a distance.

    Attributes:
        kind: "mean", "max" or "maxmean".
        alpha: the weight of the largest component in a "maxmean"; None for the others.
    """

    kind: PoolKind
    alpha: Tensor | None = None


class FusedPairs(NamedTuple):
    r"""The distances of all pairs as a pool of minima of lines of components that machine code knows.

    With points $a, b$ in groups of coordinates, one group per component, the components are

    - "rectified": $\|\mathrm{relu}(b - a)\|_2$,
    - "relu" and "absolute": $\mathrm{relu}(b - a)$ and $|b - a|$, with one coordinate per component,
    - "euclidean": $\|b - a\|_2$, of one component and at most one line,
    - "interval": the length of the union of the intervals $[a_j, \max(a_j, b_j)]$.

    Attributes:
        project: the part that needs one point only: the grouped coordinates `(n, k * w)`.  As in `PairKernel`, a
            function of the points, for a distance also of a point amid all of them.
        kind: which components.
        components: their number k.
        lines: slopes and offsets `(k, u)` of the lines whose minimum each component goes through; slopes are not
            negative.  None for the components themselves.
        loses_digits: whether projections round, so that close pairs have to be computed again from the points.
    """

    project: Callable[..., Tensor]
    kind: ComponentKind
    components: int
    lines: tuple[Tensor, Tensor] | None = None
    loses_digits: bool = False

    def below_lines(self, slope: Float[Tensor, "k u"], offset: Float[Tensor, "k u"]) -> FusedPairs:
        """Apply a minimum of lines to each component; a minimum of lines of a minimum of lines is one.

        Args:
            slope: at least 0.
            offset: any numbers.
        """
        if self.lines is not None:
            before, shift = (part.unsqueeze(2) for part in self.lines)
            after, step = slope.unsqueeze(1), offset.unsqueeze(1)
            slope, offset = (after * before).flatten(1), (after * shift + step).flatten(1)
        return self._replace(lines=(slope, offset))

    def centered(self) -> FusedPairs:
        """For a norm: the same for the distance that it induces, which subtracts a point amid all points first."""
        if not self.loses_digits:
            return self._replace(project=lambda x, center: self.project(x))  # noqa: ARG005
        return self._replace(project=lambda x, center: self.project(x - center))

    def scaled(self, factor: Tensor) -> FusedPairs:
        """Multiply all components by one number.

        Args:
            factor: at least 0.
        """
        slope = factor.expand(self.components, 1)
        return self.below_lines(slope, torch.zeros_like(slope))


def fused_distances(
    fused: FusedPairs, a: Float[Tensor, "n k*w"], b: Float[Tensor, "m k*w"], pooling: Pooling
) -> Float[Tensor, "n m"]:
    """Compute the distances of all pairs of projected points, with gradients.

    Args:
        fused: its `project` has been applied.
        a: the projected rows.
        b: the projected columns.
        pooling: of the components.

    Examples:
        >>> largest = FusedPairs(lambda x: x, "relu", 2)
        >>> x = torch.tensor([[0.0, 0.0], [1.0, 5.0]])
        >>> fused_distances(largest, x, x, Pooling("max"))
        tensor([[0., 5.],
                [0., 0.]])
    """
    if fused.kind == "euclidean":
        values = euclidean_distances(a, b)
        return values if fused.lines is None else fused.lines[0] * values + fused.lines[1]
    if fused.lines is None:
        slope = offset = a.new_empty(fused.components, 0)
    else:
        slope, offset = (_pad_lines(part.to(a.dtype)) for part in fused.lines)
    alpha = a.new_zeros(()) if pooling.alpha is None else pooling.alpha
    return _FusedPairs.apply(fused, pooling.kind, a, b, slope, offset, alpha)  # type: ignore[return-value]


def can_fuse(fused: FusedPairs, x: Tensor, columns: int, budget: int) -> bool:
    """Whether machine code can compute these distances.

    Args:
        fused: what to compute.
        x: the points of the rows.
        columns: number of columns.
        budget: bytes that may be used beside points and distances.
    """
    if x.device.type != "cpu" or x.dtype not in (torch.float32, torch.float64) or torch.compiler.is_compiling():
        return False
    if fused.kind == "euclidean" and fused.lines is not None and fused.lines[0].numel() > 1:
        return False
    loops = _tiles()
    if loops is None or not len(x) or not columns:
        return False
    if fused.lines is not None and not bool((fused.lines[0] > 0).all()):
        return False  # 0 times infinity is not a number, which a comparison would lose
    return (
        2 * loops.thread_limit() * loops.tile_bytes(fused.components, x.shape[1], columns, x.element_size()) <= budget
    )


@functools.cache
def _tiles() -> Any:
    """The module that drives the loops in machine code; None if numba is not installed."""
    from trimetric.kernels import machine_code  # here, because it imports numba

    if not machine_code.HAS_NUMBA:
        return None
    from trimetric.kernels import tiles

    return tiles


def _pad_lines(lines: Float[Tensor, "k u"]) -> Tensor:
    """Repeat the first line until there is one, or one and a multiple of four: a repeated line is never the first."""
    units = lines.shape[1]
    missing = 1 + 4 * math.ceil((units - 1) / 4) - units
    return torch.cat([lines, lines[:, :1].expand(-1, missing)], dim=1) if missing else lines


class _FusedPairs(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, fused: FusedPairs, kind: PoolKind, a: Tensor, b: Tensor, slope: Tensor, offset: Tensor, alpha: Tensor
    ) -> Tensor:
        gradients = any(ctx.needs_input_grad)
        ctx.kind, ctx.tiles = kind, _tiles().Tiles(fused.kind, a, b, fused.components, gradients=gradients)
        ctx.save_for_backward(a, b, slope, offset, alpha)
        return ctx.tiles.distances(_ending(kind, slope, offset, alpha))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        _, _, slope, offset, alpha = ctx.saved_tensors  # which also checks that nothing was changed in place
        return None, None, *ctx.tiles.gradients(_ending(ctx.kind, slope, offset, alpha), grad)


def _ending(kind: PoolKind, slope: Tensor, offset: Tensor, alpha: Tensor) -> Any:
    lines = (part.detach().contiguous().numpy() for part in (slope, offset))
    return _tiles().Ending(*lines, ("mean", "max", "maxmean").index(kind), float(alpha.detach()))
