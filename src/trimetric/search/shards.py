"""More points than one machine holds: several index files, searched together."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from trimetric._support import checks
from trimetric._support.atomic import replacing
from trimetric._support.tensor_files import CheckpointError
from trimetric.search.arguments import Direction, as_objects, is_outgoing
from trimetric.search.index import Index
from trimetric.search.results import InRange, Neighbors, in_order
from trimetric.search.store import LEAF_SIZE, PIVOTS
from trimetric.search.subject import Check, Searched

LIST = "shards.json"
KEPT = 4  # index files that a process keeps open


@dataclass(frozen=True)
class Shards:
    """A folder of index files, searched as one index: the answers are the same.

    With a Dask client, the workers search the files; they must be able to read the folder.  If a worker dies, another
    worker searches its files.

    Args:
        folder: where the files are.
        starts: the id of the first point of each file, and the number of points at the end.

    Examples:
        >>> import tempfile, torch, trimetric as tm
        >>> points = torch.rand(100, 2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     shards = Shards.build(tm.IntervalQuasimetric(2), points, folder, number=3)
        ...     found = shards.nearest(points[:5], k=4)
        >>> bool((found.ids == tm.search.Index(tm.IntervalQuasimetric(2), points).nearest(points[:5], k=4).ids).all())
        True
    """

    folder: Path
    starts: tuple[int, ...]

    @classmethod
    def build(
        cls,
        distance: Searched,
        points: Tensor | np.ndarray,
        folder: Path | str,
        *,
        number: int,
        pivots: int = PIVOTS,
        leaf_size: int = LEAF_SIZE,
        check: Check = "promise",
        seed: int = 0,
    ) -> Shards:
        """Write an index of each part of the points, then the list of them; without the list there are no shards.

        Args:
            distance: as for `Index`, but no function, which no file can hold, and no `Model`.
            points: all of them; a memory-mapped array is read part by part.
            folder: to write to; it is made if there is none.
            number: of parts.
            pivots: as for `Index`.
            leaf_size: as for `Index`.
            check: as for `Index`.
            seed: as for `Index`.

        Returns:
            The shards, ready for use.
        """
        checks.positive_int("number", number)
        place = checks.path("folder", folder)
        place.mkdir(parents=True, exist_ok=True)
        (place / LIST).unlink(missing_ok=True)
        starts = tuple(len(points) * i // number for i in range(number + 1))
        for i in range(number):
            part = as_objects("points", points[starts[i] : starts[i + 1]], distance)
            Index(distance, part, pivots=pivots, leaf_size=leaf_size, check=check, seed=seed).save(_file(place, i))
        with replacing(place / LIST) as stream:
            stream.write(json.dumps({"format": "trimetric-shards-1", "starts": starts}).encode())
        return cls(place, starts)

    @classmethod
    def open(cls, folder: Path | str) -> Shards:
        """Open what `build` wrote.

        Args:
            folder: where the files are.

        Raises:
            CheckpointError: if the list of the files is missing or damaged.
        """
        place = checks.path("folder", folder)
        try:
            listed = json.loads((place / LIST).read_bytes())
            starts = tuple(listed["starts"]) if listed["format"] == "trimetric-shards-1" else ()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{place / LIST}: expected the list of shards, got none ({error})") from None
        if len(starts) < 2 or any(type(start) is not int for start in starts) or list(starts) != sorted(starts):
            raise CheckpointError(f"{place / LIST}: expected increasing numbers of points")
        return cls(place, starts)

    def __len__(self) -> int:
        return self.starts[-1]

    def nearest(
        self, queries: Tensor | np.ndarray, k: int = 10, *, direction: Direction = "from", client: Any = None
    ) -> Neighbors:
        """Find the k nearest points of each query.

        Args:
            queries: as for `Index.nearest`, but not by name.
            k: the number of neighbors.
            direction: as for `Index.nearest`.
            client: of a Dask cluster (`distributed.Client`); None searches one file after the other here.

        Returns:
            As `Index.nearest` of all points.
        """
        checks.positive_int("k", k)
        is_outgoing(direction)
        found = self._all(_nearest, client, queries, k, direction)
        ids = torch.cat([part.rows + start for part, start in zip(found, self.starts, strict=False)], dim=1)
        distances = torch.cat([part.distances for part in found], dim=1)
        rows = torch.arange(len(ids))[:, None].expand_as(ids)
        order = in_order(rows.flatten(), distances.flatten(), ids.flatten()).view(ids.shape)[:, :k]
        ids = ids.flatten()[order]
        return Neighbors(
            ids=ids,
            distances=distances.flatten()[order],
            rows=ids,
            computed=sum(part.computed for part in found),
            skipped=sum(part.skipped for part in found),
            guarantee=found[0].guarantee,
        )

    def within(
        self, queries: Tensor | np.ndarray, radius: float, *, direction: Direction = "from", client: Any = None
    ) -> InRange:
        """Find all points within a radius of each query.

        Args:
            queries: as for `Index.within`, but not by name.
            radius: the largest distance that is found.
            direction: as for `Index.within`.
            client: as for `nearest`.

        Returns:
            As `Index.within` of all points.
        """
        is_outgoing(direction)
        found = self._all(_within, client, queries, radius, direction)
        counts = torch.stack([part.counts for part in found])
        rows = torch.cat([torch.arange(len(part)).repeat_interleave(part.counts) for part in found])
        ids = torch.cat([part.rows + start for part, start in zip(found, self.starts, strict=False)])
        distances = torch.cat([part.distances for part in found])
        order = in_order(rows, distances, ids)
        return InRange(
            offsets=torch.cat([torch.zeros(1, dtype=torch.long), counts.sum(dim=0)]).cumsum(0),
            ids=ids[order],
            distances=distances[order],
            rows=ids[order],
            computed=sum(part.computed for part in found),
            skipped=sum(part.skipped for part in found),
            guarantee=found[0].guarantee,
        )

    def _all(self, search: Callable[..., Any], client: Any, *arguments: Any) -> list[Any]:
        """What a search finds in each file."""
        files = [_file(self.folder, i) for i in range(len(self.starts) - 1)]
        if client is None:
            return [search(file, *arguments) for file in files]
        # pure=False: no answer of an earlier search is returned.  Dask gives the tasks of a dead worker to others.
        futures = [client.submit(search, file, *arguments, pure=False) for file in files]
        return client.gather(futures)


def _file(folder: Path, number: int) -> Path:
    return folder / f"shard-{number:05d}.index"


@lru_cache(maxsize=KEPT)
def _opened(file: Path, changed: int) -> Index:  # noqa: ARG001
    return Index.load(file, verify=False)


def _open(file: Path) -> Index:
    if not file.exists():
        raise CheckpointError(f"{file}: no such file")
    return _opened(file, file.stat().st_mtime_ns)


def _nearest(file: Path, queries: Any, k: int, direction: Direction) -> Neighbors:
    return _open(file).nearest(queries, k, direction=direction)


def _within(file: Path, queries: Any, radius: float, direction: Direction) -> InRange:
    return _open(file).within(queries, radius, direction=direction)
