"""The command line on graphs of one and two million nodes, from their edges to answers: seconds and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.road_networks import bent_streets
from trimetric.graphs import Graph, torus3d

SIDE = 126  # 2,000,376 nodes
STREETS = 510  # crossings in each direction; with the bends of their streets about a million nodes
GRAPHS = ("roads", "torus")
MIB = 1 << 20


@dataclass(frozen=True)
class Command:
    """A command that ran to its end."""

    name: str
    arguments: list[str]
    seconds: float
    peak_mib: float
    """peak resident memory"""
    output: str


@dataclass(frozen=True)
class Measured:
    """The graph and what was run on it."""

    graph: str
    nodes: int
    edges: int
    edges_mib: float
    """size of the three arrays of the file"""
    commands: list[Command]


def run(*, quick: bool = False, names: list[str] | None = None) -> list[Measured]:
    """Write the edges of each graph to a file and run the commands on it.

    Args:
        quick: use a thousand nodes.
        names: some of `GRAPHS`; all by default.
    """
    unknown = set(names or ()) - set(GRAPHS)
    if unknown:
        raise ValueError(f"names: expected some of {', '.join(GRAPHS)}, got {', '.join(sorted(unknown))}")
    return [_measure(name, quick=quick) for name in names or GRAPHS]


def _measure(name: str, *, quick: bool) -> Measured:
    if name == "torus":
        graph = torus3d(seed=0, side=10 if quick else SIDE)
        pace = ["--sample", "24000" if quick else "40000", "--dim", "32", "--epochs", "1" if quick else "10"]
        options = ["--symmetric", "--head", "wide", *pace]
    else:
        graph, options = bent_streets(16 if quick else STREETS), []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        columns = _edges(graph)
        np.savez(folder / "edges.npz", **columns)  # type: ignore[arg-type]
        np.savez(folder / "places.npz", id=np.arange(0, graph.num_nodes, graph.num_nodes // 50)[:50])
        fit = ["fit", "--graph", "edges.npz", "-o", "model.safetensors", *options, "--cache", "paths"]
        nearest = ["predict", "model.safetensors", "--to-file", "places.npz", "--nearest", "1", "-o", "nearest.csv"]
        commands = [
            _command("edges to model", fit, folder),
            _command("nearest of 50 places for every node", nearest, folder),
        ]
    size = sum(column.nbytes for column in columns.values()) / MIB
    return Measured(name, graph.num_nodes, len(columns["weight"]), size, commands)


def _edges(graph: Graph) -> dict[str, np.ndarray]:
    """The columns of a table of edges; each edge once where the graph is undirected."""
    tails, heads, weights = graph.tails, graph.indices, graph.weights
    kept = slice(None) if graph.directed else tails < heads
    return {"from": tails[kept], "to": heads[kept], "weight": weights[kept]}


def _command(name: str, arguments: list[str], folder: Path) -> Command:
    start = time.perf_counter()
    with (folder / "output.txt").open("w+") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "trimetric", *arguments], cwd=folder, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, used = os.wait4(process.pid, 0)
        output.seek(0)
        text = output.read()
    if status:
        raise RuntimeError(f"trimetric {' '.join(arguments)} failed:\n{text}")
    return Command(name, arguments, time.perf_counter() - start, used.ru_maxrss / 1024, text)


def show(graphs: list[Measured], console: Console) -> None:
    """Print what `run` has returned."""
    for measured in graphs:
        console.print(
            f"{measured.graph}: {measured.nodes:,} nodes, {measured.edges:,} edges, "
            f"{measured.edges_mib:.0f} MiB of edges"
        )
        for command in measured.commands:
            console.print(f"$ trimetric {' '.join(command.arguments)}\n{command.output.rstrip()}", highlight=False)
            console.print(f"{command.name}: {command.seconds:.0f} s, {command.peak_mib:,.0f} MiB at the peak")


def merge(before: list[dict[str, Any]] | dict[str, Any] | None, now: list[Measured]) -> list[Any]:
    """Keep what was saved of the graphs that were not measured now.

    Args:
        before: what was saved; earlier versions saved the torus alone.
        now: what `run` has returned.
    """
    saved = [{"graph": "torus", **before}] if isinstance(before, dict) else before or []
    return [row for row in saved if row["graph"] not in {each.graph for each in now}] + now
