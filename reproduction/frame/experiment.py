"""What an experiment is: cells in, results out, and tables and figures made from the rows alone."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from reproduction.frame.figures import Figure
from reproduction.frame.rows import Row
from reproduction.frame.tables import Table

Scale = Literal["quick", "default", "paper"]
SCALES: tuple[Scale, ...] = ("quick", "default", "paper")


class Cell(Protocol):
    """One run: a frozen dataclass of plain values (numbers, strings, booleans, tuples of them) with a seed.

    It must say everything that the result depends on, for its hash decides whether the run is already there.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def seed(self) -> int: ...


C = TypeVar("C", bound=Cell)


@dataclass(frozen=True)
class Result:
    """One number (or list of numbers, a curve say) of a run."""

    metric: str
    value: Any
    """what JSON can hold"""
    epochs: int = 0
    """passes over the data (or steps, where there are no epochs) after which it was measured"""


class Experiment(ABC, Generic[C]):
    """One part of the paper.  It has no state: what it needs to know is in its cells and rows."""

    name: ClassVar[str]
    """of the command and of the ledger"""

    @abstractmethod
    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[C]:
        """All runs at this scale; `seeds` replaces the seeds that the scale would use."""

    @abstractmethod
    def run(self, cell: C) -> list[Result]:
        """One run, in one process with one thread.  All randomness comes from `cell.seed`."""

    @abstractmethod
    def tables(self, rows: list[Row]) -> list[Table]:
        """The tables, from whatever rows there are: none, some, or of several scales."""

    def figures(self, rows: list[Row]) -> list[Figure]:  # noqa: ARG002
        """The figures, from whatever rows there are."""
        return []

    def notes(self, rows: list[Row]) -> list[str]:  # noqa: ARG002
        """Text that is printed below the tables after a run."""
        return []

    def batches(self, cells: list[C]) -> list[list[C]]:
        """Which cells are run by one call of `run_batch`: those of one shape, where they can be trained at once."""
        return [[cell] for cell in cells]

    def run_batch(self, cells: list[C]) -> list[list[Result]]:
        """The results of each cell of a batch, in order.  They must not depend on which cells share the batch."""
        return [self.run(cell) for cell in cells]


class StackedExperiment(Experiment[C]):
    """One whose `run_batch` trains all cells of a stack at once."""

    def stack(self, cell: C) -> Hashable:
        """The same for cells that are trained together; by default for those that differ in their seed only."""
        return replace(cell, seed=0)  # type: ignore[type-var]

    def batches(self, cells: list[C]) -> list[list[C]]:
        stacks: dict[Hashable, list[C]] = {}
        for cell in cells:
            stacks.setdefault(self.stack(cell), []).append(cell)
        return list(stacks.values())

    def run(self, cell: C) -> list[Result]:
        return self.run_batch([cell])[0]

    @abstractmethod
    def run_batch(self, cells: list[C]) -> list[list[Result]]: ...


@dataclass(frozen=True)
class Key:
    """Identifies a run in a ledger."""

    config: str
    """hash of the experiment's name and all settings but the seed"""
    seed: int


def settings(cell: Cell) -> dict[str, Any]:
    """The settings of a cell without its seed, as they come back from JSON."""
    fields = asdict(cell)  # type: ignore[arg-type]
    fields.pop("seed")
    return json.loads(json.dumps(fields, sort_keys=True))


def key_of(name: str, cell: Cell) -> Key:
    """The key of a run of the experiment of that name."""
    return Key(settings_key(name, settings(cell)), cell.seed)


def settings_key(name: str, settings: dict[str, Any]) -> str:
    """The hash of an experiment's name and of all settings of a run but its seed."""
    text = json.dumps([name, settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def unique(cells: Sequence[C]) -> list[C]:
    """The cells in order, each once."""
    return list(dict.fromkeys(cells))
