"""The distances of all pairs: fast, in bounded memory, and differentiable."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from trimetric import checks
from trimetric.distances import Distance, as_distance
from trimetric.norms import Norm
from trimetric.siamese import Siamese

# Differences of projections lose digits where ||y - x||^2 <= CLOSE (||x||^2 + ||y||^2), x and y centred: at most
# 4 bits elsewhere.  Closer pairs, equal ones among them, are computed again by the definition, from the
# points as they came (centring costs digits too).
CLOSE = 1 / 256
# Blocks of more numbers than this leave the cache; smaller ones spend their time on starting threads.
BLOCK_FLOATS = 1 << 22
MIN_WIDTH = 512  # columns: the innermost loops run over them
# Below this many numbers the definition is done before a fast path has started.
SMALL_FLOATS = 1 << 20

DistanceFunction = Callable[[Tensor, Tensor], Tensor]


def all_pairs(
    distance: Norm | Distance | Siamese | DistanceFunction,
    x: Tensor,
    y: Tensor | None = None,
    *,
    max_memory: int | str = "256MiB",
) -> Float[Tensor, "n m"]:
    """The matrix of `distance(x[i], y[j])`, with `y = x` by default.

    Works block by block.  Where a gradient is needed and what autograd would keep exceeds `max_memory`,
    each block is computed again in the backward pass, so that memory stays bounded there too.

    Every norm of the package has a path that computes what belongs to one point once a point.  It agrees
    with the definition `distance(x[:, None], y[None])` to 1e-5 (relative, in float32), and equal rows have
    distance exactly 0.  Any other callable on broadcastable tensors goes through its definition.

    >>> import trimetric as tm
    >>> x = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    >>> tm.all_pairs(tm.Euclidean(2), x)
    tensor([[0., 5.],
            [5., 0.]])

    Args:
        distance: a distance, a norm (for the distance it induces), a `Siamese` (each object is encoded
            once), or any function of two broadcastable tensors.
        x: `(n, dim)`; for a `Siamese`, n objects along the first axis.
        y: `(m, dim)`.
        max_memory: bytes, or text such as "256MiB": about the most that is used beyond the inputs, their
            projections, the output and, with gradients, theirs.
    """
    budget = checks.byte_count("max_memory", max_memory)
    if isinstance(distance, Siamese):
        same = y is None or y is x
        x = distance.encoder(x)
        y = x if same else distance.encoder(y)
        distance = distance.distance
    elif isinstance(distance, Norm):
        distance = as_distance("distance", distance)
    elif not callable(distance):
        raise TypeError(
            f"distance: expected a Norm, Distance, Siamese or function of two tensors, got {type(distance).__name__}"
        )
    y = x if y is None else y
    _check_points(distance, x, y)
    if not isinstance(distance, Distance):
        return _in_blocks(_by_definition(distance), x, y, 16 * x.shape[1], budget)
    if len(x) * len(y) * distance.definition_floats <= SMALL_FLOATS:
        return _by_definition(distance)(x, y)
    centre = torch.cat([x.detach(), y.detach()]).mean(dim=0) if distance.splits else None
    rows = _project(distance, x, centre)
    columns = rows if x is y else _project(distance, y, centre)
    tensors = (x, y, *distance.parameters())
    with torch.set_grad_enabled(torch.is_grad_enabled() and any(t.requires_grad for t in tensors)):
        return _in_blocks(_by_projection(distance), rows, columns, distance.pair_floats, budget)


def _check_points(distance: Distance | DistanceFunction, x: Tensor, y: Tensor) -> None:
    for name, points in (("x", x), ("y", y)):
        checks.matrix(name, checks.floating_point(name, points))
        if isinstance(distance, Distance):
            checks.vectors(name, points, distance.dim)
    if x.shape[1] != y.shape[1] or x.dtype != y.dtype or x.device != y.device:
        raise ValueError(
            f"y: expected the last axis, dtype and device of x ({x.shape[1]}, {x.dtype}, {x.device}), "
            f"got ({y.shape[1]}, {y.dtype}, {y.device})"
        )


def _by_definition(distance: DistanceFunction) -> DistanceFunction:
    return lambda x, y: distance(x.unsqueeze(1), y.unsqueeze(0))


def _project(distance: Distance, x: Tensor, centre: Tensor | None) -> tuple[Any, ...]:
    if centre is None:
        return (distance.project(x),)
    centred = x - centre
    wide = centred.detach().to(torch.promote_types(x.dtype, torch.float32))
    return distance.project(centred), x, wide, wide.square().sum(dim=1)


def _by_projection(distance: Distance) -> Callable[[Any, Any], Tensor]:
    pool, pairs = distance.pool, distance.pairwise()

    def block(rows: tuple[Any, ...], columns: tuple[Any, ...]) -> Tensor:
        (px, *row_points), (py, *column_points) = rows, columns
        values = pool(pairs(px, py))
        if not distance.splits:
            return values
        (x, x_wide, x_squares), (y, y_wide, y_squares) = row_points, column_points
        bound = x_squares.unsqueeze(1) + y_squares
        squares = torch.addmm(bound, x_wide, y_wide.mT, alpha=-2)
        i, j = torch.le(squares, bound.mul_(CLOSE)).nonzero().unbind(1)
        return values.index_put((i, j), distance(x[i], y[j])) if len(i) else values

    return block


def _in_blocks(block: Callable[[Any, Any], Tensor], rows: Any, columns: Any, pair_floats: int, budget: int) -> Tensor:
    like = _first(rows)
    n, m = len(like), len(_first(columns))
    pair_bytes = (pair_floats + 4) * like.element_size()
    pairs = max(1, min(BLOCK_FLOATS // (pair_floats + 4), budget // (2 * pair_bytes)))
    width = max(1, min(m, pairs, max(math.isqrt(pairs), MIN_WIDTH)))
    height = max(1, pairs // width)
    if not torch.is_grad_enabled():
        out = like.new_empty(n, m)
        for i in range(0, n, height):
            for j in range(0, m, width):
                tile = block(_take(rows, i, height), _take(columns, j, width))
                out[i : i + height, j : j + width] = tile
        return out
    keep_all = n * m * pair_bytes <= budget
    strips = [like.new_empty(0, m)]
    for i in range(0, n, height):
        tiles = [like.new_empty(min(height, n - i), 0)]
        for j in range(0, m, width):
            ends = _take(rows, i, height), _take(columns, j, width)
            tiles.append(
                block(*ends) if keep_all else checkpoint(block, *ends, use_reentrant=False, preserve_rng_state=False)
            )
        strips.append(torch.cat(tiles, dim=1))
    return torch.cat(strips)


def _first(points: Any) -> Tensor:
    return _first(points[0]) if isinstance(points, tuple) else points


def _take(points: Any, start: int, count: int) -> Any:
    """A range of rows of nested tuples of tensors."""
    if isinstance(points, tuple):
        return tuple(_take(part, start, count) for part in points)
    return points[start : start + count]
