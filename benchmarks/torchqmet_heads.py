"""The classes of `torchqmet`, another library of quasimetrics, where the user has it importable.

It is never a dependency: it is not on PyPI, and all that is used of it is what its documentation promises.  It is
compared with the classes of `trimetric.integrations.torchqmet`, which are the same functions ("one import changed"),
and with our heads of that kind and size, which may be others: our Wide Norm is rectified, without concave units.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

import trimetric as tm
from benchmarks.timing import best_seconds, timed_pass
from trimetric.integrations import torchqmet as drop_in

ABSENT = "torchqmet: not importable here, so there is no comparison with it (it is not on PyPI; put it on PYTHONPATH)"
DIM, ROWS, PAIRS = 128, 256, 1024
WAYS = ("pairs", "all pairs", "step")


@dataclass(frozen=True)
class Compared:
    """One head of both libraries, in seconds."""

    head: str
    way: str
    """"pairs" and "all pairs" (with gradients), or "step": an encoder below, a loss and Adam"""
    ours: float
    theirs: float


def torchqmet() -> ModuleType | None:
    """Import torchqmet, or return None where that fails."""
    try:
        return importlib.import_module("torchqmet")
    except ImportError:
        return None


def heads_of(module: ModuleType | None, dim: int) -> dict[str, nn.Module]:
    """Build each head that can be built with torchqmet's documented arguments, as large as ours of the same name.

    Args:
        module: torchqmet, or what has its names; None for no heads.
        dim: number of coordinates.

    Returns:
        Modules that map two broadcastable tensors `(..., dim)` to `(...)`, by our name of the head.

    Examples:
        >>> set(heads_of(drop_in, 128)) == set(our_heads(128))
        True
    """
    wanted: dict[str, tuple[str, dict[str, object]]] = {
        "IQE": ("IQE", {"dim_per_component": 16}),
        "PQE": ("PQE", {"dim_per_component": 16}),
        "WN": ("WideNorm", {"num_components": 32, "output_component_size": 32}),
        "DN": ("DeepNorm", {"num_components": dim, "num_layers": 3}),
        "MRN": ("MRNFixed", {}),
    }
    found = {}
    for name, (class_name, options) in wanted.items():
        if (make := getattr(module, class_name, None)) is None:
            continue
        known = inspect.signature(make).parameters
        if all(option in known for option in options):
            found[name] = make(dim, **options)
    return found


def our_heads(dim: int) -> dict[str, tm.Distance]:
    """Build our heads that those of torchqmet are compared with.

    Args:
        dim: number of coordinates.

    Returns:
        Distances by name.  MRN has the two projections that torchqmet's class contains.

    Examples:
        >>> list(our_heads(128))
        ['IQE', 'PQE', 'WN', 'DN', 'MRN']
    """
    return {
        "IQE": tm.IntervalQuasimetric(dim, components=dim // 16),
        "PQE": tm.PoissonQuasimetric(dim, components=dim // 16),
        "WN": tm.NormInduced(tm.WideNorm(dim, components=32, width=32)),
        "DN": tm.NormInduced(tm.DeepNorm(dim, widths=(dim,) * 3)),
        "MRN": tm.ResidualMetric(32),
    }


def projected(name: str, dim: int) -> nn.Module:
    """Build what our head needs below it to be as large as the peer's.

    Args:
        name: of the head.
        dim: number of coordinates.
    """
    return _Projections(dim) if name == "MRN" else nn.Identity()


class _Projections(nn.Module):
    """Two perceptrons with a hidden layer of 176, as torchqmet's MRN has them; 16 outputs each."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.parts = nn.ModuleList(tm.MLP(dim, 16, widths=(176,)) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([part(x) for part in self.parts], dim=-1)


def run(*, budget: float = 3.0) -> list[Compared]:
    """Compare all heads that both libraries have.

    Args:
        budget: seconds to measure each cell.

    Returns:
        One entry for each head and way; none where torchqmet is not importable.
    """
    torch.manual_seed(0)
    theirs, ours, changed = heads_of(torchqmet(), DIM), our_heads(DIM), heads_of(drop_in, DIM)
    rows = []
    for name, their in theirs.items():
        for label, below, head in (
            (name, projected(name, DIM), ours[name]),
            (f"{name}, one import changed", nn.Identity(), changed[name]),
        ):
            for way in WAYS:
                ways = {"ours": _ours(way, below, head), "theirs": _theirs(way, their)}
                for call in ways.values():
                    call()  # the first call compiles, and would use up the budget
                seconds = best_seconds(ways, budget=budget, processor=True)
                rows.append(Compared(label, way, seconds["ours"], seconds["theirs"]))
    return rows


def show(rows: list[Compared], console: Console) -> None:
    """Print what `run` has returned, or that torchqmet is absent."""
    if not rows:
        console.print(ABSENT, highlight=False)
        return
    table = Table(title=f"Against torchqmet, dim {DIM}, processor time: ms | times faster than torchqmet")
    for heading in ("", *WAYS):
        table.add_column(heading, justify="right" if heading else "left")
    cells: Mapping[tuple[str, str], Compared] = {(row.head, row.way): row for row in rows}
    for name in dict.fromkeys(row.head for row in rows):
        found = (cells[name, way] for way in WAYS)
        table.add_row(name, *(f"{1e3 * row.ours:.3g} | {row.theirs / row.ours:.2f}" for row in found))
    console.print(table)


def _ours(way: str, below: nn.Module, head: nn.Module) -> Callable[[], object]:
    if way == "all pairs":
        return _timed(lambda x, y: tm.all_pairs(head, below(x), below(y)))
    model = tm.Siamese(below, head) if not isinstance(below, nn.Identity) else head
    return _pairs(model) if way == "pairs" else _step(model)


def _theirs(way: str, head: nn.Module) -> Callable[[], object]:
    if way == "all pairs":
        return _timed(lambda x, y: head(x.unsqueeze(1), y.unsqueeze(0)))
    return _pairs(head) if way == "pairs" else _step(head)


def _timed(call: Callable[[Tensor, Tensor], Tensor]) -> Callable[[], object]:
    x, y = (torch.randn(ROWS, DIM, requires_grad=True) for _ in range(2))
    return timed_pass(x, y, backward=True)(call)


def _pairs(model: nn.Module) -> Callable[[], object]:
    x, y = (torch.randn(PAIRS, DIM, requires_grad=True) for _ in range(2))
    return lambda: model(x, y).sum().backward()


def _step(model: nn.Module) -> Callable[[], object]:
    encoder = nn.Sequential(nn.Linear(DIM, DIM), nn.ReLU(), nn.Linear(DIM, DIM), nn.ReLU(), nn.Linear(DIM, DIM))
    optimizer = torch.optim.Adam([*encoder.parameters(), *model.parameters()], lr=1e-3, fused=True)
    x, target = torch.randn(2 * ROWS, DIM), torch.rand(ROWS)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        a, b = encoder(x).chunk(2)
        (model(a, b) - target).square().mean().backward()
        optimizer.step()

    return step
