"""The paper's heads by both protocols, side by side, and what the paper's numbers owe to its own."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from reproduction.experiments.graphs.data import NAMES, ROADS
from reproduction.experiments.graphs.findings import EUCLIDEAN, NETWORK, NORMS
from reproduction.experiments.graphs.tables import MOST, Cells, Choice, Runs
from reproduction.frame.paper import paper_values
from reproduction.frame.tables import Column, Measured, Table, summarize

BEST = "best norm"
PRINTED = "printed"
STOPPED = "stopped"
PROTOCOLS = {"paper": "rerun", "fast": "ours"}
KINDS = {EUCLIDEAN: (EUCLIDEAN,), BEST: NORMS, NETWORK: (NETWORK,)}
"""the heads that a group of columns stands for; of several, validation pairs choose one"""


class Errors(NamedTuple):
    """Errors of the best norm and of the MLP on one graph, by one protocol."""

    norm: float
    network: float


def compare_protocols(runs: Runs) -> Table | None:
    """Tabulate Euclidean distances, the best norm and the MLP: as printed, by the paper's protocol and by ours."""
    cells: Cells = {}
    for graph in NAMES:
        for size in runs.sizes("paper"):
            line = _line(graph, size)
            for kind in KINDS:
                found = {protocol: _measured(runs, protocol, graph, kind, size) for protocol in PROTOCOLS}
                if None in found.values():
                    continue
                for protocol, cell in found.items():
                    cells[line, _column(kind, PROTOCOLS[protocol])] = cell
                cells[line, _column(kind, STOPPED)] = _stopped(runs, graph, kind, size)
                printed = _printed(graph, kind) if size == MOST else None
                cells[line, _column(kind, PRINTED)] = "not printed" if printed is None else f"{printed:g}"
    if not cells:
        return None
    return Table(
        label="table_graph_protocols",
        title="Both protocols side by side: test MSE as the paper prints it, rerun by its protocol, and by ours",
        corner="graph, training pairs",
        columns=[
            Column(_column(kind, source), better=None)
            for kind in KINDS
            for source in (PRINTED, PROTOCOLS["paper"], STOPPED, PROTOCOLS["fast"])
        ],
        rows=list(dict.fromkeys(line for line, _ in cells)),
        cells=cells,
        note=f"Best norm: the one of {', '.join(NORMS)} that validation pairs prefer (printed: the smallest). The "
        f"paper prints errors for {MOST:,} pairs only; roads ({', '.join(ROADS)}) are those of a different city. "
        "Its errors are the best of encoders with 0 to 3 layers; which depth the reruns have is in the table above. "
        "Stopped: at the tenth of the epochs with the smallest error on validation pairs. " + " ".join(_owed(runs)),
    )


def _owed(runs: Runs) -> Iterator[str]:
    """What the paper's numbers owe to its protocol: how far its MLP is behind the best norm, by each of the two."""
    for size in runs.sizes("paper"):
        found = [both for graph in NAMES if (both := _errors(runs, graph, size)) is not None]
        if not found:
            continue
        words = []
        for protocol, name in (("paper", "by the paper's protocol"), ("fast", "by ours")):
            ratios = [both[protocol].network / both[protocol].norm for both in found]
            behind = sum(ratio > 1 for ratio in ratios)
            words.append(f"{name} on {behind} ({_range(ratios)} times its error)")
        norms, networks = ([both["fast"][i] / both["paper"][i] for both in found] for i in (0, 1))
        yield (
            f"With {size:,} pairs the MLP is behind the best norm {words[0]} of {len(found)} graphs, and {words[1]}. "
            f"Ours (deviation D32) multiplies the error of the best norm by {_range(norms)}, and that of the MLP by "
            f"{_range(networks)}."
        )


def _errors(runs: Runs, graph: str, size: int) -> dict[str, Errors] | None:
    errors = {}
    for protocol in PROTOCOLS:
        norm, network = (_measured(runs, protocol, graph, kind, size) for kind in (BEST, NETWORK))
        if norm is None or network is None:
            return None
        errors[protocol] = Errors(norm.value, network.value)
    return errors


def _measured(runs: Runs, protocol: str, graph: str, kind: str, size: int) -> Measured | None:
    """The test error of the head that validation prefers; None unless all heads of the kind were run."""
    choices = [runs.choice(protocol, graph, head, size) for head in KINDS[kind]]
    known: list[Choice] = [choice for choice in choices if choice is not None]
    if len(known) < len(choices):
        return None
    return min(known, key=lambda choice: choice.validation).measured("mse")


def _stopped(runs: Runs, graph: str, kind: str, size: int) -> Measured | None:
    """The same by the paper's protocol, at the point of the learning curve that validation pairs prefer."""
    found: list[tuple[float, Measured]] = []
    for head in KINDS[kind]:
        choice = runs.choice("paper", graph, head, size)
        curves = [row for row in choice.rows if row.metric == "curve"] if choice is not None else []
        points = [min(row.value, key=lambda point: point[2]) for row in curves]
        last = int(max((point[0] for point in points), default=0))  # of all seeds: only equal epochs are averaged
        test = [
            replace(row, metric="mse", value=point[3], epochs=last) for row, point in zip(curves, points, strict=True)
        ]
        error = summarize(test)
        if error is not None:
            found.append((statistics.fmean(point[2] for point in points), error))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _printed(graph: str, kind: str) -> float | None:
    values = paper_values("table_graph_results").get(graph)
    return None if values is None else min(float(values[head]) for head in KINDS[kind])


def _column(kind: str, source: str) -> str:
    return f"{kind}, {source}"


def _line(graph: str, size: int) -> str:
    return f"{graph}, {size:,}"


def _range(values: list[float]) -> str:
    low, high = (f"{value:.2g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"
