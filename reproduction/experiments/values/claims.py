"""The paper's claims about value functions: heads are compared on the same seeds, and so on the same costs."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Literal

from scipy.stats import t as student

from reproduction.experiments.values.heads import CHOSEN, JUDGED
from reproduction.experiments.values.tables import FRACTIONS, WORLDS, Cells, comparable
from reproduction.frame.findings import judge
from reproduction.frame.rows import Row, longest_trained, pick
from reproduction.frame.tables import Column, Table, summarize

METRICS, PLAIN = ("DN", "WN"), ("MLP", "ICNN")
OURS = f"{CHOSEN} - best of DN, WN"
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Difference:
    """One head minus another, seed by seed."""

    value: float
    margin: float
    """half the confidence interval of a paired t test; infinite for one seed"""

    @property
    def mark(self) -> Literal[">", "<", "~"]:
        """Whether the first head is clearly higher, clearly lower, or neither."""
        if abs(self.value) <= self.margin:
            return "~"
        return ">" if self.value > 0 else "<"

    def __str__(self) -> str:
        return f"{self.value:+.3f} {self.mark}"


def difference(rows: list[Row], metric: str, world: str, fraction: float, one: str, other: str) -> Difference | None:
    """Compare two heads by the mean difference over the seeds that both have.

    Args:
        rows: of the ledger.
        metric: what is compared.
        world: one of `WORLDS`.
        fraction: of the goals seen.
        one: the first head.
        other: the head that is subtracted.
    """
    where = {**WORLDS[world], "fraction": fraction, "split": "goal"}
    first, second = (
        {row.seed: row.value for row in longest_trained(pick(rows, metric, {**where, "head": head}))}
        for head in (one, other)
    )
    gaps = [first[seed] - second[seed] for seed in first.keys() & second.keys()]
    if not gaps:
        return None
    n, margin = len(gaps), math.inf
    if n > 1:
        margin = float(student.ppf((1 + CONFIDENCE) / 2, n - 1)) * statistics.stdev(gaps) / math.sqrt(n)
    return Difference(statistics.fmean(gaps), margin)


def table(rows: list[Row]) -> Table:
    """Make the table of differences."""
    cells: Cells = {}
    for world in WORLDS:
        for fraction in FRACTIONS:
            line = f"{world} {fraction:g}"
            for metric in METRICS:
                for plain in PLAIN:
                    gap = difference(rows, "test spl", world, fraction, metric, plain)
                    if gap is not None:
                        cells[line, f"{metric} - {plain}"] = str(gap)
            ours = (difference(rows, "test spl", world, fraction, CHOSEN, head) for head in METRICS)
            gaps = [gap for gap in ours if gap is not None]
            if len(gaps) == len(METRICS):
                cells[line, OURS] = str(min(gaps, key=lambda gap: gap.value))
    columns = [f"{metric} - {plain}" for metric in METRICS for plain in PLAIN]
    lines = [f"{world} {fraction:g}" for world in WORLDS for fraction in FRACTIONS]
    return Table(
        label="table_value_claims",
        title="The paper's claims: differences of test SPL",
        corner="world, fraction",
        columns=[Column(name, better=None) for name in [*columns, OURS]],
        rows=[line for line in lines if any(row == line for row, _ in cells)],
        cells=cells,
        note="Means over seeds, each with the same costs for both heads. > or <: clearly, by a paired t test at "
        f"{CONFIDENCE:.0%}; ~: not. The last column has the head that was chosen on validation goals "
        "(values-search). " + " ".join(notes(rows)),
    )


def notes(rows: list[Row]) -> list[str]:
    """Write which claims hold."""
    return [note for note in (_first(rows), _second(rows), _third(rows)) if note]


def comparisons(rows: list[Row], metric: str, heads: tuple[str, ...] = METRICS) -> list[Difference]:
    """Compare these heads with MLP and ICNN with partial data and at least two seeds: one seed is no evidence."""
    return [
        gap
        for world in WORLDS
        for fraction in FRACTIONS[:-1]
        for one in heads
        for other in PLAIN
        if (gap := difference(rows, metric, world, fraction, one, other)) is not None and math.isfinite(gap.margin)
    ]


def _first(rows: list[Row]) -> str:
    """Deep and Wide Norm above MLP and ICNN with partial data."""
    found = {head: gaps for head in METRICS if (gaps := comparisons(rows, "test spl", (head,)))}
    if not found:
        return ""
    above = sum(gap.value > 0 for gaps in found.values() for gap in gaps)
    texts = [
        f"{head} is higher in {sum(gap.value > 0 for gap in gaps)} of {len(gaps)} comparisons, clearly in "
        f"{_marked(gaps, '>')}, clearly lower in {_marked(gaps, '<')}"
        for head, gaps in found.items()
    ]
    return (
        '"Deep Norm and Wide Norm consistently outperform both MLPs and ICNNs" '
        f"{judge(above, sum(map(len, found.values())))}: with partial data the mean of {'; that of '.join(texts)}."
    )


def _marked(gaps: list[Difference], mark: str) -> int:
    return sum(gap.mark == mark for gap in gaps)


def _second(rows: list[Row]) -> str:
    """The Euclidean metric cannot solve asymmetric worlds."""
    worse, texts = euclidean_cases(rows)
    if not worse:
        return ""
    return (
        '"The Euclidean metric could not solve the asymmetric environments" '
        f"{judge(sum(worse), len(worse))} for training pairs: clearly worse than Wide Norms in {sum(worse)} of "
        f"{len(worse)} cells ({', '.join(texts)})."
    )


def euclidean_cases(rows: list[Row]) -> tuple[list[bool], list[str]]:
    """Whether the Euclidean metric is clearly worse than Wide Norms on training pairs, and both numbers, by cell."""
    worse, texts = [], []
    for world in ("4-Room asym", "Maze asym"):
        for fraction in FRACTIONS:
            gap = difference(rows, "train spl", world, fraction, "Euclidean", "WN")
            euclidean, wide = (
                summarize(comparable(rows, "train spl", world, fraction, head, among=JUDGED))
                for head in ("Euclidean", "WN")
            )
            if gap is not None and math.isfinite(gap.margin) and euclidean is not None and wide is not None:
                worse.append(gap.mark == "<")
                texts.append(f"{world} {fraction:g}: {euclidean.value:.2f} against {wide.value:.2f}")
    return worse, texts


def signs_of(rows: list[Row]) -> list[tuple[bool, bool]]:
    """Whether a Deep or Wide Norm has a higher test MSE, and whether a higher test SPL, in each comparison."""
    errors, spl = comparisons(rows, "test mse"), comparisons(rows, "test spl")
    return [(error.value > 0, gap.value > 0) for error, gap in zip(errors, spl, strict=True)]


def _third(rows: list[Row]) -> str:
    """Deep and Wide Norm have a higher MSE and yet a better SPL."""
    signs = signs_of(rows)
    if not signs:
        return ""
    both, agreeing = signs.count((True, True)), sum(error != gap for error, gap in signs)
    return (
        f'"Higher MSE, yet better success" {judge(both, len(signs))}: a Deep or Wide Norm has both a higher test MSE '
        f"and a higher test SPL in {both} of {len(signs)} comparisons; in {agreeing} the better planner has the "
        "smaller error."
    )
