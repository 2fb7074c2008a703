"""The distances of all pairs: fast, in bounded memory, and differentiable."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.func import functional_call
from torch.utils.checkpoint import checkpoint

from trimetric._support import checks
from trimetric.distances import Distance, ObjectDistance, as_distance
from trimetric.distances.batching import PAIRS_AT_ONCE, in_chunks
from trimetric.distances.fusing import center_of, fused_matrix
from trimetric.kernels.pairs import PairFunction, Projection
from trimetric.norms import Norm

# Blocks of more numbers than this leave the cache; smaller ones spend their time on starting threads.
BLOCK_FLOATS = 1 << 22
MIN_WIDTH = 64  # columns: the innermost loops of some run over them; wider blocks compare too few rows at once
# Below this many numbers the definition is done before a fast path has started.
SMALL_FLOATS = 1 << 20

DistanceFunction = Callable[[Tensor, Tensor], Tensor]


def all_pairs(
    distance: Norm | ObjectDistance | DistanceFunction,
    x: Tensor | np.ndarray,
    y: Tensor | np.ndarray | None = None,
    *,
    max_memory: int | str = "256MiB",
) -> Float[Tensor, "n m"]:
    """Compute the matrix of `distance(x[i], y[j])`, with `y = x` by default.

    The matrix is computed block by block.  If a gradient is needed and autograd would store more than `max_memory`,
    each block is computed again in the backward pass, so that memory stays bounded there too.

    Every norm of the package has a fast path that computes once per point whatever depends on one point only.  It
    agrees with the definition `distance(x[:, None], y[None])` to 1e-5 (relative, in float32), and equal rows have
    distance exactly 0.  For any other callable on broadcastable tensors, the definition is used.

    Under `torch.autocast`, distances are computed in the precision of the distance's parameters.

    Args:
        distance: a distance, a norm (for the distance it induces), a `Siamese` (each object is encoded
            once), or any function of two broadcastable tensors.
        x: `(n, dim)`; for a `Siamese`, n objects along the first axis.  A NumPy array is converted to the dtype of
            the weights.
        y: `(m, dim)`; the same as `x` by default.
        max_memory: bytes, or text such as "256MiB": the approximate limit of the memory used in addition to the inputs,
            their projections, the output and, with gradients, the gradients of these.

    Returns:
        The distances, one row for each row of `x`.

    Examples:
        >>> import trimetric as tm
        >>> x = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
        >>> tm.all_pairs(tm.Euclidean(2), x)
        tensor([[0., 5.],
                [5., 0.]])
    """
    budget = checks.byte_count("max_memory", max_memory)
    given, distance = distance, checked_distance(distance)
    x = checks.as_tensor("x", x, given)
    y = None if y is None else checks.as_tensor("y", y, given)
    if isinstance(distance, ObjectDistance):
        if not distance.factors_through_points:
            return _by_definition(distance, x, x if y is None else y)
        x, y = distance.embed_both(x, y)
        distance = distance.head
    if torch.is_autocast_enabled(x.device.type):
        dtype = next((p.dtype for p in distance.parameters()), x.dtype) if isinstance(distance, Distance) else x.dtype
        x, y = x.to(dtype), None if y is None or y is x else y.to(dtype)
    y = x if y is None else y
    _check_points(distance, x, y)
    with torch.autocast(x.device.type, enabled=False):
        return _all_pairs(distance, x, y, budget)


def _by_definition(distance: ObjectDistance, x: Tensor, y: Tensor) -> Tensor:
    """Ask a distance with a `forward` of its own for each pair."""
    i, j = (ends.flatten() for ends in torch.meshgrid(torch.arange(len(x)), torch.arange(len(y)), indexing="ij"))
    i, j = i.to(x.device), j.to(y.device)
    values = in_chunks(lambda rows, columns: distance(x[rows], y[columns]), i, j, size=PAIRS_AT_ONCE)
    return values.view(len(x), len(y))


def checked_distance(distance: Norm | ObjectDistance | DistanceFunction) -> ObjectDistance | DistanceFunction:
    """A norm as the distance that it induces, a function as one whose values are checked, others as they are."""
    if isinstance(distance, Norm):
        return as_distance("distance", distance)
    if isinstance(distance, ObjectDistance):
        return distance
    if isinstance(distance, type) or not callable(distance):
        got = f"the class {distance.__name__}" if isinstance(distance, type) else type(distance).__name__
        raise TypeError(f"distance: expected a Norm, Distance, Siamese or function of two tensors, got {got}")

    @functools.wraps(distance, updated=())
    def checked(x: Tensor, y: Tensor) -> Tensor:
        values = distance(x, y)
        expected = tuple(torch.broadcast_shapes(x.shape[:-1], y.shape[:-1]))
        if not isinstance(values, Tensor) or tuple(values.shape) != expected:
            got = f"shape {tuple(values.shape)}" if isinstance(values, Tensor) else type(values).__name__
            raise ValueError(
                f"distance: expected a function that makes one number of each pair, so a tensor of shape {expected} of "
                f"points of shapes {tuple(x.shape)} and {tuple(y.shape)}, got {got}"
            )
        return values

    return checked


def _all_pairs(distance: Distance | DistanceFunction, x: Tensor, y: Tensor, budget: int) -> Tensor:
    if not isinstance(distance, Distance):
        grid = _Grid.of(x, y, 16 * x.shape[1], budget)
        return _cat_blocks(lambda a, b: distance(a.unsqueeze(1), b.unsqueeze(0)), x, y, grid, recompute=not grid.fits)
    if len(x) * len(y) * distance.definition_floats <= SMALL_FLOATS:
        return distance(x.unsqueeze(1), y.unsqueeze(0))
    kernel = distance.pair_kernel()
    values = fused_matrix(distance, kernel.fused, x, y, budget)
    if values is not None:
        return values
    center = center_of(x, y)
    rows = kernel.project(x, center)
    columns = rows if x is y else kernel.project(y, center)
    grid = _Grid.of(x, y, kernel.floats, budget)
    needs_grad = torch.is_grad_enabled() and any(t.requires_grad for t in (x, y, *distance.parameters()))
    if needs_grad and grid.fits:
        return _cat_blocks(_Block(distance), rows, columns, grid)
    parameters = dict(distance.named_parameters()) if needs_grad else {}
    work = _Work(distance, grid, tuple(parameters), _skeleton(rows))
    return _AllPairs.apply(work, *_leaves(rows), *_leaves(columns), *parameters.values())  # type: ignore[return-value]


def _check_points(distance: Distance | DistanceFunction, x: Tensor, y: Tensor) -> None:
    for name, points in (("x", x), ("y", y)):
        checks.matrix(name, checks.floating_point(name, points))
        if isinstance(distance, Distance):
            checks.same_dtype(name, checks.vectors(name, points, distance.dim), distance)
    if x.shape[1] != y.shape[1] or x.dtype != y.dtype or x.device != y.device:
        raise ValueError(
            f"y: expected the last axis, dtype and device of x ({x.shape[1]}, {x.dtype}, {x.device}), "
            f"got ({y.shape[1]}, {y.dtype}, {y.device})"
        )


class _Block(nn.Module):
    """The distances of a block of projected rows and columns."""

    def __init__(self, distance: Distance) -> None:
        super().__init__()
        self.distance = distance
        self.pairs: PairFunction | None = None  # made anew for each block, with its gradient, unless given

    def forward(self, rows: Projection, columns: Projection) -> Tensor:
        pairs = self.pairs or self.distance.pair_kernel().pairs
        return self.distance.pool(pairs(rows, columns))


@dataclass(frozen=True)
class _Grid:
    """How the matrix is cut into blocks, and whether what autograd keeps of all of them fits the budget."""

    n: int
    m: int
    height: int
    width: int
    fits: bool

    @classmethod
    def of(cls, x: Tensor, y: Tensor, pair_floats: int, budget: int) -> _Grid:
        n, m, floats = len(x), len(y), pair_floats + 4
        largest = 2 * BLOCK_FLOATS if torch.is_grad_enabled() else BLOCK_FLOATS
        pairs = max(1, min(largest, budget // (4 * x.element_size())) // floats)
        width = max(1, min(m, pairs, max(math.isqrt(pairs), MIN_WIDTH)))
        return cls(n, m, max(1, pairs // width), width, n * m * floats * x.element_size() <= budget)

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        for i in range(0, self.n, self.height):
            for j in range(0, self.m, self.width):
                yield slice(i, min(i + self.height, self.n)), slice(j, min(j + self.width, self.m))


def _cat_blocks(
    block: Callable[[Any, Any], Tensor], rows: Projection, columns: Projection, grid: _Grid, *, recompute: bool = False
) -> Tensor:
    """All blocks by autograd itself; `recompute` keeps none of them, for functions whose parameters are not known."""
    like = _leaves(rows)[0]
    strips: dict[int, list[Tensor]] = {}
    for i, j in grid.blocks():
        ends = _take(rows, i), _take(columns, j)
        values = checkpoint(block, *ends, use_reentrant=False) if recompute else block(*ends)
        strips.setdefault(i.start, []).append(values)
    if not strips:
        return like.new_empty(grid.n, grid.m)
    return torch.cat([torch.cat(strip, dim=1) for strip in strips.values()])


@dataclass(frozen=True)
class _Work:
    """What `_AllPairs` needs beside tensors."""

    distance: Distance
    grid: _Grid
    parameter_names: tuple[str, ...]
    skeleton: Any

    def split(self, items: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """What belongs to rows, to columns and to parameters."""
        ends = (len(items) - len(self.parameter_names)) // 2
        return items[:ends], items[ends : 2 * ends], items[2 * ends :]


class _AllPairs(torch.autograd.Function):
    """Block by block, keeping nothing of a block; the backward pass computes each again, with its gradient."""

    @staticmethod
    def forward(ctx: Any, work: _Work, *tensors: Tensor) -> Tensor:  # type: ignore[override]
        ctx.work = work
        ctx.save_for_backward(*tensors)
        rows, columns, _ = work.split(tensors)
        out = tensors[0].new_empty(work.grid.n, work.grid.m)
        block = _Block(work.distance)
        block.pairs = work.distance.pair_kernel().pairs
        for i, j in work.grid.blocks():
            ends = (_nest(iter([t[k] for t in side]), work.skeleton) for side, k in ((rows, i), (columns, j)))
            out[i, j] = block(*ends)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        work: _Work = ctx.work
        tensors: tuple[Tensor, ...] = ctx.saved_tensors
        totals: list[Tensor | None] = [None] * len(tensors)
        rows, columns, parameters = work.split(tensors)
        block = _Block(work.distance)
        free = [p.detach().requires_grad_() for p in parameters]
        named = {f"distance.{name}": p for name, p in zip(work.parameter_names, free, strict=True)}
        for i, j in work.grid.blocks():
            places = [*[i] * len(rows), *[j] * len(columns), *[...] * len(free)]
            leaves = [*(t[i].detach() for t in rows), *(t[j].detach() for t in columns), *free]
            wanted = [k for k, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
            for k in wanted:
                leaves[k].requires_grad_()
            ends = (_nest(iter(side), work.skeleton) for side in work.split(leaves)[:2])
            with torch.enable_grad():
                values = functional_call(block, named, tuple(ends))
            found = torch.autograd.grad(values, [leaves[k] for k in wanted], grad[i, j], allow_unused=True)
            for k, part in zip(wanted, found, strict=True):
                if part is None:
                    continue
                total = totals[k]
                if total is None:
                    total = totals[k] = torch.zeros_like(tensors[k])
                total[places[k]] += part
        return None, *totals


def _leaves(tree: Projection) -> list[Tensor]:
    return [leaf for part in tree for leaf in _leaves(part)] if isinstance(tree, tuple) else [tree]


def _skeleton(tree: Projection) -> Any:
    return tuple(_skeleton(part) for part in tree) if isinstance(tree, tuple) else None


def _nest(leaves: Iterator[Tensor], skeleton: Any) -> Projection:
    return next(leaves) if skeleton is None else tuple(_nest(leaves, part) for part in skeleton)


def _take(tree: Projection, rows: slice) -> Projection:
    return tuple(_take(part, rows) for part in tree) if isinstance(tree, tuple) else tree[rows]
