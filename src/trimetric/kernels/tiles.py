"""Pooled distances of all pairs, tile by tile, so that no component of a pair leaves the cache.

Points come in as NumPy arrays `(n, k * w)`.  Rows are taken a few at a time and columns 256 at a time; for each tile a
loop in machine code writes the components and another one pools them.  The backward pass computes each tile again.
Threads take blocks of rows.  Imported on first use, because it imports numba.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from trimetric.kernels import interval_tiles, rectified_tiles, tile_rows
from trimetric.kernels.machine_code import run_on_rows, thread_limit
from trimetric.kernels.tile_pooling import SCRATCH_ROWS

WIDTH = 256  # columns of a tile: what a component's loop reads of them stays in the fastest cache
# Coordinates of the columns of a tile: they stay in the second fastest cache, and with gradients the loops are longer.
COLUMN_FLOATS, COLUMN_FLOATS_WITH_GRADIENTS = 1 << 17, 1 << 18
TILE_FLOATS = 1 << 15  # components of a tile: they stay in that cache, too
LINE = 64  # bytes of a line of the cache
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


KINDS = {
    "rectified": tile_rows.RECTIFIED,
    "relu": tile_rows.RELU,
    "absolute": tile_rows.ABSOLUTE,
    "interval": tile_rows.INTERVAL,
}


class Tiles:
    """All pairs of two sets of points in tiles.

    Args:
        kind: a key of `KINDS`.
        a: the rows (n, k * w).
        b: the columns (m, k * w).
        k: number of components.
        gradients: whether gradients will be asked for; without them narrower tiles are faster.
    """

    def __init__(self, kind: str, a: Tensor, b: Tensor, k: int, *, gradients: bool) -> None:
        self.kind, self.k = KINDS[kind], k
        self.n, self.m, self.given = len(a), len(b), a.shape[1]
        self.width = _tile_width(self.m, self.given, COLUMN_FLOATS_WITH_GRADIENTS if gradients else COLUMN_FLOATS)
        self.height = max(ROWS, TILE_FLOATS // (k * self.width) // ROWS * ROWS)
        a, b = self._pad_coordinates(a, kind), self._pad_coordinates(b, kind)
        self.size = a.shape[1] // k
        self.rows, self.order = _pad_rows(a, ROWS).numpy(), np.empty((0, 0), dtype=np.int32)
        if kind == "interval":
            self.rows, self.order = _sort_groups(self.rows, self.size)
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

    def _run(self, work: Callable[[int, int], None]) -> None:
        """Run `work(first, last)` on blocks of rows that start at multiples of ROWS."""
        run_on_rows(lambda first, last: work(first * ROWS, min(last * ROWS, self.n)), -(-self.n // ROWS), at_least=4)

    def distances(self, ending: Ending) -> Tensor:
        """Compute the distances (n, m)."""
        out = np.empty((self.n, self.m), dtype=self.dtype)

        def work(first: int, last: int) -> None:
            spaces = self._spaces("components")
            given: list[Any] = [*self._given(first, last), *ending, *spaces, *self._scratch(), out]
            tile_rows.distances_of_rows(*given)

        self._run(work)
        return torch.from_numpy(out)

    def gradients(self, ending: Ending, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Compute the gradients of rows, columns, slopes, offsets and alpha."""
        pulled = grad.contiguous().numpy()
        to_rows, lock, spare = np.zeros_like(self.rows), threading.Lock(), []
        sums = [np.zeros(shape) for shape in (ending.slope.shape, ending.offset.shape, (1,))]

        def work(first: int, last: int) -> None:
            with lock:
                to_columns = spare.pop() if spare else self._no_gradients()
            parts = [np.zeros_like(total) for total in sums]
            spaces = self._spaces("components", "pulls")
            found = (to_rows, to_columns, *parts)
            given: list[Any] = [*self._given(first, last), *ending, *spaces, *self._scratch(), pulled, *found]
            tile_rows.gradients_of_rows(*given)
            with lock:
                spare.append(to_columns)
                for total, part in zip(sums, parts, strict=True):
                    total += part

        self._run(work)
        to_b = sum(spare[1:], start=spare[0]) if spare else self._no_gradients()
        grad_a = self._unpadded(torch.from_numpy(to_rows)[: self.n])
        grad_b = self._unpadded(torch.from_numpy(to_b).mT.flatten(0, 1)[: self.m])
        slope, offset, alpha = (torch.from_numpy(total).to(grad_a.dtype) for total in sums)
        return grad_a, grad_b, slope, offset, alpha.squeeze(0)

    def _no_gradients(self) -> np.ndarray:
        zeros = _aligned(self.columns.shape, self.dtype)
        zeros.fill(0)
        return zeros

    def _given(self, first: int, last: int) -> tuple[Any, ...]:
        return self.kind, self.rows, self.order, self.columns, first, last, self.height

    def _spaces(self, *slots: str) -> list[np.ndarray]:
        return [_space(slot, self.k * self.height * self.width, self.dtype) for slot in slots]

    def _scratch(self) -> tuple[np.ndarray, np.ndarray]:
        reach = np.zeros((self.size + 2, self.width), dtype=self.dtype)
        return reach, _aligned((SCRATCH_ROWS, self.width), self.dtype)


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
        kept = _aligned((size,), dtype)
        setattr(_local, slot, kept)
    return kept


def _aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Memory that starts where a line of the cache does, so that no vector lies in two of them."""
    size = math.prod(shape)
    memory = np.empty(size * dtype.itemsize + LINE, dtype=np.uint8)
    first = -memory.ctypes.data % LINE
    return memory[first : first + size * dtype.itemsize].view(dtype).reshape(shape)


def _tile_width(m: int, coordinates: int, floats: int) -> int:
    """Columns of a tile: at most WIDTH, and so few that they have at most so many coordinates."""
    most = min(WIDTH, max(LANES, floats // max(1, coordinates) // LANES * LANES))
    even = -(-m // -(-m // most))
    return -(-even // LANES) * LANES


def _sort_groups(a: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    starts, order = np.empty_like(a), np.empty(a.shape, dtype=np.int32)
    interval_tiles.sort_groups(a, _in_tiles(a, min(WIDTH, -(-len(a) // LANES) * LANES)), size, order, starts)
    return starts, order


def _in_tiles(b: np.ndarray, width: int) -> np.ndarray:
    """Arrange points (m, size) in tiles (m / width, size, width), the last one filled up with its last point."""
    tiles = _aligned((-(-len(b) // width), b.shape[1], width), b.dtype)
    rectified_tiles.transpose_to_tiles(b, tiles)
    return tiles


def _pad_rows(points: Tensor, multiple: int) -> Tensor:
    """Repeat the last row until the number of rows is a multiple; repeated, so that no new values come in."""
    missing = -len(points) % multiple
    return torch.cat([points, points[-1:].expand(missing, -1)]) if missing else points
