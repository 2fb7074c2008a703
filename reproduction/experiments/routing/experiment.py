"""What is broken in the matrices of routing problems, and what each repair changes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reproduction.experiments.routing.data import GENERATED, instance_files, load_matrix
from reproduction.frame.experiment import Experiment, Result, Scale
from reproduction.frame.findings import Finding, check, find
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import Column, Table, summarize
from trimetric.nearness import is_metric, nearest_metric, violations
from trimetric.nearness.solve import Method
from trimetric.routing import audit_matrix

METHODS: tuple[Method, ...] = ("active-set", "decrease-only", "increase-only")
NAMES = {"active-set": "nearest", "decrease-only": "decrease-only", "increase-only": "increase-only"}
TOLERANCE = 1e-4
LIMIT = 120.0  # seconds


@dataclass(frozen=True)
class Cell:
    """One instance and one repair."""

    instance: str
    method: Method
    integers: bool
    seed: int = 0


class Routing(Experiment[Cell]):
    """Shares of broken pairs, worst excess, and the changes and times of repairs."""

    name: ClassVar[str] = "routing"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:  # noqa: ARG002
        names = (GENERATED,) if scale == "quick" else (*instance_files(), GENERATED)
        return [Cell(name, method, whole) for name in names for method in METHODS for whole in (False, True)]

    def run(self, cell: Cell) -> list[Result]:
        given = load_matrix(cell.instance)
        nearest_metric([[0, 1, 5], [1, 0, 1], [5, 1, 0]], method=cell.method)  # so that machine code is there
        broken = audit_matrix(given)
        start = time.process_time()
        result = nearest_metric(
            given, method=cell.method, integers=cell.integers, tolerance=TOLERANCE, max_seconds=LIMIT
        )
        seconds = time.process_time() - start
        if not is_metric(result.matrix) or violations(result.matrix) != (0.0, 0):
            raise RuntimeError(f"{cell}: the repair has violations")
        change = np.abs(result.matrix - given)
        numbers = {
            "objects": len(given),
            "broken pairs": broken.broken_pairs / max(broken.pairs, 1),
            "broken triples": broken.broken_triples,
            "worst excess": broken.worst_excess,
            "mean distance": float(given.sum() / max(broken.pairs, 1)),
            "J": result.distortion,
            "gap": result.gap,
            "changed": float((change > result.count_tolerance).sum() / max(broken.pairs, 1)),
            "largest change": float(change.max()),
            "seconds": seconds,
        }
        return [Result(name, value) for name, value in numbers.items()]

    def findings(self, rows: list[Row]) -> dict[str, Finding]:
        broken = {row.settings["instance"]: row.value for row in rows if row.metric == "broken pairs"}
        published = [share == 0 for name, share in broken.items() if name != GENERATED]
        change = {
            (row.settings["instance"], row.settings["method"]): row.value
            for row in rows
            if row.metric == "J" and not row.settings["integers"]
        }
        nearer = [
            change[name, "active-set"] < change[name, "decrease-only"]
            for name, share in broken.items()
            if share > 0 and {(name, "active-set"), (name, "decrease-only")} <= change.keys()
        ]
        found = {
            "table_routing_broken": find(check("every triangle inequality holds", published, "published instances")),
            "table_routing_repairs": find(check("the nearest metric changes less", nearer, "broken matrices")),
        }
        return {label: finding for label, finding in found.items() if finding is not None}

    def tables(self, rows: list[Row]) -> list[Table]:
        names = list(dict.fromkeys(row.settings["instance"] for row in rows))
        shown = {"objects": ".0f", "broken pairs": ".1%", "broken triples": ",.0f", "worst excess": ".0f"}
        shown["mean distance"] = ",.0f"
        broken = Table(
            label="table_routing_broken",
            title="Ordered pairs with a shorter way through other places, and by how much",
            columns=[Column(name, better=None, format=form) for name, form in shown.items()],
            rows=names,
            cells={
                (name, metric): summarize(
                    pick(rows, metric, {"instance": name, "method": "decrease-only", "integers": False})
                )
                for name in names
                for metric in shown
            },
        )
        columns = {f"{NAMES[method]}: {what}": (method, what) for method in METHODS for what in ("J", "seconds")}
        columns["nearest in integers: J"] = ("active-set", "J")
        repairs = Table(
            label="table_routing_repairs",
            title="What repairs change, J = ||X - D|| / ||D||, and processor seconds",
            columns=[Column(name, better=None, format=".2g") for name in columns],
            rows=names,
            cells={
                (name, column): summarize(
                    pick(rows, what, {"instance": name, "method": method, "integers": "integers" in column})
                )
                for name in names
                for column, (method, what) in columns.items()
            },
        )
        return [broken, repairs]
