"""The points of an index in the order of its leaves; grows and shrinks."""

from __future__ import annotations

import torch
from torch import Tensor

from trimetric._support import checks
from trimetric.search.contents import Contents
from trimetric.search.definition import Definition, PointDistance
from trimetric.search.leaves import Leaves, split_into_leaves
from trimetric.search.pivots import PivotDistances, Pivots, choose_pivots
from trimetric.search.rounding import Rounding

PIVOTS = 16
LEAF_SIZE = 256
# New points wait in leaves of their own until they are this part of all, then the index is built anew.
MOST_WAITING = 0.25


class Store:
    """Points, leaves and pivots.  `Store.build` makes one.

    Args:
        head: the distance between points.
        settings: `symmetric`, `pivots`, `leaf_size` and `seed`.
    """

    def __init__(self, head: PointDistance, *, symmetric: bool, pivots: int, leaf_size: int, seed: int) -> None:
        self.head, self.symmetric = head, symmetric
        self.pivot_count, self.leaf_size, self.seed = pivots, leaf_size, seed
        self.points: Tensor
        self.ids: Tensor
        self.alive: Tensor
        self.keys: Tensor | None
        self.leaves: Leaves
        self.pivots: Pivots
        self.settled = 0
        self.waiting: PivotDistances
        self.next_id = 0
        self.scale = 0.0
        self._contents: tuple[tuple[object, ...], Contents] | None = None

    @classmethod
    def build(
        cls,
        head: PointDistance,
        points: Tensor,
        *,
        symmetric: bool,
        pivots: int,
        leaf_size: int,
        seed: int,
        keys: Tensor | None = None,
    ) -> Store:
        """Choose pivots, measure all points and put them into leaves.

        Args:
            head: the distance between points.
            points: `(n, dim)`.
            symmetric: whether d(x, y) = d(y, x).
            pivots: the number of pivots.
            leaf_size: the most points of a leaf.
            seed: of the choice of pivots.
            keys: numbers by which objects are known again.
        """
        store = cls(head, symmetric=symmetric, pivots=pivots, leaf_size=leaf_size, seed=seed)
        _check_points("points", points, points.shape[-1], points.dtype)
        store.ids, store.next_id = torch.arange(len(points)), len(points)
        store.keys = keys
        store.points, store.alive = points, torch.ones(len(points), dtype=torch.bool)
        store._rebuild()
        return store

    def _rebuild(self) -> None:
        """Put all points that are alive into new leaves."""
        keep = self.alive.nonzero()[:, 0]
        points, ids = self.points[keep], self.ids[keep]
        keys = None if self.keys is None else self.keys[keep]
        self.prepare(points, None)
        measured = self.pivots.measure(points)
        order, sizes = split_into_leaves(measured.coordinates, self.leaf_size)
        self.leaves = Leaves.of(measured.rows(order), sizes)
        self.points, self.ids, self.keys = points[order], ids[order], None if keys is None else keys[order]
        self.alive = torch.ones(len(points), dtype=torch.bool)
        self.settled, self.waiting = len(points), measured.rows(slice(0, 0))
        self.scale = measured.scale

    def prepare(self, points: Tensor, pivots: Tensor | None) -> None:
        """Make what computes distances.

        Args:
            points: all of them.
            pivots: the points that are pivots; None to choose some.
        """
        self.definition = Definition(self.head, points[:4] if len(points) else points.new_zeros(1, points.shape[1]))
        work_dtype = torch.float64 if self.definition.wide else points.dtype
        work = self.definition.distance
        if pivots is None:
            some = len(points) > 0
            rows = choose_pivots(work, points, self.pivot_count, dtype=work_dtype, seed=self.seed) if some else []
            pivots = points[rows]
        self.pivots = Pivots(work, pivots, symmetric=self.symmetric, dtype=work_dtype)
        self.rounding = Rounding(self.head, self.definition, points, seed=self.seed)

    @property
    def contents(self) -> Contents:
        """What a search reads; the same object as long as the index does not change."""
        parts = (self.points, self.ids, self.alive, self.leaves, self.pivots)
        if self._contents is not None and all(
            one is other for one, other in zip(parts, self._contents[0], strict=True)
        ):
            return self._contents[1]
        contents = Contents(
            self.points,
            self.ids,
            self.alive,
            self.leaves,
            self.pivots,
            self.head,
            self.definition,
            self.rounding,
            self.scale,
        )
        self._contents = parts, contents
        return contents

    @property
    def alive_count(self) -> int:
        """The number of points that are not deleted."""
        return self.contents.alive_count

    @property
    def nbytes(self) -> int:
        """Bytes of all tensors."""
        kept = (self.points, self.ids, self.alive, self.leaves.low, self.leaves.high, self.leaves.starts)
        more = (self.pivots.points, self.waiting.to, *(() if self.keys is None else (self.keys,)))
        return sum(tensor.nbytes for tensor in (*kept, *more))

    def check(self, name: str, points: Tensor) -> None:
        """Refuse points that are not like those of the index."""
        _check_points(name, points, self.points.shape[1], self.points.dtype)

    def insert(self, points: Tensor, keys: Tensor | None) -> Tensor:
        """Add points in leaves of their own, or build anew if too many wait there.

        Args:
            points: `(m, dim)`.
            keys: numbers by which their objects are known again.

        Returns:
            Their ids.
        """
        self.check("points", points)
        ids = torch.arange(self.next_id, self.next_id + len(points))
        if not len(points):
            return ids
        measured = self.pivots.measure(points) if len(self.pivots) else None
        self.next_id += len(points)
        self.points, self.ids = torch.cat([self.points, points]), torch.cat([self.ids, ids])
        self.alive = torch.cat([self.alive, torch.ones(len(points), dtype=torch.bool)])
        if self.keys is not None and keys is not None:
            self.keys = torch.cat([self.keys, keys])
        waiting = len(self.points) - self.settled
        if measured is None or waiting > max(self.leaf_size, MOST_WAITING * self.settled):
            self._rebuild()
            return ids
        self.waiting = self.waiting.join(measured)
        self.scale = max(self.scale, measured.scale)
        order, sizes = split_into_leaves(self.waiting.coordinates, self.leaf_size)
        self.waiting = self.waiting.rows(order)
        for name in ("points", "ids", "alive", "keys"):
            whole = getattr(self, name)
            if whole is not None:
                setattr(self, name, torch.cat([whole[: self.settled], whole[self.settled :][order]]))
        self.leaves = self._settled_leaves().join(Leaves.of(self.waiting, sizes))
        return ids

    def _settled_leaves(self) -> Leaves:
        number = int((self.leaves.starts[1:] <= self.settled).sum())
        return Leaves(self.leaves.starts[: number + 1], self.leaves.low[:, :number], self.leaves.high[:, :number])

    def delete(self, ids: Tensor) -> None:
        """Remove points; build anew if half of them are gone.

        Args:
            ids: of the points.
        """
        positions = self.positions_of("ids", ids)
        self.alive = self.alive.clone()
        self.alive[positions] = False
        if 2 * self.alive_count < len(self.points):
            self._rebuild()

    def positions_of(self, name: str, ids: Tensor) -> Tensor:
        """Where points are, by their ids."""
        if not len(self.ids):
            if len(ids):
                raise ValueError(f"{name}: expected ids of points of this index, got {ids.tolist()[:3]}")
            return ids
        known, order = self.ids.sort()
        place = torch.searchsorted(known, ids).clamp(max=len(known) - 1)
        positions = order[place]
        wrong = (known[place] != ids) | ~self.alive[positions]
        if bool(wrong.any()):
            raise ValueError(f"{name}: expected ids of points of this index, got {int(ids[wrong][0])}")
        return positions

    def points_of(self, ids: Tensor) -> Tensor:
        """The points of ids."""
        return self.points[self.positions_of("queries", ids)]

    def same_as_known(self, keys: Tensor, points: Tensor) -> Tensor:
        """Replace the points of objects that are in the index by those that are there."""
        if self.keys is None or not len(self.keys):
            return points
        known, order = self.keys.sort()
        place = torch.searchsorted(known, keys).clamp(max=len(known) - 1)
        same = known[place] == keys
        return torch.where(same[:, None], self.points[order[place]], points)


def _check_points(name: str, points: Tensor, dim: int, dtype: torch.dtype) -> None:
    if points.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"{name}: expected float32 or float64, got {points.dtype}")
    if points.dtype != dtype or points.shape[-1] != dim:
        raise ValueError(f"{name}: expected {dim} columns of {dtype}, got {points.shape[-1]} of {points.dtype}")
    checks.finite(name, points)
