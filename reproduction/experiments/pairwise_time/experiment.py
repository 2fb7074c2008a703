"""The computation-time table, from the results of the benchmarks on this machine.

The paper's times are for a GPU, ours for a CPU: they are shown side by side, but only ratios are claimed (D13).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from reproduction.frame.experiment import Experiment, Result, Scale
from reproduction.frame.findings import Finding, check, find
from reproduction.frame.paper import printed_values
from reproduction.frame.rows import Row
from reproduction.frame.tables import Column, Measured, Table

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results.json"
COMMAND = "python -m benchmarks pairwise --save"
BATCHES = ("32", "128", "512", "2048")


@dataclass(frozen=True)
class NoCell:
    """Never used: the benchmarks measure, not this experiment."""

    seed: int


class PairwiseTime(Experiment[NoCell]):
    """Two tables: milliseconds next to the paper's, and how many times faster than the definition.

    Args:
        results: file of the benchmarks.
    """

    name: ClassVar[str] = "pairwise-time"

    def __init__(self, results: Path = RESULTS) -> None:
        self.results = results

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[NoCell]:  # noqa: ARG002
        return []

    def run(self, cell: NoCell) -> list[Result]:
        raise ValueError(f"cell: expected none, as times are measured by {COMMAND}, got {cell}")

    def tables(self, rows: list[Row]) -> list[Table]:  # noqa: ARG002
        found = json.loads(self.results.read_text()) if self.results.exists() else {}
        times = {
            (row["architecture"], str(row["batch"])): row for row in found.get("pairwise", []) if not row["backward"]
        }
        if times:
            note = f"Ours, forward, on {found['machine']}; the paper's on a GPU, so they are not comparable (D13)."
        else:
            note = f"Not measured here yet: {COMMAND} makes this table."
        architectures = list(printed_values("table_computation"))
        return [
            Table(
                label="table_computation",
                title="All pairs: ms by mini-batch",
                columns=[Column(batch, better=None) for batch in BATCHES],
                rows=architectures,
                cells={key: _single(row["milliseconds"]) for key, row in times.items() if key[0] in architectures},
                note=note,
                command=COMMAND,
            ),
            Table(
                label="speedup_computation",
                title="All pairs: how many times faster than broadcasting the definition",
                columns=[Column(batch, better=None) for batch in BATCHES],
                rows=architectures,
                cells={key: _ratio(row) for key, row in times.items() if key[0] in architectures},
                note="Forward. The definition is d(x[:, None], y[None]); it is not run where it needs more than 10 GB."
                if times
                else note,
                command=COMMAND,
            ),
        ]

    def findings(self, rows: list[Row]) -> dict[str, Finding]:
        times, _ = self.tables(rows)
        largest = BATCHES[-1]
        ms = {name: cell.value for name in times.rows if isinstance(cell := times.cells.get((name, largest)), Measured)}
        wide, deep = ([name for name in ms if name.startswith(kind)] for kind in ("WN", "DN"))
        cases = [ms[one] < ms[other] for one in wide for other in deep]
        ranges = [
            f"{min(ms[n] for n in some):,.0f} to {max(ms[n] for n in some):,.0f}" for some in (wide, deep) if some
        ]
        words = f"faster than Deep Norms at {largest}"
        finding = find(check(words, cases, "pairs"), note=f"{' against '.join(ranges)} ms")
        return {} if finding is None else {"table_computation": finding}


def _single(value: float) -> Measured:
    return Measured(value=value, spread=None, seeds=0, epochs=0, statistic="best", worst=value, runs=frozenset())


def _ratio(row: dict[str, Any]) -> Measured | str:
    return "definition not run" if row["definition_ratio"] is None else _single(row["definition_ratio"])
