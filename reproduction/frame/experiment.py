"""What an experiment is: cells in, results out, and tables and figures made from the rows alone."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from reproduction.frame.figures import Figure
from reproduction.frame.findings import Finding
from reproduction.frame.rows import Row
from reproduction.frame.tables import Table

Scale = Literal["quick", "default", "paper"]
SCALES: tuple[Scale, ...] = ("quick", "default", "paper")


class Cell(Protocol):
    """One run: a frozen dataclass of plain values (numbers, strings, booleans, tuples of them) with a seed.

    It must contain everything that the result depends on, because its hash decides whether the run is already there.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def seed(self) -> int: ...


C = TypeVar("C", bound=Cell)


@dataclass(frozen=True)
class Result:
    """One number of a run, or a list of numbers such as a curve."""

    metric: str
    value: Any
    """anything that JSON can represent"""
    epochs: int = 0
    """passes over the data (or steps, where there are no epochs) after which it was measured"""


class Experiment(ABC, Generic[C]):
    """One part of the paper.  It has no state: everything that it needs is in its cells and rows."""

    name: ClassVar[str]
    """name of the command and of the ledger; the keys of the ledger depend on it"""

    @abstractmethod
    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[C]:
        """List all runs of a budget.

        Args:
            scale: the budget.
            seeds: replaces the seeds of the budget.
        """

    @abstractmethod
    def run(self, cell: C) -> list[Result]:
        """Do one run, in a process with one thread.  All randomness comes from `cell.seed`."""

    @abstractmethod
    def tables(self, rows: list[Row]) -> list[Table]:
        """Make the tables from the rows there are: none, some, or rows of several budgets."""

    def figures(self, rows: list[Row]) -> list[Figure]:  # noqa: ARG002
        """Make the figures from the rows there are."""
        return []

    def findings(self, rows: list[Row]) -> Mapping[str, Finding]:  # noqa: ARG002
        """Judge the paper's claims with the rows there are, by label of the section; claims without rows are left out.

        A section without a finding shows in how many cells its tables match the paper's, if they can be compared.
        """
        return {}

    def notes(self, rows: list[Row]) -> list[str]:  # noqa: ARG002
        """Write the texts that are printed below the tables."""
        return []

    def batches(self, cells: list[C]) -> list[list[C]]:
        """Group the cells into batches, each for one call of `run_batch`; by default, one cell per batch."""
        return [[cell] for cell in cells]

    def run_batch(self, cells: list[C]) -> list[list[Result]]:
        """Run a batch.

        Returns:
            The results of each cell, in order.  They must not depend on which cells share the batch.
        """
        return [self.run(cell) for cell in cells]


class StackedExperiment(Experiment[C]):
    """An experiment whose `run_batch` trains similar cells at once."""

    def stack(self, cell: C) -> Hashable:
        """Return the same key for cells that are trained together; by default, those that differ only in their seed."""
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
    """hash of the experiment's name and all settings except the seed"""
    seed: int


def settings(cell: Cell) -> dict[str, Any]:
    """The settings of a cell without its seed, as JSON represents them."""
    fields = asdict(cell)  # type: ignore[arg-type]
    fields.pop("seed")
    return json.loads(json.dumps(fields, sort_keys=True))


def added_later(default: Any) -> Any:
    """Declare a setting that cells did not have at first: while it has its default, they keep the keys of then.

    Args:
        default: what was done before there was this setting.
    """
    return field(default=default, metadata={"added later": True})


def key_of(name: str, cell: Cell) -> Key:
    """The key of a run of the experiment with this name."""
    known = settings(cell)
    for own in fields(cell):  # type: ignore[arg-type]
        if own.metadata.get("added later") and getattr(cell, own.name) == own.default:
            known.pop(own.name)
    return Key(settings_key(name, known), cell.seed)


def settings_key(name: str, settings: dict[str, Any]) -> str:
    """Hash an experiment's name and all settings of a run except its seed."""
    text = json.dumps([name, settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def unique(cells: Sequence[C]) -> list[C]:
    """Remove repeated cells; keeps the order."""
    return list(dict.fromkeys(cells))
