"""The paper's claims about graphs, checked with our rows."""

from __future__ import annotations

from collections.abc import Collection

from reproduction.experiments.graphs.data import ASYMMETRIC, SYMMETRIC
from reproduction.experiments.graphs.tables import Runs
from reproduction.frame.findings import Check, Finding, check, find
from reproduction.frame.paper import paper_values
from reproduction.frame.rows import Row

NORMS = ("WN", "DN_I", "DN_N")
"""the heads that the paper proposes"""
EUCLIDEAN, NETWORK = "Eucl.", "MLP"
PREFERRED = ("fast", "paper")
"""protocols with which claims are checked; curves by the first of them that was run"""
BY = {"fast": "tuned", "paper": "by the paper's protocol"}


def findings(rows: list[Row]) -> dict[str, Finding]:
    """Judge the claims, by label."""
    runs = Runs(rows)
    protocol = next((name for name in PREFERRED if name in runs.protocols()), None)
    if protocol is None:
        return {}
    theirs = paper_values("table_graph_results")
    found = {"table_graph_results": _results(runs, list(theirs))}
    for kind, graphs in (("symmetric", SYMMETRIC), ("asymmetric", ASYMMETRIC)):
        names = [graph for graph in graphs if graph in theirs]
        found[f"figure_{kind}_graph_learning_curves"] = _curves(runs, protocol, names)
    return {label: finding for label, finding in found.items() if finding is not None}


def _error(runs: Runs, protocol: str, graph: str, head: str, size: int) -> float | None:
    choice = runs.choice(protocol, graph, head, size)
    cell = None if choice is None else choice.measured("mse")
    return None if cell is None else cell.value


def _results(runs: Runs, graphs: Collection[str]) -> Finding | None:
    """Each norm against the Euclidean distance, and the best of them against the MLP, by both protocols."""
    checks = []
    for protocol in PREFERRED:
        if protocol not in runs.protocols():
            continue
        size = max(runs.sizes(protocol))
        cases = [
            error < euclidean
            for graph in graphs
            if (euclidean := _error(runs, protocol, graph, EUCLIDEAN, size)) is not None
            for head in NORMS
            if (error := _error(runs, protocol, graph, head, size)) is not None
        ]
        words = f"{BY[protocol]}, {size:,} pairs"
        checks += [
            check(f"{words}: below Euclidean", cases),
            _best_below(runs, protocol, graphs, [size], NETWORK, f"{words}: the best below the MLP", "graphs"),
        ]
    return find(*checks)


def _curves(runs: Runs, protocol: str, graphs: Collection[str]) -> Finding | None:
    """The best of the norms against both, with every number of training pairs."""
    sizes = runs.sizes(protocol)
    return find(
        _best_below(runs, protocol, graphs, sizes, EUCLIDEAN, "best norm below Euclidean", "points"),
        _best_below(runs, protocol, graphs, sizes, NETWORK, "below our tuned MLP", "points"),
        note=_few(runs, protocol, graphs, min(sizes)),
    )


def _few(runs: Runs, protocol: str, graphs: Collection[str], size: int) -> str:
    least = _best_below(runs, protocol, graphs, [size], NETWORK, f"with {size:,} pairs", "graphs")
    return f"{least.words} in {least.held} of {least.asked}" if least.asked else ""


def _best_below(
    runs: Runs, protocol: str, graphs: Collection[str], sizes: Collection[int], other: str, words: str, unit: str
) -> Check:
    cases = []
    for graph in graphs:
        for size in sizes:
            rival = _error(runs, protocol, graph, other, size)
            errors = [error for head in NORMS if (error := _error(runs, protocol, graph, head, size)) is not None]
            if rival is not None and errors:
                cases.append(min(errors) < rival)
    return check(words, cases, unit)
