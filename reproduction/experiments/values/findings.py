"""What the paper says of each figure of the value functions, checked with our rows."""

from __future__ import annotations

from collections.abc import Collection
from itertools import product

import numpy as np

from reproduction.experiments.values.claims import METRICS, PLAIN, comparisons, euclidean_cases, signs_of
from reproduction.experiments.values.heat import exact_values, find_maps, make_world
from reproduction.experiments.values.tables import WORLDS
from reproduction.frame.findings import Check, Finding, check, find
from reproduction.frame.rows import Row
from reproduction.frame.tables import Table

ASYMMETRIC = ("4-Room asym", "Maze asym")


def findings(rows: list[Row], architectures: Table) -> dict[str, Finding]:
    """Judge the claims, by label.

    Args:
        rows: of the ledger.
        architectures: the table of settings.
    """
    if not rows:
        return {}
    gaps = comparisons(rows, "test spl")
    clear = [sum(gap.mark == mark for gap in gaps) for mark in "><"]
    found = {
        "figure_value_it_sparsity": find(
            check("higher SPL", [gap.value > 0 for gap in gaps], f"(clearly {clear[0]}, clearly lower {clear[1]})"),
            check("Euclidean clearly worse", euclidean_cases(rows)[0]),
        ),
        "figure_value_it_viz": find(
            _maps(rows, "squared errors", ASYMMETRIC, ("WN",), ("MLP",), "smaller mean squared error"),
            _maps(rows, "spl", ASYMMETRIC, ("WN",), ("MLP",), "higher mean SPL"),
        ),
        "figure_value_it_dataset": _worlds(),
        "table_vi_arches": _settings(architectures),
        "figure_value_it_sparsity_app": find(
            check("both", [signs == (True, True) for signs in signs_of(rows)], "comparisons")
        ),
        "figure_value_iteration_value_heatmaps": _correlations(rows),
        "figure_value_iteration_se_heatmaps": find(
            _maps(rows, "squared errors", WORLDS, METRICS, PLAIN, "smaller mean squared error")
        ),
        "figure_value_iteration_spl_heatmaps": find(_maps(rows, "spl", WORLDS, METRICS, PLAIN, "higher mean SPL")),
    }
    return {label: finding for label, finding in found.items() if finding is not None}


def _maps(
    rows: list[Row], kind: str, worlds: Collection[str], heads: Collection[str], others: Collection[str], words: str
) -> Check:
    """Compare the means of maps: a smaller error is better, a larger SPL is."""
    sign = -1 if kind == "squared errors" else 1
    cases = []
    for world, head, other in product(worlds, heads, others):
        ours, theirs = find_maps(rows, world, head), find_maps(rows, world, other)
        if ours is not None and theirs is not None:
            cases.append(bool(sign * (np.mean(ours[kind]) - np.mean(theirs[kind])) > 0))
    return check(words, cases, "maps")


def _worlds() -> Finding:
    """Describe the worlds that are drawn."""
    texts = []
    for name in ASYMMETRIC:
        world = make_world(name)
        costs = world.cost[world.next_state >= 0]
        size = " x ".join(map(str, world.grid.walls.shape))
        texts.append(f"{name.split()[0]} {size}, rewards {-costs.max():.2g} to {-costs.min():.2g}")
    return Finding("; ".join(texts))


def _settings(table: Table) -> Finding | None:
    """Count the settings that are the paper's."""
    same = [
        table.cells.get((row, column.name)) == str(printed)
        for row in table.rows
        for column in table.columns
        if (printed := table.printed(row, column.name)) is not None
    ]
    return find(check("the same", same, "settings"))


def _correlations(rows: list[Row]) -> Finding | None:
    """Correlate the learned values with the exact ones, in the mean over the worlds."""
    texts = []
    for head in (*METRICS, *PLAIN):
        maps = {world: found for world in WORLDS if (found := find_maps(rows, world, head)) is not None}
        if maps:
            means = [
                np.corrcoef(np.ravel(found["values"]), np.ravel(exact_values(world)))[0, 1]
                for world, found in maps.items()
            ]
            texts.append(f"{head} {np.mean(means):.2f}")
    return Finding(f"correlation with the exact values: {', '.join(texts)}") if texts else None
