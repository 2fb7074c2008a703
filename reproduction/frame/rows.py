"""A row of a ledger, and how rows are selected for a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One result of one run."""

    experiment: str
    config: str
    """hash of the experiment and `settings`; together with `seed`, it identifies the run"""
    seed: int
    metric: str
    value: Any
    epochs: int
    seconds: float
    """wall time of the run; its share if several cells ran at once"""
    version: str
    """version of the package"""
    commit: str
    """commit of the code; ends in + if files had been modified"""
    settings: dict[str, Any]
    """the cell without its seed"""
    run: str
    """the same for all rows that one run wrote"""
    part: tuple[int, int]
    """which of how many rows of its run"""


class Rows(list[Row]):
    """The rows of a ledger, indexed by metric and settings, so that `pick` need not read all of them.

    Tables ask thousands of times.  The list must not change after the first question.
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        super().__init__(rows)
        self._index: dict[tuple[str, tuple[str, ...]], dict[tuple[Any, ...], list[Row]]] = {}

    def find(self, metric: str, where: Mapping[str, Any]) -> list[Row]:
        """Select the rows of a metric whose settings have the values in `where`, in the order of the ledger."""
        key = metric, tuple(where)
        if key not in self._index:
            groups = self._index[key] = defaultdict(list)
            for row in self if not where else self.find(metric, {}):
                if row.metric == metric:
                    groups[tuple(_hashable(row.settings[name]) for name in where)].append(row)
        return list(self._index[key].get(tuple(map(_hashable, where.values())), ()))


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def pick(rows: list[Row], metric: str, where: Mapping[str, Any]) -> list[Row]:
    """Select the rows of a metric whose settings have the values in `where`.

    Args:
        rows: where to look; fast if they are `Rows`, as `Ledger.rows` returns them.
        metric: name of the metric.
        where: values that the settings must have, by name.
    """
    if isinstance(rows, Rows):
        return rows.find(metric, where)
    return [
        row
        for row in rows
        if row.metric == metric and all(row.settings[name] == value for name, value in where.items())
    ]


def longest_trained(rows: list[Row]) -> list[Row]:
    """Select the rows of the configuration that was trained longest; of two, the one with more seeds.

    A ledger may contain quick runs as well as full ones; they are never averaged.  If a run reported a metric after
    several epochs, its last row counts.
    """
    groups: dict[str, dict[int, Row]] = defaultdict(dict)
    for row in rows:
        last = groups[row.config].get(row.seed)
        if last is None or last.epochs <= row.epochs:
            groups[row.config][row.seed] = row
    if not groups:
        return []
    best = max(groups.values(), key=lambda group: (max(row.epochs for row in group.values()), len(group)))
    return [best[seed] for seed in sorted(best)]
