"""Whether a short protocol ranks the paper's heads like the paper's own, where both were run."""

from __future__ import annotations

from reproduction.experiments.graphs.data import NAMES
from reproduction.experiments.graphs.heads import PAPER
from reproduction.experiments.graphs.tables import Cells, Runs
from reproduction.frame.tables import Column, Table

DEPTH = 3
SHORT = {"tenth": "as the paper's, with a tenth of the epochs", "fast": "ours, with the best decay by validation"}
SAME = "pairs in the paper's order"
APART = 0.05
"""relative difference by the paper's protocol above which an order is more than chance"""


def rank_protocols(runs: Runs) -> Table | None:
    """Tabulate the errors of the heads, each with its rank, and how many pairs of heads are in the paper's order."""
    cells: Cells = {}
    for graph in NAMES:
        for size in runs.sizes("paper"):
            errors = {protocol: _errors(runs, protocol, graph, size) for protocol in ("paper", *SHORT)}
            for protocol in SHORT:
                both = [head for head in PAPER if head in errors["paper"] and head in errors[protocol]]
                if len(both) < 3:
                    continue
                for own in ("paper", protocol):
                    order = sorted(both, key=errors[own].__getitem__)
                    for head in both:
                        cells[_line(graph, size, own), head] = f"{errors[own][head]:.3g} ({order.index(head) + 1})"
                cells[_line(graph, size, "paper"), SAME] = "the reference"
                cells[_line(graph, size, protocol), SAME] = _agreement(
                    [errors["paper"][head] for head in both], [errors[protocol][head] for head in both]
                )
    if not cells:
        return None
    return Table(
        label="table_graph_ranking",
        title="The same ranks? Test MSE (and rank) by the paper's protocol and by shorter ones",
        corner="graph, training pairs, protocol",
        columns=[Column(name, better=None) for name in (*PAPER, SAME)],
        rows=list(dict.fromkeys(line for line, _ in cells)),
        cells=cells,
        note=f"Encoders of {DEPTH} layers. {'; '.join(f'{name}: {words}' for name, words in SHORT.items())}.",
    )


def _line(graph: str, size: int, protocol: str) -> str:
    return f"{graph}, {size:,}, {protocol}"


def _errors(runs: Runs, protocol: str, graph: str, size: int) -> dict[str, float]:
    errors = {}
    for head in PAPER:
        choice = runs.choice(protocol, graph, head, size, {"depth": DEPTH})
        cell = None if choice is None else choice.measured("mse")
        if cell is not None:
            errors[head] = cell.value
    return errors


def _agreement(paper: list[float], other: list[float]) -> str:
    pairs = [(i, j) for i in range(len(paper)) for j in range(i)]
    apart = [(i, j) for i, j in pairs if abs(paper[i] - paper[j]) > APART * min(paper[i], paper[j])]

    def same(some: list[tuple[int, int]]) -> int:
        return sum((paper[i] < paper[j]) == (other[i] < other[j]) for i, j in some)

    return f"{same(pairs)} of {len(pairs)}; of those {APART:.0%} apart {same(apart)} of {len(apart)}"
