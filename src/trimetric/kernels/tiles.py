"""Pooled distances of all pairs, tile by tile, so that no component of a pair leaves the cache.

Points come in as NumPy arrays `(n, k * w)`.  Rows are taken a few at a time and columns 256 at a time; for each tile a
loop in machine code writes the components and another one pools them.  The backward pass computes each tile again.
Threads take blocks of rows.  Imported on first use, because it imports numba.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from trimetric.kernels import interval_tiles, rectified_tiles
from trimetric.kernels.machine_code import run_on_rows, thread_limit
from trimetric.kernels.tile_pooling import SCRATCH_ROWS, pool_tile
from trimetric.kernels.tile_pulling import pull_tile

WIDTH = 256  # columns of a tile: what a component's loop reads of them stays in the fastest cache
TILE_FLOATS = 1 << 17  # components of a tile: they stay in the second fastest one
LANES, ROWS, COORDINATES = 32, 4, 4  # sizes are padded to multiples of these


_local = threading.local()


class Ending(NamedTuple):
    """What turns components into a distance.

    Attributes:
        slope: (k, u) slopes of the lines whose minimum each component goes through; (k, 0) for none.
        offset: (k, u) their offsets.
        kind: MEAN, MAX or MAXMEAN of `trimetric.kernels.tile_pooling`.
        alpha: the weight of the largest component in a MAXMEAN.
    """

    slope: np.ndarray
    offset: np.ndarray
    kind: int
    alpha: float


class _Loops:
    """The loops of one kind of component; `rows` are arrays that `prepare` has made of the rows."""

    def __init__(self, write: Callable[..., None], add_gradient: Callable[..., None]) -> None:
        self._write, self._add_gradient = write, add_gradient

    def prepare(self, a: np.ndarray, size: int) -> tuple[np.ndarray, ...]:  # noqa: ARG002
        return (a,)

    def scratch(self, size: int, width: int, dtype: Any) -> tuple[np.ndarray, ...]:  # noqa: ARG002
        return ()

    def components(self, rows: Any, i0: int, b: np.ndarray, out: np.ndarray, scratch: Any) -> None:
        self._write(*rows, i0, b, out, *scratch)

    def gradient(self, rows: Any, i0: int, b: Any, tile: Any, pulls: Any, to_a: Any, to_b: Any, scratch: Any) -> None:
        self._add_gradient(*rows, i0, b, tile, pulls, to_a, to_b, *scratch)


class _IntervalLoops(_Loops):
    def prepare(self, a: np.ndarray, size: int) -> tuple[np.ndarray, ...]:
        starts, order = np.empty_like(a), np.empty(a.shape, dtype=np.int32)
        interval_tiles.sort_groups(a, _in_tiles(a, min(WIDTH, -(-len(a) // LANES) * LANES)), size, order, starts)
        return starts, order

    def scratch(self, size: int, width: int, dtype: Any) -> tuple[np.ndarray, ...]:
        return (np.zeros((size + 2, width), dtype=dtype),)


LOOPS = {
    "rectified": _Loops(rectified_tiles.rectified_tile, rectified_tiles.rectified_gradient),
    "relu": _Loops(rectified_tiles.relu_tile, rectified_tiles.relu_gradient),
    "absolute": _Loops(rectified_tiles.absolute_tile, rectified_tiles.absolute_gradient),
    "interval": _IntervalLoops(interval_tiles.interval_tile, interval_tiles.interval_gradient),
}


class Tiles:
    """All pairs of two sets of points in tiles.

    Args:
        kind: a key of `LOOPS`.
        a: the rows (n, k * w).
        b: the columns (m, k * w).
        k: number of components.
    """

    def __init__(self, kind: str, a: Tensor, b: Tensor, k: int) -> None:
        self.loops, self.k = LOOPS[kind], k
        self.n, self.m, self.given = len(a), len(b), a.shape[1]
        width = min(WIDTH, -(-self.m // -(-self.m // WIDTH)))
        self.width = -(-width // LANES) * LANES
        self.height = max(ROWS, TILE_FLOATS // (k * self.width) // ROWS * ROWS)
        a, b = self._pad_coordinates(a, kind), self._pad_coordinates(b, kind)
        self.size = a.shape[1] // k
        self.rows = self.loops.prepare(_pad_rows(a, ROWS).numpy(), self.size)
        # One copy of all columns, as every thread reads them.
        self.columns = _in_tiles(b.numpy(), self.width)
        self.dtype = self.columns.dtype

    def _pad_coordinates(self, points: Tensor, kind: str) -> Tensor:
        points, size = points.detach(), self.given // self.k
        missing = 0 if kind in ("relu", "absolute") else -size % COORDINATES
        if not missing:
            return points.contiguous()
        groups = points.unflatten(-1, (self.k, size))
        return torch.nn.functional.pad(groups, (0, missing)).flatten(1)

    def _unpadded(self, points: Tensor) -> Tensor:
        return points.unflatten(-1, (self.k, self.size))[..., : self.given // self.k].flatten(1)

    def _blocks(self, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """Tile number, first row and height for each tile of the rows from `first` to `last`."""
        for tile in range(len(self.columns)):
            for i in range(first, last, self.height):
                yield tile, i, min(self.height, -(-(last - i) // ROWS) * ROWS)

    def _run(self, work: Callable[[int, int], None]) -> None:
        """Run `work(first, last)` on blocks of rows that start at multiples of ROWS."""
        run_on_rows(lambda first, last: work(first * ROWS, min(last * ROWS, self.n)), -(-self.n // ROWS), at_least=4)

    def distances(self, ending: Ending) -> Tensor:
        """Compute the distances (n, m)."""
        out = np.empty((self.n, self.m), dtype=self.dtype)

        def work(first: int, last: int) -> None:
            own, scratch = self._scratch()
            space = _space("components", self.k * self.height * self.width, self.dtype)
            for tile, i, height in self._blocks(first, last):
                components = space[: self.k * height * self.width].reshape(self.k, height, self.width)
                self.loops.components(self.rows, i, self.columns[tile], components, own)
                pool_tile(components, *ending, out[:last], i, tile * self.width, scratch)

        self._run(work)
        return torch.from_numpy(out)

    def gradients(self, ending: Ending, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Compute the gradients of rows, columns, slopes, offsets and alpha."""
        pulled = grad.contiguous().numpy()
        to_rows, lock, spare = np.zeros_like(self.rows[0]), threading.Lock(), []
        sums = [np.zeros(shape) for shape in (ending.slope.shape, ending.offset.shape, (1,))]

        def work(first: int, last: int) -> None:
            with lock:
                to_columns = spare.pop() if spare else np.zeros_like(self.columns)
            own, scratch = self._scratch()
            size = self.k * self.height * self.width
            spaces = [_space(slot, size, self.dtype) for slot in ("components", "pulls")]
            parts = [np.zeros_like(total) for total in sums]
            for tile, i, height in self._blocks(first, last):
                components, pulls = (s[: self.k * height * self.width].reshape(self.k, height, -1) for s in spaces)
                columns = self.columns[tile]
                self.loops.components(self.rows, i, columns, components, own)
                to_slope, to_offset, to_alpha = parts
                pull_tile(
                    components,
                    *ending,
                    pulled[:last],
                    i,
                    tile * self.width,
                    pulls,
                    to_slope,
                    to_offset,
                    to_alpha,
                    scratch,
                )
                self.loops.gradient(self.rows, i, columns, components, pulls, to_rows, to_columns[tile], own)
            with lock:
                spare.append(to_columns)
                for total, part in zip(sums, parts, strict=True):
                    total += part

        self._run(work)
        to_b = sum(spare[1:], start=spare[0]) if spare else np.zeros_like(self.columns)
        grad_a = self._unpadded(torch.from_numpy(to_rows)[: self.n])
        grad_b = self._unpadded(torch.from_numpy(to_b).mT.flatten(0, 1)[: self.m])
        slope, offset, alpha = (torch.from_numpy(total).to(grad_a.dtype) for total in sums)
        return grad_a, grad_b, slope, offset, alpha.squeeze(0)

    def _scratch(self) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        own = self.loops.scratch(self.size, self.width, self.dtype)
        return own, np.empty((SCRATCH_ROWS, self.width), dtype=self.dtype)


