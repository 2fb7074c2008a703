"""The command line on a graph of two million nodes, from its edges to answers: seconds and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from trimetric.graphs import torus3d

SIDE = 126  # 2,000,376 nodes
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

    nodes: int
    edges: int
    edges_mib: float
    """size of the three arrays of the file"""
    commands: list[Command]


def run(*, quick: bool = False) -> Measured:
    """Write the edges to a file and run the commands on it; `quick` uses a thousand nodes."""
    graph = torus3d(seed=0, side=10 if quick else SIDE)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tails, heads = graph.tails, graph.indices
        once = tails < heads
        columns = {"from": tails[once], "to": heads[once], "weight": graph.weights[once]}
        np.savez(folder / "edges.npz", **columns)
        np.savez(folder / "places.npz", id=np.arange(0, graph.num_nodes, graph.num_nodes // 50)[:50])
        fit = ["fit", "--graph", "edges.npz", "--symmetric", "-o", "model.safetensors", "--head", "wide"]
        pace = ["--sample", "24000" if quick else "40000", "--dim", "32", "--epochs", "1" if quick else "10"]
        nearest = ["predict", "model.safetensors", "--to-file", "places.npz", "--nearest", "1", "-o", "nearest.csv"]
        commands = [
            _command("edges to model", [*fit, *pace, "--cache", "paths"], folder),
            _command("nearest of 50 places for every node", nearest, folder),
        ]
    size = sum(column.nbytes for column in columns.values()) / MIB
    return Measured(graph.num_nodes, int(once.sum()), size, commands)


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


def show(measured: Measured, console: Console) -> None:
    """Print what `run` has returned."""
    console.print(f"{measured.nodes:,} nodes, {measured.edges:,} edges, {measured.edges_mib:.0f} MiB of edges")
    for command in measured.commands:
        console.print(f"$ trimetric {' '.join(command.arguments)}\n{command.output.rstrip()}", highlight=False)
        console.print(f"{command.name}: {command.seconds:.0f} s, {command.peak_mib:,.0f} MiB at the peak")
