"""The tables of the leaderboard: errors, ranks, leaders, and which head to use when."""

from __future__ import annotations

from collections.abc import Callable

from reproduction.experiments.leaderboard.heads import HEADS, RECOMMENDED, is_metric
from reproduction.experiments.leaderboard.problems import PROBLEMS, SHARES
from reproduction.experiments.leaderboard.scores import (
    Scores,
    columns,
    complete,
    mean_rank,
    resampled_firsts,
    times_the_best,
    timing,
)
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import Column, Measured, Table, summarize

Cells = dict[tuple[str, str], Measured | str | None]
GRAPHS = tuple(name for name, problem in PROBLEMS.items() if problem.trainings == SHARES)
NEAR_BEST = 1.1


def _shares(*wanted: int) -> Callable[[Scores], bool]:
    return lambda column: column.problem in GRAPHS and column.training in wanted


def _problem(*names: str) -> Callable[[Scores], bool]:
    return lambda column: column.problem in names


SITUATIONS: dict[str, Callable[[Scores], bool]] = {
    "a graph, few pairs known (1, 3 %)": _shares(1, 3),
    "a graph, some pairs known (8, 24 %)": _shares(8, 24),
    "a graph, most pairs known (70 %)": _shares(70),
    "random digraphs": _problem("dense", "sparse", "block"),
    "one-way streets": _problem("city"),
    "unreachable pairs": _problem("unreachable"),
    "a matrix to repair": _problem("nearness sym", "nearness asym"),
    "a norm of given vectors": _problem("norm sym", "norm asym"),
    "anything": lambda _: True,
}
GROUPS: dict[str, Callable[[Scores], bool]] = {
    "rank": lambda _: True,
    "1, 3 %": _shares(1, 3),
    "8, 24 %": _shares(8, 24),
    "70 %": _shares(70),
    "repair": _problem("nearness sym", "nearness asym"),
    "plane": _problem("norm sym", "norm asym"),
}


def tables(rows: list[Row]) -> list[Table]:
    """Make all tables."""
    found = columns(rows)
    return [_ranks(rows, found), _which(rows, found), _leaders(found), *_errors(found)]


def _ranks(rows: list[Row], found: list[Scores]) -> Table:
    whole = complete(found)
    heads = [head for head in HEADS if any(head in column.rows for column in whole)]
    heads.sort(key=lambda head: mean_rank(whole, head) or 0)
    cells: Cells = {}
    for head in heads:
        for group, wanted in GROUPS.items():
            rank = mean_rank([column for column in whole if wanted(column)], head)
            cells[head, group] = _number(rank, ".2f" if group == "rank" else ".1f")
        cells[head, "leads"] = str(sum(column.order()[:1] == [head] for column in whole))
        cells[head, "x best"] = _number(times_the_best(whole, head), ".2f")
        cells[head, "parameters"] = _parameters(rows, head)
        cells[head, "step ms"] = _number(timing(rows, "step ms", head), ".2g")
        cells[head, "all pairs ms"] = _number(timing(rows, "all pairs ms", head), ".2g")
    names = [*GROUPS, "leads", "x best", "parameters", "step ms", "all pairs ms"]
    return Table(
        label="table_leaderboard_ranks",
        title=f"The leaderboard: mean rank over {len(whole)} columns (problem and training share)",
        corner="head",
        columns=[Column(name, better=None) for name in names],
        rows=heads,
        cells=cells,
        note="Rank 1 is the smallest mean error over the seeds; the MLP is not a metric but is ranked with the rest. "
        "leads: columns in which it is the best metric. x best: geometric mean of its error over that of the best "
        "metric of the column. parameters: embeddings and head, on graphs of 300 nodes. Times are rough, measured "
        "during the sweep on a machine that may have been busy: a training step on 256 or 512 pairs (share of one "
        f"model in a batch of all seeds, one thread), and all 300 x 300 distances. {_of_the_default(whole)}"
        f"{_missing(found, whole)}The heads: " + "; ".join(f"{head}, {HEADS[head].about}" for head in HEADS) + ".",
    )


def _which(rows: list[Row], found: list[Scores]) -> Table:
    whole = complete(found)
    cells: Cells = {}
    for situation, wanted in SITUATIONS.items():
        chosen = [column for column in whole if wanted(column)]
        factors = {head: factor for head in HEADS if (factor := times_the_best(chosen, head)) is not None}
        metrics = [head for head in factors if is_metric(head)]
        if not metrics:
            continue
        order = sorted(metrics, key=lambda head: factors[head])
        near = [head for head in order if factors[head] <= NEAR_BEST * factors[order[0]]]
        cheapest = min(near, key=lambda head: timing(rows, "step ms", head) or 0)
        cells[situation, "use"] = f"{order[0]} ({factors[order[0]]:.2f})"
        cells[situation, "then"] = ", ".join(f"{head} ({factors[head]:.2f})" for head in order[1:3])
        cells[situation, "cheapest within 10 %"] = cheapest
        cells[situation, "MLP, not a metric"] = _number(factors.get("MLP"), ".2f")
        cells[situation, "columns"] = str(len(chosen))
    names = ["use", "then", "cheapest within 10 %", "MLP, not a metric", "columns"]
    return Table(
        label="table_leaderboard_which",
        title="Which head to use when",
        corner="situation",
        columns=[Column(name, better=None) for name in names],
        rows=list(SITUATIONS),
        cells=cells,
        note="In brackets: the error over that of the best metric of each column (geometric mean). The cheapest has "
        "the shortest training step of those within a tenth of the best.",
    )


