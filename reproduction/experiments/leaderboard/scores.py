"""Errors by column and head, from the rows of the leaderboard: who leads, and by how much."""

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
class Column:
    """A problem and how much there is to train on: the rows of the largest effort, by head and seed."""

    problem: str
    training: int
    effort: Effort
    rows: dict[str, dict[int, Row]]

    @property
    def name(self) -> str:
        return PROBLEMS[self.problem].column(self.training)

    def errors(self, head: str) -> dict[int, float]:
        return {seed: float(row.value) for seed, row in self.rows[head].items()}

    def mean(self, head: str) -> float:
        """Over the seeds; infinite where one of them came to nothing."""
        mean = statistics.fmean(self.errors(head).values())
        return math.inf if math.isnan(mean) else mean

    def rank(self, head: str) -> int:
        """1 + the number of better heads."""
        return 1 + sum(self.mean(other) < self.mean(head) for other in self.rows)

    def order(self, wanted: Callable[[str], bool] = is_metric) -> list[str]:
        """The wanted heads, the best first; by default all metrics."""
        return sorted(filter(wanted, self.rows), key=self.mean)

    def least(self) -> float:
        """The least error of a metric."""
        return min((self.mean(head) for head in self.order()), default=math.nan)

    def clear(self, better: str, worse: str) -> bool:
        """Whether the difference, graph by graph, is more than two standard errors of its mean."""
        ours, theirs = self.errors(better), self.errors(worse)
        differences = [theirs[seed] - ours[seed] for seed in ours if seed in theirs]
        if len(differences) < 2:
            return False
        return statistics.fmean(differences) > 2 * statistics.stdev(differences) / math.sqrt(len(differences))


def columns(rows: list[Row]) -> list[Column]:
    """Whatever columns there are, in the order of the problems."""
    efforts: dict[tuple[str, int], dict[Effort, dict[str, dict[int, Row]]]] = {}
    for row in pick(rows, "error", {}):
        settings = row.settings
        effort = (settings["steps"], len(settings["rates"]))
        by_effort = efforts.setdefault((settings["problem"], settings["training"]), {})
        by_effort.setdefault(effort, {}).setdefault(settings["head"], {})[row.seed] = row
    return [
        Column(name, training, effort, by_effort[effort])
        for name, problem in PROBLEMS.items()
        for training in problem.trainings
        if (by_effort := efforts.get((name, training)))
        for effort in [max(by_effort)]
    ]


def complete(found: Iterable[Column]) -> list[Column]:
    """The columns of the largest effort that hold every head it was spent on, but for late ones.

    A sweep that was cut short within a column would else flatter the heads that came first.  Each holds the same heads,
    so that a rank means the same in all: a late head that some column lacks is left out of the others.
    """
    found = list(found)
    largest = max((column.effort for column in found), default=None)
    alike = [column for column in found if column.effort == largest]
    heads = {head for column in alike for head in column.rows if not HEADS[head].late}
    whole = [column for column in alike if heads <= column.rows.keys()]
    common = [head for head in HEADS if all(head in column.rows for column in whole)]
    return [replace(column, rows={head: column.rows[head] for head in common}) for column in whole]


def times_the_best(found: list[Column], head: str) -> float | None:
    """The geometric mean, over the columns that have the head, of its error over the least of a metric."""
    ratios = [column.mean(head) / column.least() for column in found if head in column.rows]
    if not ratios or not all(0 < ratio < math.inf for ratio in ratios):
        return None
    return statistics.geometric_mean(ratios)


def mean_rank(found: list[Column], head: str) -> float | None:
    ranks = [column.rank(head) for column in found if head in column.rows]
    return statistics.fmean(ranks) if ranks else None


def resampled_firsts(found: list[Column], head: str, *, draws: int = 200) -> float:
    """The share of draws, with replacement, of the seeds that all have, in which the head has the best mean rank."""
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
    """The median over the graphs of 300 nodes, of the runs that were trained longest."""
    graphs = [name for name, problem in PROBLEMS.items() if problem.nodes and not problem.repairs]
    found = [row for row in pick(rows, metric, {"head": head}) if row.settings["problem"] in graphs]
    longest = max((row.epochs for row in found), default=0)
    return statistics.median(row.value for row in found if row.epochs == longest) if found else None