def tile_bytes(k: int, size: int, width: int, element_size: int) -> int:
    """About how many bytes all threads need beside points, distances and their gradients."""
    columns = min(WIDTH, max(LANES, width))
    return (
        thread_limit() * element_size * (2 * max(TILE_FLOATS, ROWS * k * columns) + columns * (size + SCRATCH_ROWS + 2))
    )


def _space(slot: str, size: int, dtype: Any) -> np.ndarray:
    """Memory that the thread uses again for the next matrix: fresh pages cost as much as the arithmetic on them."""
    kept = getattr(_local, slot, None)
    if kept is None or kept.size < size or kept.dtype != dtype:
        kept = np.empty(size, dtype=dtype)
        setattr(_local, slot, kept)
    return kept


def _in_tiles(b: np.ndarray, width: int) -> np.ndarray:
    """Arrange points (m, size) in tiles (m / width, size, width), the last one filled up with its last point."""
    tiles = np.empty((-(-len(b) // width), b.shape[1], width), dtype=b.dtype)
    rectified_tiles.transpose_to_tiles(b, tiles)
    return tiles


def _pad_rows(points: Tensor, multiple: int) -> Tensor:
    """Repeat the last row until the number of rows is a multiple; repeated, so that no new values come in."""
    missing = -len(points) % multiple
    return torch.cat([points, points[-1:].expand(missing, -1)]) if missing else points
