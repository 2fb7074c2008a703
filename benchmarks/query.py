"""A single query: processor time of `Model.distances` for one pair, against the definition on the same points."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from rich.console import Console
from rich.table import Table

import trimetric as tm
from trimetric.models.heads import make_head

OBJECTS, DIM = 10_000, 64
IN_TURN = 50
"""calls whose time is taken together"""


@dataclass(frozen=True)
class Query:
    """One kind of model."""

    model: str
    microseconds: float
    """of `Model.distances`, for a pair of names"""
    definition: float
    """of the network, called with the two points"""

    @property
    def ratio(self) -> float:
        """The query over the definition."""
        return self.microseconds / self.definition


def run(*, calls: int = 20_000) -> list[Query]:
    """Measure models of points and of an encoder.

    Args:
        calls: how many of each.
    """
    torch.set_num_threads(1)
    names = [str(i) for i in range(OBJECTS)]
    head = tm.Calibrated(make_head("wide", DIM, concave_units=5))
    models = {
        "points of a map": tm.Model(head, names, torch.randn(OBJECTS, DIM)),
        "embedding": tm.Model(tm.Siamese(torch.nn.Embedding(OBJECTS, DIM), head), names),
        "Euclidean": tm.Model(tm.NormInduced(tm.Euclidean(DIM)), names, torch.randn(OBJECTS, DIM)),
    }
    return [_measure(name, model, calls) for name, model in models.items()]


@torch.no_grad()
def _measure(name: str, model: tm.Model, calls: int) -> Query:
    x, y = model.objects(["1"]), model.objects(["2"])
    network = model.network.eval()
    ways: dict[str, Callable[[], object]] = {
        "query": lambda: model.distances(["1"], ["2"]),
        "definition": lambda: network(x, y),
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(calls // IN_TURN):  # short turns, some of which nothing else interrupts
        for way, work in ways.items():
            start = time.process_time()
            for _ in range(IN_TURN):
                work()
            best[way] = min(best[way], (time.process_time() - start) / IN_TURN * 1e6)
    return Query(name, best["query"], best["definition"])


def show(measured: list[Query], console: Console) -> None:
    """Print what `run` has returned."""
    table = Table("model", "us per query", "us of the definition", "ratio", title="One pair of names, on one thread")
    for row in measured:
        table.add_row(row.model, f"{row.microseconds:.1f}", f"{row.definition:.1f}", f"{row.ratio:.2f}")
    console.print(table)
