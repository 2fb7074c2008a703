"""An index of points: exact neighbors by any distance that keeps the triangle inequality."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from trimetric._support import checks
from trimetric.search.answers import in_range_of, neighbors_of
from trimetric.search.arguments import (
    Direction,
    as_objects,
    given_objects,
    is_names,
    is_outgoing,
    radii,
    rows_of,
    with_new_names,
)
from trimetric.search.files import load_index, save_index
from trimetric.search.results import InRange, Neighbors, named
from trimetric.search.searching import Search
from trimetric.search.store import LEAF_SIZE, PIVOTS, Store
from trimetric.search.subject import Check, Searched, Subject, subject_of


class Index:
    r"""Exact search among points with any distance that keeps the triangle inequality, asymmetric ones included.

    For a pivot p, $d(q, x) \ge d(q, p) - d(x, p)$ and $d(q, x) \ge d(p, x) - d(p, q)$.  Points are grouped into leaves
    by their distances to and from a few pivots; the bounds exclude most leaves, and the distances to the points of
    the others are computed block by block.  The distances of all candidates are computed once more by the definition,
    in float64, and rounded: these are the distances that are returned.  Among equal distances the smaller id comes
    first.

    Args:
        distance: a norm, distance, `Siamese` or `Model` that promises the triangle inequality, or a function of two
            broadcastable tensors, which is audited on some of the points first.  A module is copied.
        points: `(n, dim)`; for a `Siamese` n objects along the first axis; for a `Model` names of its objects, by
            default all of them.  Float32 or float64.
        pivots: number of pivots; fewer are used if there are fewer different points.
        leaf_size: the largest number of points in a leaf.
        check: "promise" trusts the axioms of a distance and audits functions; "audit" always measures the triangle
            inequality on 300 points, and accepts a distance that does not promise it if no triple breaks it.
        seed: of the choice of pivots and of points for the audit.

    Raises:
        ValueError: if the triangle inequality is neither promised nor holds in the audit; the message names the points.

    Examples:
        >>> import torch, trimetric as tm
        >>> _ = torch.manual_seed(0)
        >>> points = torch.randn(1000, 8)
        >>> index = tm.search.Index(tm.IntervalQuasimetric(8), points)
        >>> found = index.nearest(points[:2], k=3)
        >>> found.ids[:, 0], found.distances[:, 0]
        (tensor([0, 1]), tensor([0., 0.]))
        >>> index.nearest(points[:2], k=3, direction="to").ids.shape
        torch.Size([2, 3])
    """

    def __init__(
        self,
        distance: Searched,
        points: Tensor | np.ndarray | Sequence[str] | None = None,
        *,
        pivots: int = PIVOTS,
        leaf_size: int = LEAF_SIZE,
        check: Check = "promise",
        seed: int = 0,
    ) -> None:
        checks.positive_int("pivots", pivots)
        checks.positive_int("leaf_size", leaf_size)
        checks.seed("seed", seed)
        names, objects = given_objects(distance, points)
        self.subject: Subject = subject_of(distance, lambda: objects, check=check, seed=seed)
        self.names: list[str] | None = names
        embedded = self.subject.embed(objects, name="points").cpu()
        self.store = Store.build(
            self.subject.head,
            embedded,
            symmetric=self.subject.symmetric,
            pivots=pivots,
            leaf_size=leaf_size,
            seed=seed,
            keys=self.subject.keys(objects),
        )

    @classmethod
    def _of(cls, subject: Subject, store: Store, names: list[str] | None) -> Index:
        index = cls.__new__(cls)
        index.subject, index.store, index.names = subject, store, names
        return index

    def __len__(self) -> int:
        return self.store.alive_count

    def __repr__(self) -> str:
        store = self.store
        return f"Index({len(self)} points, {len(store.pivots)} pivots, {len(store.leaves)} leaves)"

    @property
    def guarantee(self) -> str:
        """Why the answers are exact: why the triangle inequality holds, and how rounding is bounded."""
        rounding = self.store.rounding
        how = "rounding is proven" if rounding.proven else f"rounding is measured ({rounding.why})"
        return f"{self.subject.guarantee}; {how}" if len(self.store.points) else self.subject.guarantee

    @property
    def ids(self) -> Any:
        """The ids of all points, in increasing order; the names of an index of a `Model`."""
        return named(self.store.ids[self.store.alive].sort().values, self.names)

    @property
    def bytes_per_point(self) -> float:
        """Memory of the index, the points included, for each point."""
        return self.store.nbytes / max(1, len(self))

    def nearest(
        self,
        queries: Tensor | np.ndarray | Sequence[str],
        k: int = 10,
        *,
        direction: Direction = "from",
        slack: float = 0.0,
        most_leaves: int | None = None,
    ) -> Neighbors:
        """Find the k nearest points of each query.

        Args:
            queries: `(n, dim)`; objects for a `Siamese`; objects or names for a `Model`.
            k: the number of neighbors; all points if there are fewer.
            direction: "from" takes the distances from a query to the points, "to" those from the points to the query.
            slack: how much farther than the true neighbors the returned ones may be, as a fraction: 0.1 for at most
                10%.  Fewer distances are computed then.  The default is exact.
            most_leaves: the largest number of leaves to visit for each query, without any guarantee;
                `leaves_for_recall` finds a suitable number.

        Returns:
            The ids and distances `(n, min(k, points))`.

        Examples:
            >>> import torch, trimetric as tm
            >>> model = tm.Model(tm.NormInduced(tm.Euclidean(1)), ["a", "b", "c"], torch.tensor([[0.0], [5.0], [6.0]]))
            >>> tm.search.Index(model).nearest(["c"], k=2).ids.tolist()
            [['c', 'b']]
        """
        checks.positive_int("k", k)
        checks.finite_number("slack", slack, at_least=0)
        if most_leaves is not None:
            checks.positive_int("most_leaves", most_leaves)
        points = self._query_points(queries)
        found = list(
            Search(self.store.contents, outgoing=is_outgoing(direction), k=k, slack=slack, most_leaves=most_leaves).run(
                points
            )
        )
        guarantee = self.guarantee
        if slack:
            guarantee += f"; each distance is at most {1 + slack:g} times that of the right neighbor of its rank"
        if most_leaves is not None:
            guarantee = f"none: at most {most_leaves} leaves were visited for a query"
        return neighbors_of(found, self.store, self.names, width=min(k, len(self)), guarantee=guarantee)

    def within(
        self,
        queries: Tensor | np.ndarray | Sequence[str],
        radius: float | Tensor | np.ndarray | Sequence[float],
        *,
        direction: Direction = "from",
    ) -> InRange:
        """Find all points within a radius of each query.

        Args:
            queries: as for `nearest`.
            radius: the largest distance that is found, one for all queries or a sequence with one for each.
            direction: "from" takes the distances from a query to the points, "to" those from the points to the query.

        Returns:
            The ids and distances of each query, nearest first.

        Examples:
            >>> import torch, trimetric as tm
            >>> index = tm.search.Index(tm.Euclidean(1), torch.tensor([[0.0], [5.0], [6.0]]))
            >>> index.within(torch.tensor([[5.5], [2.0]]), 2.5).counts
            tensor([2, 1])
        """
        points = self._query_points(queries)
        search = Search(self.store.contents, outgoing=is_outgoing(direction))
        found = list(search.run(points, radii(radius, points)))
        return in_range_of(found, self.store, self.names, guarantee=self.guarantee)

    def insert(self, points: Tensor | np.ndarray, names: Sequence[str] | None = None) -> Any:
        """Add points.  Many at once are cheaper: each call copies the index.

        Args:
            points: as those of the index; for a `Model` objects as its network reads them.
            names: of the new points, for an index of a `Model`.

        Returns:
            Their ids, the next numbers after those of the index; for an index of a `Model` their names.

        Examples:
            >>> import torch, trimetric as tm
            >>> index = tm.search.Index(tm.Euclidean(1), torch.tensor([[0.0], [5.0]]))
            >>> index.insert(torch.tensor([[4.0]])).tolist()
            [2]
            >>> index.nearest(torch.tensor([[4.1]]), k=1).ids.tolist()
            [[2]]
        """
        objects = as_objects("points", points, self.subject.network)
        known = with_new_names(self.names, names, len(objects))
        embedded = self._known(objects, self.subject.embed(objects, name="points").cpu())
        self.store.check("points", embedded)
        subject = self.subject.with_points(self.store.points[self.store.alive], embedded)
        ids = self.store.insert(embedded, self.subject.keys(objects))
        self.subject, self.names = subject, known
        return named(ids, known)

    def delete(self, ids: Tensor | np.ndarray | Sequence[int] | Sequence[str]) -> None:
        """Remove points.  Their ids are not used again.

        Args:
            ids: of the points; names for an index of a `Model`.

        Raises:
            ValueError: if there is no such point.

        Examples:
            >>> import torch, trimetric as tm
            >>> index = tm.search.Index(tm.Euclidean(1), torch.tensor([[0.0], [5.0]]))
            >>> index.delete([0])
            >>> index.nearest(torch.tensor([[0.1]])).ids.tolist()
            [[1]]
        """
        self.store.delete(self._rows("ids", ids))

    def save(self, path: Path | str) -> Path:
        """Write the index with its distance to one file, completely or not at all.

        Args:
            path: the file to write or replace.

        Returns:
            The path of the file.

        Raises:
            TypeError: if the distance is a function, which no file can hold.
        """
        return save_index(self.subject, self.store, self.names, checks.path("path", path))

    @classmethod
    def load(cls, path: Path | str, *, verify: bool = True) -> Index:
        """Read a file that `save` wrote.  Nothing in it is executed.  The points stay on the disk until they are used.

        Args:
            path: the file.
            verify: whether to read all of it at once and compare its checksum.

        Returns:
            The index, ready for use.

        Raises:
            CheckpointError: if the file is damaged or not an index.

        Examples:
            >>> import tempfile, torch, trimetric as tm
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     file = tm.search.Index(tm.Euclidean(1), torch.tensor([[0.0], [5.0]])).save(f"{folder}/points.index")
            ...     tm.search.Index.load(file).nearest(torch.tensor([[4.0]]), k=1).ids.tolist()
            [[1]]
        """
        return cls._of(*load_index(checks.path("path", path), verify=checks.boolean("verify", verify)))

    def _query_points(self, queries: Tensor | np.ndarray | Sequence[str]) -> Tensor:
        """The points of queries, in the dtype of the index."""
        if is_names(queries):
            rows = self._rows("queries", queries)
            deleted = ~torch.isin(rows, self.store.ids[self.store.alive])
            if bool(deleted.any()):
                raise ValueError(f"queries: {queries[int(deleted.int().argmax())]!r} has been deleted from this index")
            return self.store.points_of(rows)
        objects = as_objects("queries", queries, self.subject.network)
        points = self._known(objects, self.subject.embed(objects, name="queries").cpu())
        self.store.check("queries", points)
        return points

    def _known(self, objects: Tensor, points: Tensor) -> Tensor:
        """Equal objects have one point, even if the encoder rounds them differently in another batch."""
        keys = self.subject.keys(objects)
        return points if keys is None else self.store.same_as_known(keys, points)

    def _rows(self, name: str, ids: Any) -> Tensor:
        return rows_of(name, ids, self.names)
