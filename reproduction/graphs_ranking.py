"""Whether the fast protocol ranks the paper's heads as the paper's own does, where both were run."""

from __future__ import annotations

from reproduction.graphs_data import NAMES
from reproduction.graphs_heads import PAPER
from reproduction.graphs_tables import Cells, Runs
from reproduction.tables import Column, Table

DEPTH = 3
SAME = "pairs in one order"


def ranking(runs: Runs) -> Table | None:
    """The errors of the heads, each with its place, and how many pairs of heads come in the same order."""
    cells: Cells = {}
    sizes = [size for size in runs.sizes("paper") if size in runs.sizes("fast")]
    for graph in NAMES:
        for size in sizes:
            errors = {protocol: _errors(runs, protocol, graph, size) for protocol in ("paper", "fast")}
            both = [head for head in PAPER if all(head in own for own in errors.values())]
            if len(both) < 3:
                continue
            for protocol, own in errors.items():
                order = sorted(both, key=own.__getitem__)
                for head in both:
                    cells[f"{graph}, {size:,}, {protocol}", head] = f"{own[head]:.3g} ({order.index(head) + 1})"
            same = _agreement(*([own[head] for head in both] for own in errors.values()))
            cells |= {(f"{graph}, {size:,}, {protocol}", SAME): same for protocol in errors}
    if not cells:
        return None
    return Table(
        label="table_graph_ranking",
        title="The same ranks? Test MSE (and place) by the paper's protocol and by our fast one",
        corner="graph, training pairs, protocol",
        columns=[Column(name, better=None) for name in (*PAPER, SAME)],
        rows=list(dict.fromkeys(line for line, _ in cells)),
        cells=cells,
        note=f"Encoders of {DEPTH} layers. In the fast protocol the best decay by validation; the paper has none.",
    )


def _errors(runs: Runs, protocol: str, graph: str, size: int) -> dict[str, float]:
    errors = {}
    for head in PAPER:
        choice = runs.choice(protocol, graph, head, size, {"depth": DEPTH})
        cell = None if choice is None else choice.measured("mse")
        if cell is not None:
            errors[head] = cell.value
    return errors


def _agreement(one: list[float], other: list[float]) -> str:
    pairs = [(i, j) for i in range(len(one)) for j in range(i)]
    same = sum((one[i] < one[j]) == (other[i] < other[j]) for i, j in pairs)
    return f"{same} of {len(pairs)}"
