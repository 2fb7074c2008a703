"""The picture of the leaderboard: error against the training share, one panel per problem, one line per head."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Plot
from matplotlib.ticker import FormatStrFormatter, LogLocator

from reproduction.experiments.leaderboard.heads import HEADS, is_metric
from reproduction.experiments.leaderboard.problems import PROBLEMS
from reproduction.experiments.leaderboard.scores import Scores, columns
from reproduction.frame.figures import Figure, has_line
from reproduction.frame.rows import Row
from reproduction.frame.styles import styles_of
from reproduction.frame.tables import Measured, summarize

STYLE = styles_of(HEADS)


def figures(rows: list[Row]) -> list[Figure]:
    found = columns(rows)
    if not found:
        return []
    # The line of a late head without some columns would misleadingly pass straight through them.
    enough = {True: all, False: any}
    heads = [head for head, each in HEADS.items() if enough[each.late](head in column.rows for column in found)]
    run = {column.problem for column in found}
    lines = {name: _lines(found, heads, name) for name in PROBLEMS if name in run}
    problems = [name for name, own in lines.items() if has_line(own.values())]
    if not problems:
        return []
    plot = Plot(figsize=(16, 8.4), layout="constrained")
    axes = plot.subplots(2, 4).ravel()
    for ax in axes[len(problems) :]:
        ax.axis("off")
    for ax, name in zip(axes, problems, strict=False):
        problem = PROBLEMS[name]
        for head, points in lines[name].items():
            amounts, values = zip(*points, strict=True)
            ax.errorbar(
                amounts,
                [value.value for value in values],
                yerr=[value.spread or 0 for value in values],
                elinewidth=0.6,
                **STYLE[head].options(),
            )
        _dress(ax, f"{name}: {problem.about}", problem.trainings, problem.unit)
        own = [column for column in found if column.problem == name]
        errors = [column.mean(head) for column in own for head in heads if head in column.rows and is_metric(head)]
        _set_range(ax, [error for error in errors if 0 < error < math.inf])
    legend = axes[len(problems)]
    for head in heads:
        legend.plot([], [], label=head, **STYLE[head].options())
    legend.legend(ncols=2, loc="center", fontsize=9, frameon=False, handlelength=3)
    return [
        Figure(
            label="figure_leaderboard",
            title="The leaderboard: error against the amount of training data",
            alt="A panel for each problem, with a line for each head: the error on pairs not trained on, over the "
            "variance of their distances, against the share of the pairs trained on; both axes are logarithmic.",
            plot=plot,
            stem="leaderboard",
        )
    ]


def _lines(found: list[Scores], heads: list[str], problem: str) -> dict[str, list[tuple[int, Measured]]]:
    """By head, the amounts of training data and what was measured."""
    lines: dict[str, list[tuple[int, Measured]]] = {}
    for column in found:
        for head in heads:
            if column.problem == problem and head in column.rows:
                point = summarize(list(column.rows[head].values()))
                if point is not None:
                    lines.setdefault(head, []).append((column.training, point))
    return {head: lines[head] for head in heads if head in lines}


def _dress(ax: Axes, title: str, amounts: tuple[int, ...], unit: str) -> None:
    ax.set_title(title, fontsize=10)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(amounts, [f"{amount} {unit}" if unit == "%" else str(amount) for amount in amounts])
    ax.yaxis.set_major_formatter(FormatStrFormatter("%g"))
    ax.minorticks_off()
    ax.set_xlim(amounts[0] / 1.3, amounts[-1] * 1.3)
    ax.set_xlabel("ordered pairs trained on" if unit == "%" else "vectors trained on", fontsize=9)
    ax.set_ylabel("error", fontsize=9)
    ax.grid(alpha=0.25)


def _set_range(ax: Axes, errors: list[float]) -> None:
    """Set the range of the metrics: a network that failed to train, or a spread down to 0, may leave the panel."""
    if not errors:
        return
    least, most = min(errors) / 1.2, max(errors) * 1.2
    ax.set_ylim(least, most)
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if most / least > 10 else (1, 1.2, 1.5, 2, 3, 5, 7, 8)))
