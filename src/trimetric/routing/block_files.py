"""Large matrices on disk: computed in blocks of rows, kept after each block, and resumed after a crash."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from trimetric._support.atomic import WriteError, sync
from trimetric._support.progress import Shown, WorkProgress
from trimetric.graphs.paths.parallel import in_parallel
from trimetric.routing.costs import Annotation
from trimetric.routing.matrices import blocks_of_rows
from trimetric.routing.positions import Positions

JOURNAL = "blocks.journal"
WAITING = 2  # blocks per worker of a cluster that are under way


class RowsJob(Protocol):
    """What computes rows of a matrix: `TravelJob`, or a model of the map."""

    def rows(self, sources: Positions) -> Mapping[Annotation, NDArray[np.float64]]:
        """Compute the rows of some sources."""
        ...


class BlockFolder:
    """A folder with one memory-mapped `.npy` file per cost and a journal of the blocks that are complete.

    A block is entered into the journal after its rows are on the disk.  So a process that is killed at any moment loses
    the blocks under way and nothing else, and the files that come out are the same to the byte.

    Args:
        folder: where the files are; it is made if there is none.
        identity: a hash of everything that the numbers depend on; a folder of another matrix is begun anew.
        shape: rows and columns.
        names: the costs.
        dtype: of the numbers.
    """

    def __init__(
        self, folder: Path, *, identity: str, shape: tuple[int, int], names: Sequence[Annotation], dtype: Any
    ) -> None:
        self.folder, self.identity, self.shape, self.names = folder, identity, shape, tuple(names)
        self.dtype = np.dtype(dtype)
        self.blocks = list(blocks_of_rows(*shape))
        self.done = self._known()
        try:
            if self.done is None:
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                for name in self.names:
                    open_memmap(self.file(name), mode="w+", dtype=self.dtype, shape=shape).flush()
                self._write({"identity": identity})
                self.done = set()
        except OSError as error:
            raise WriteError(folder, error) from None

    def file(self, name: Annotation) -> Path:
        """The file of a cost.

        Args:
            name: one of the costs.
        """
        return self.folder / f"{name}.npy"

    @property
    def missing(self) -> list[slice]:
        """The blocks of rows that are not there yet."""
        return [rows for rows in self.blocks if rows.start not in (self.done or set())]

    def write(self, rows: slice, costs: Mapping[Annotation, NDArray[Any]]) -> None:
        """Write a block, and enter it into the journal once it is on the disk.

        Args:
            rows: which rows.
            costs: their numbers, by name.
        """
        try:
            for name in self.names:
                # A file that is mapped anew for each block keeps no more than the block in memory.
                mapped = open_memmap(self.file(name), mode="r+")
                mapped[rows] = costs[name]
                mapped.flush()
                del mapped
            self._write({"rows": rows.start})
        except OSError as error:
            raise WriteError(self.folder, error) from None
        if self.done is not None:
            self.done.add(rows.start)

    def _write(self, entry: dict[str, Any]) -> None:
        with (self.folder / JOURNAL).open("ab") as stream:
            stream.write(json.dumps(entry).encode() + b"\n")
            sync(stream)

    def _known(self) -> set[int] | None:
        """The blocks that an earlier process has written; None if it computed another matrix."""
        try:
            lines = (self.folder / JOURNAL).read_bytes().splitlines(keepends=True)
            entries = [json.loads(line) for line in lines if line.endswith(b"\n")]  # the last one may be cut
            if not entries or entries[0] != {"identity": self.identity}:
                return None
            for name in self.names:
                kept = np.load(self.file(name), mmap_mode="r")
                if kept.shape != self.shape or kept.dtype != self.dtype:
                    return None
            starts = {rows.start for rows in self.blocks}
            return {entry["rows"] for entry in entries[1:]} & starts
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None


def fill_blocks(
    blocks: BlockFolder,
    job: RowsJob,
    sources: Positions,
    *,
    finish: Callable[[NDArray[np.float64]], NDArray[Any]],
    jobs: int | None = None,
    client: Any = None,
    progress: Shown = "auto",
) -> None:
    """Compute the blocks that are missing.

    Args:
        blocks: the folder to fill.
        job: computes rows.
        sources: the places of all rows.
        finish: makes what is written from a block of costs, such as whole numbers.
        jobs: how many threads; by default one per core.
        client: of a Dask cluster (`distributed.Client`), whose workers compute instead.  The blocks of a worker that
            dies are computed by another.
        progress: "auto" shows a progress bar.
    """
    missing = blocks.missing
    columns = blocks.shape[1]
    known = sum(rows.stop - rows.start for rows in blocks.blocks) - sum(rows.stop - rows.start for rows in missing)
    with WorkProgress("matrix", blocks.shape[0] * columns, progress, known=known * columns) as shown:
        for rows, costs in _computed(job, sources, missing, jobs, client):
            blocks.write(rows, {name: finish(costs[name]) for name in blocks.names})
            shown.advance((rows.stop - rows.start) * columns)


def _computed(
    job: RowsJob, sources: Positions, missing: list[slice], jobs: int | None, client: Any
) -> Iterator[tuple[slice, Mapping[Annotation, NDArray[np.float64]]]]:
    if client is None:
        window = 2 * (jobs or os.cpu_count() or 1)  # blocks that are in memory at once
        for first in range(0, len(missing), window):
            part = missing[first : first + window]
            yield from zip(part, in_parallel(_rows, [(job, sources[rows]) for rows in part], jobs=jobs), strict=True)
        return
    from distributed import as_completed

    sent = client.scatter(job, broadcast=True, hash=False)
    waiting = iter(missing)
    running: dict[Any, slice] = {}
    finished = as_completed(loop=client.loop)

    def submit() -> None:
        rows = next(waiting, None)
        if rows is not None:
            future = client.submit(_rows, sent, sources[rows], pure=False)
            running[future] = rows
            finished.add(future)

    for _ in range(WAITING * max(1, len(client.scheduler_info()["workers"]))):
        submit()
    for future in finished:
        yield running.pop(future), future.result()
        submit()


def _rows(job: RowsJob, sources: Positions) -> Mapping[Annotation, NDArray[np.float64]]:
    return job.rows(sources)