def _leaders(found: list[Scores]) -> Table:
    cells: Cells = {}
    for column in complete(found):
        order = column.order()
        if column.problem not in GRAPHS or len(order) < 2:
            continue
        first, second = order[:2]
        plain = column.order(_is_plain)[0]
        sign = "<" if column.clear(first, second) else "~"
        text = f"{first} {column.mean(first):.3g} {sign} {second} {column.mean(second):.3g}"
        cells[column.problem, f"{column.training} %"] = text if plain == first else f"{text}; plain: {plain}"
    return Table(
        label="table_leaderboard_leaders",
        title="Who leads with how much data",
        corner="problem",
        columns=[Column(f"{share} %", better=None) for share in SHARES],
        rows=list(GRAPHS),
        cells=cells,
        note="The best metric and the next; ~ where they differ by less than two standard errors over the graphs. "
        "plain: the best of those without tolls and sums. " + " ".join(_claims(found)),
    )


def notes(rows: list[Row]) -> list[str]:
    """Write where the default ranks, and which claims hold."""
    found = columns(rows)
    return [text for text in (_of_the_default(complete(found)).strip(), *_claims(found)) if text]


def place_of_default(rows: list[Row]) -> str | None:
    """Say in a line where the default ranks; None without complete columns."""
    whole = complete(columns(rows))
    if not whole or RECOMMENDED not in whole[0].rows:
        return None
    heads = sorted(whole[0].rows, key=lambda head: mean_rank(whole, head) or 0)
    return (
        f"tm.recommended ({RECOMMENDED}) is number {heads.index(RECOMMENDED) + 1} of {len(heads)}, mean rank "
        f"{mean_rank(whole, RECOMMENDED):.2f} over {len(whole)} columns"
    )


def _of_the_default(whole: list[Scores]) -> str:
    """Say how certain its rank is, because the first few heads are close to each other."""
    if not whole or RECOMMENDED not in whole[0].rows:
        return ""
    heads = sorted(whole[0].rows, key=lambda head: mean_rank(whole, head) or 0)
    share = resampled_firsts(whole, RECOMMENDED)
    return (
        f"tm.recommended ({RECOMMENDED}) is number {heads.index(RECOMMENDED) + 1} of {len(heads)} by mean rank, "
        f"{mean_rank(whole, RECOMMENDED):.2f}; the first five are "
        + ", ".join(f"{head} {mean_rank(whole, head):.2f}" for head in heads[:5])
        + f". With seeds resampled with replacement, it comes first in {share:.0%} of 200 draws. "
    )


def _claims(found: list[Scores]) -> list[str]:
    """Check whether interval quasimetrics lead with little data and Deep Norms with much, among plain heads."""
    claims = (("IQE leads with little data", "Interval", (1, 3)), ("Deep Norm leads with 70 %", "Deep", (70,)))
    texts = []
    for claim, family, shares in claims:
        asked = [column for column in complete(found) if _shares(*shares)(column)]
        leaders = [(column.name, order[0]) for column in asked if (order := column.order(_is_plain))]
        if not leaders:
            texts.append(f'"{claim}": no run yet.')
            continue
        held = sum(HEADS[head].family == family for _, head in leaders)
        others = [f"{head} ({name})" for name, head in leaders if HEADS[head].family != family]
        verdict = "holds" if not others else "fails" if held == 0 else "holds in part"
        text = f'"{claim}" {verdict}: among plain metrics it does in {held} of {len(leaders)} columns'
        texts.append(text + (f"; elsewhere {', '.join(others)} does." if others else "."))
    return texts


def _is_plain(head: str) -> bool:
    return HEADS[head].plain and is_metric(head)


def _errors(found: list[Scores]) -> list[Table]:
    groups = {
        **{name: [name] for name in GRAPHS},
        "nearness": ["nearness sym", "nearness asym"],
        "norms of the plane": ["norm sym", "norm asym"],
    }
    tables = [_error_table(title, names, found) for title, names in groups.items()]
    return [table for table in tables if table.cells]


def _error_table(title: str, names: list[str], found: list[Scores]) -> Table:
    cells: Cells = {
        (head, column.name): summarize(list(seeds.values()))
        for column in found
        if column.problem in names
        for head, seeds in column.rows.items()
    }
    problem, there = PROBLEMS[names[0]], {head for head, _ in cells}
    unit = {
        True: "squared distance to the matrix over the squared size of the matrix",
        False: "mean squared error over the variance of the targets, on pairs not trained on",
    }[problem.repairs]
    discounted = f" Targets and predictions are discounts {problem.gamma}^d." if problem.gamma else ""
    return Table(
        label=f"table_leaderboard_{title.replace(' ', '_')}",
        title=f"{title}: {'; '.join(PROBLEMS[name].about for name in names)}",
        corner="head",
        columns=[Column(PROBLEMS[name].column(size)) for name in names for size in PROBLEMS[name].trainings],
        rows=[head for head in HEADS if head in there],
        cells=cells,
        note=f"Error: {unit}; mean over seeds, each a different distance.{discounted}",
        trained_in="steps",
    )


def _parameters(rows: list[Row], head: str) -> str:
    counts = {row.value for name in GRAPHS for row in pick(rows, "parameters", {"head": head, "problem": name})}
    return ", ".join(f"{count:,}" for count in sorted(counts))


def _missing(found: list[Scores], whole: list[Scores]) -> str:
    """Say what an unfinished sweep has not done yet."""
    left = len(found) - len(whole)
    late = [head for head, each in HEADS.items() if each.late and any(head not in column.rows for column in whole)]
    texts = [f"Columns that are not complete and do not count: {left}. "] if left else []
    texts += [f"Not yet in every column: {', '.join(late)}. "] if late and whole else []
    return "".join(texts)


def _number(value: float | None, form: str) -> str | None:
    return None if value is None else format(value, form)
