"""The ledger of an experiment: one JSON line per result, appended, never rewritten.

All rows of a run are written by one call under a lock.  Each row says which part of how many it is, so an incomplete
write (the process was killed, the disk was full) can be recognized: readers skip it, and the next writer removes it.
A run is therefore in the ledger completely or not at all, and only once.
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from reproduction.frame.experiment import Key, Result
from reproduction.frame.rows import Row, Rows

RESULTS = Path(__file__).parents[1] / "results"
NAMES = {field.name for field in fields(Row)}
KINDS = {"experiment": str, "config": str, "seed": int, "metric": str, "epochs": int, "settings": dict, "run": str}


@dataclass(frozen=True)
class Run:
    """A finished run, ready to be written."""

    experiment: str
    key: Key
    settings: dict[str, object]
    results: list[Result]
    seconds: float
    version: str
    commit: str

    def rows(self) -> list[Row]:
        """The rows to write."""
        name, parts = uuid.uuid4().hex[:12], len(self.results)
        return [
            Row(
                experiment=self.experiment,
                config=self.key.config,
                seed=self.key.seed,
                metric=result.metric,
                value=result.value,
                epochs=result.epochs,
                seconds=round(self.seconds, 3),
                version=self.version,
                commit=self.commit,
                settings=self.settings,
                run=name,
                part=(part, parts),
            )
            for part, result in enumerate(self.results)
        ]


class Ledger:
    """Reads and extends one file; several processes may do so at the same time.

    Args:
        path: the file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._left: tuple[tuple[int, int], set[Key]] | None = None
        """size and time of the file after our last write, and the runs in it: saves reading it again"""

    def rows(self) -> Rows:
        """Read the rows of all complete runs, in the order of the file; if a run is there twice, the first."""
        return Rows(_Contents(self._bytes(), self.path).rows)

    def keys(self) -> set[Key]:
        """The runs that are in the file."""
        return {Key(row.config, row.seed) for row in self.rows()}

    def append(self, runs: list[Run]) -> None:
        """Write complete runs in one call; runs that another process has written in the meantime are skipped."""
        for run in runs:
            if not run.results:
                raise ValueError(f"runs: expected at least one result of each run, got none of {run.settings}")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._locked() as file:
            there = self._repaired(file)
            end = os.fstat(file).st_size
            text = "".join(_line(row) for run in runs if run.key not in there for row in run.rows()).encode()
            if os.write(file, text) != len(text):
                os.ftruncate(file, end)
                raise OSError(f"{self.path}: the disk is full; nothing was written")
            os.fsync(file)
            self._left = _stamp(file), there | {run.key for run in runs}

    def set_aside(self) -> Path | None:
        """Rename the file, so that everything runs again; returns its new name, or None if there is no file."""
        if not self.path.exists():
            return None
        number = 1
        while (old := self.path.with_name(f"{self.path.name}.{number}.old")).exists():
            number += 1
        return self.path.rename(old)

    def _repaired(self, file: int) -> set[Key]:
        """Remove what an incomplete write has left behind; returns the runs in the file."""
        if self._left is not None and self._left[0] == _stamp(file):
            return self._left[1]
        contents = _Contents(self._bytes(), self.path)
        if contents.end < contents.size:
            os.ftruncate(file, contents.end)
        if not contents.ends_line:
            os.write(file, b"\n")
        return {Key(row.config, row.seed) for row in contents.rows}

    def _bytes(self) -> bytes:
        return self.path.read_bytes() if self.path.exists() else b""

    @contextmanager
    def _locked(self) -> Iterator[int]:
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)  # and with it the lock


def _stamp(file: int) -> tuple[int, int]:
    status = os.fstat(file)
    return status.st_size, status.st_mtime_ns


def _line(row: Row) -> str:
    return json.dumps(asdict(row), separators=(",", ":")) + "\n"


class _Contents:
    """The contents of a file, sorted into the rows of complete runs and leftovers.

    Attributes:
        rows: of complete runs.
        end: where the file should end; after it, there is only what an incomplete write has left: the lines of
            one incomplete run and a line without its end.  Other broken lines are reported and left alone.
        ends_line: whether the part before `end` ends with a newline.
    """

    def __init__(self, data: bytes, path: Path) -> None:
        self.size = self.end = len(data)
        whole, _, rest = data.rpartition(b"\n")
        lines = whole.split(b"\n") if whole else []
        # A last line without its end may still be complete, if an editor dropped the last newline.
        if rest and _parse(rest) is not None:
            lines, rest = [*lines, rest], b""
        parsed = [(line, _parse(line)) for line in lines]
        count = Counter(row.run for _, row in parsed if row is not None)
        if broken := [str(i) for i, (line, row) in enumerate(parsed, start=1) if row is None and line.strip()]:
            warnings.warn(f"{path}, line {', '.join(broken)}: not a row of a ledger; skipped", stacklevel=4)
        complete = [(line, row) for line, row in parsed if row is not None and count[row.run] == row.part[1]]
        first: dict[Key, str] = {}
        for _, row in complete:
            first.setdefault(Key(row.config, row.seed), row.run)
        self.rows = [row for _, row in complete if first[Key(row.config, row.seed)] == row.run]

        self.end -= len(rest)
        last = parsed[-1][1] if parsed else None
        if last is not None and count[last.run] != last.part[1]:
            for line, row in reversed(parsed):
                if row is None or row.run != last.run:
                    break
                self.end -= len(line) + 1
            self.end = max(self.end, 0)
        self.ends_line = self.end == 0 or data[self.end - 1 : self.end] == b"\n"


def _parse(line: bytes) -> Row | None:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or set(fields) != NAMES:
        return None
    part = fields["part"]
    if not isinstance(part, list) or len(part) != 2 or not all(type(number) is int for number in part):
        return None
    if any(type(fields[name]) is not kind for name, kind in KINDS.items()):
        return None
    return Row(**{**fields, "part": tuple(part)})
