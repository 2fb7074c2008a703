"""The results as tables of text, the same for the terminal and for the page."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from examples.demo.city_data import City
from examples.demo.city_models import CityModel, judge
from examples.demo.four_nodes import DISTANCES, NODES, PAIRS, PlaneFit
from examples.demo.repair import Repair
from trimetric import PairErrors

NO_LEARNING = "shortest paths"
"""over the pairs that are not set aside: an alternative that learns nothing"""
CHANGED_PAIRS = 6


@dataclass(frozen=True)
class Table:
    """A table of text.

    Attributes:
        title: what it shows.
        columns: the headings.
        rows: the cells, row by row.
        labels: how many of the first columns are names and not numbers.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    labels: int = 1


def plane_tables(fits: Mapping[str, PlaneFit]) -> list[Table]:
    """Show the six distances of the four nodes beside the learned ones, then error and audit of each model.

    Args:
        fits: by the name of the model.
    """
    pairs = [
        (f"{NODES[i]} to {NODES[j]}", f"{DISTANCES[i, j]:.2f}", *(f"{fit.predicted[row]:.2f}" for fit in fits.values()))
        for row, (i, j) in enumerate(PAIRS.T.tolist())
    ]
    summary = [
        (name, f"{fit.mse:.5f}", f"{fit.audit.triangle_defect:.3g}", f"{fit.audit.triples:,}")
        for name, fit in fits.items()
    ]
    return [
        Table("Distances in the graph and in the plane", ("pair", "truth", *fits), pairs),
        Table("Error and audit", ("model", "mean squared error", "triangle defect", "triples checked"), summary),
    ]


def city_tables(city: City, models: Mapping[str, CityModel]) -> list[Table]:
    """Show truth beside prediction, the mean errors, and the errors by distance.

    Args:
        city: the truth.
        models: by name.
    """
    truth = city.matrix
    named = [
        (
            city.names[i],
            city.names[j],
            f"{truth[i, j]:.2f}",
            *(f"{model.matrix[i, j]:.2f}" for model in models.values()),
        )
        for pair in city.telling_pairs()
        for i, j in itertools.permutations(pair)
    ]
    paths = judge(city, city.paths_over_known_pairs())
    means = [
        (name, *_mean_errors(model.errors), f"{model.weights:,}", f"{model.seconds:.1f}")
        for name, model in models.items()
    ]
    means.append((NO_LEARNING, *_mean_errors(paths), "-", "-"))
    columns = [*(model.errors for model in models.values()), paths]
    buckets = [
        (
            f"{parts[0].shortest:.1f} to {parts[0].longest:.1f}",
            f"{parts[0].pairs}",
            *(f"{part.mean_relative_error:.1%}" for part in parts),
        )
        for parts in zip(*(errors.by_distance for errors in columns), strict=True)
    ]
    return [
        Table("Minutes, truth beside prediction", ("from", "to", "truth", *models), named, labels=2),
        Table(
            "Errors on the pairs that no model saw",
            ("model", "mean relative error", "mean error, minutes", "weights", "seconds"),
            means,
        ),
        Table("Mean relative error by distance", ("minutes", "pairs", *models, NO_LEARNING), buckets),
    ]


def audit_table(models: Mapping[str, CityModel]) -> Table:
    """Show the audit of each model of the city.

    Args:
        models: by name.
    """
    rows = [
        (
            name,
            f"{model.broken:,}",
            f"{model.audit.triangle_defect:.3g}",
            f"{model.audit.identity_defect:.3g}",
            "kept" if model.audit.holds else "BROKEN" if model.audit.checked else "none",
        )
        for name, model in models.items()
    ]
    columns = (
        "model",
        "broken triples",
        "broken by up to, minutes",
        "largest d(x,\u00a0x)",
        "promises",
    )
    triples = max(model.audit.triples for model in models.values())
    return Table(f"Audit of all {triples:,} triples of crossings", columns, rows)


def repair_tables(repair: Repair) -> list[Table]:
    """Compare the repairs, and show the times that changed most.

    Args:
        repair: the results.
    """
    kinds = {"measured": repair.measured, "nearest metric": repair.nearest, "shortest paths": repair.paths}
    summary = [
        (
            name,
            f"{times.broken:,}",
            f"{times.moved:.2f}",
            f"{times.error:.2f}",
        )
        for name, times in kinds.items()
    ]
    changed = [
        (
            repair.names[i],
            repair.names[j],
            *(f"{matrix[i, j]:.2f}" for matrix in (repair.true, *(times.matrix for times in kinds.values()))),
        )
        for i, j in repair.most_changed(CHANGED_PAIRS)
    ]
    columns = ("times", "broken triples", "RMS change", "RMS error")
    return [
        Table(f"Two repairs of {repair.report.known} times; change and error in minutes", columns, summary),
        Table("The times that changed most, in minutes", ("from", "to", "truth", *kinds), changed, labels=2),
    ]


def _mean_errors(errors: PairErrors) -> tuple[str, str]:
    pairs = sum(bucket.pairs for bucket in errors.by_distance)
    mean = sum(bucket.mean_error * bucket.pairs for bucket in errors.by_distance) / pairs
    return f"{errors.mean_relative_error:.1%}", f"{mean:.2f}"
