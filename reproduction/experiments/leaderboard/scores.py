"""Errors by column and head, from the rows of the leaderboard: which head leads, and by how much."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from reproduction.experiments.leaderboard.heads import HEADS, is_metric
from reproduction.experiments.leaderboard.problems import PROBLEMS
from reproduction.frame.rows import Row, pick

Effort = tuple[int, int]
"""steps, and the number of learning rates tried"""


@dataclass(frozen=True)
class Scores:
    """One column, a problem and an amount of training data: the rows of the largest effort, by head and seed."""

    problem: str
    training: int
    effort: Effort
    rows: dict[str, dict[int, Row]]

    @property
    def name(self) -> str:
        """The name of the column."""
        return PROBLEMS[self.problem].column(self.training)

    def errors(self, head: str) -> dict[int, float]:
        """The errors of a head by seed."""
        return {seed: float(row.value) for seed, row in self.rows[head].items()}

    def mean(self, head: str) -> float:
        """The mean error of a head over the seeds; infinite if one of them is not a number."""
        mean = statistics.fmean(self.errors(head).values())
        return math.inf if math.isnan(mean) else mean

    def rank(self, head: str) -> int:
        """One more than the number of better heads."""
        return 1 + sum(self.mean(other) < self.mean(head) for other in self.rows)

    def order(self, wanted: Callable[[str], bool] = is_metric) -> list[str]:
        """Sort the wanted heads, the best first; by default all metrics."""
        return sorted(filter(wanted, self.rows), key=self.mean)

    def least(self) -> float:
        """The smallest error of a metric."""
        return min((self.mean(head) for head in self.order()), default=math.nan)

    def clear(self, better: str, worse: str) -> bool:
        """Whether the difference, graph by graph, is more than two standard errors of its mean."""
        ours, theirs = self.errors(better), self.errors(worse)
        differences = [theirs[seed] - ours[seed] for seed in ours if seed in theirs]
        if len(differences) < 2:
            return False
        return statistics.fmean(differences) > 2 * statistics.stdev(differences) / math.sqrt(len(differences))


def columns(rows: list[Row]) -> list[Scores]:
    """Collect the columns that have rows, in the order of the problems."""
    efforts: dict[tuple[str, int], dict[Effort, dict[str, dict[int, Row]]]] = {}
    for row in pick(rows, "error", {}):
        settings = row.settings
        effort = (settings["steps"], len(settings["rates"]))
        by_effort = efforts.setdefault((settings["problem"], settings["training"]), {})
        by_effort.setdefault(effort, {}).setdefault(settings["head"], {})[row.seed] = row
    return [
        Scores(name, training, effort, by_effort[effort])
        for name, problem in PROBLEMS.items()
        for training in problem.trainings
        if (by_effort := efforts.get((name, training)))
        for effort in [max(by_effort)]
    ]


def complete(found: Iterable[Scores]) -> list[Scores]:
    """Select the columns of the largest effort that have every head of that effort, except late ones.

    Otherwise an interrupted sweep would favor the heads that ran first.  All selected columns have the same heads, so
    that a rank means the same in each: a late head that is missing in one column is left out of the others.
    """
    found = list(found)
    largest = max((column.effort for column in found), default=None)
    alike = [column for column in found if column.effort == largest]
    heads = {head for column in alike for head in column.rows if not HEADS[head].late}
    whole = [column for column in alike if heads <= column.rows.keys()]
    common = [head for head in HEADS if all(head in column.rows for column in whole)]
    return [replace(column, rows={head: column.rows[head] for head in common}) for column in whole]


def times_the_best(found: list[Scores], head: str) -> float | None:
    """The geometric mean, over the columns with the head, of its error divided by the smallest error of a metric."""
    ratios = [column.mean(head) / column.least() for column in found if head in column.rows]
    if not ratios or not all(0 < ratio < math.inf for ratio in ratios):
        return None
    return statistics.geometric_mean(ratios)


def mean_rank(found: list[Scores], head: str) -> float | None:
    """The mean rank of a head over the columns that have it."""
    ranks = [column.rank(head) for column in found if head in column.rows]
    return statistics.fmean(ranks) if ranks else None


def resampled_firsts(found: list[Scores], head: str, *, draws: int = 200) -> float:
    """Resample the seeds that all heads have, with replacement; returns the share of draws that the head wins.

    Args:
        found: complete columns.
        head: wins a draw if it has the best mean rank.
        draws: number of draws.
    """
    heads = list(found[0].rows)
    seeds = sorted(set.intersection(*({*own} for column in found for own in column.rows.values())))
    if not seeds:
        return math.nan
    errors = np.array([[[column.errors(each)[seed] for seed in seeds] for each in heads] for column in found])
    generator = np.random.default_rng(0)
    drawn = generator.integers(len(seeds), size=(draws, len(seeds)))
    means = np.nan_to_num(errors[..., drawn].mean(axis=-1), nan=math.inf)  # column, head, draw
    ranks = rankdata(means, method="min", axis=1).mean(axis=0)
    return float((ranks.argmin(axis=0) == heads.index(head)).mean())


def timing(rows: list[Row], metric: str, head: str) -> float | None:
    """The median of a time over the graphs of 300 nodes, of the runs that were trained longest."""
    graphs = [name for name, problem in PROBLEMS.items() if problem.nodes and not problem.repairs]
    found = [row for row in pick(rows, metric, {"head": head}) if row.settings["problem"] in graphs]
    longest = max((row.epochs for row in found), default=0)
    return statistics.median(row.value for row in found if row.epochs == longest) if found else None
