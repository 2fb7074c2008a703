"""Start-up: processor time of commands, against `import torch` alone."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

import trimetric as tm
from trimetric.models.heads import make_head


@dataclass(frozen=True)
class StartUp:
    """Processor time, user and system, of processes of their own."""

    seconds: dict[str, float]
    """the best of several runs, by command"""


def run(*, rounds: int = 5) -> StartUp:
    """Run each command in turns.

    Args:
        rounds: how often.
    """
    with tempfile.TemporaryDirectory() as folder:
        network = tm.Siamese(torch.nn.Embedding(64, 64), tm.Calibrated(make_head("wide", 64, concave_units=5)))
        tm.Model(network, [str(i) for i in range(64)]).save(Path(folder) / "model.safetensors")
        ask = ["-m", "trimetric", "predict"]
        ways = {
            "import torch": ["-c", "import torch"],
            "trimetric predict": [*ask, "model.safetensors", "--from", "1", "--to", "2"],
            "trimetric predict, a missing file": [*ask, "missing.safetensors", "--from", "1", "--to", "2"],
            "trimetric --help": ["-m", "trimetric", "--help"],
        }
        best = dict.fromkeys(ways, float("inf"))
        for words in ways.values():
            _processor_seconds(words, folder)  # writes the bytecode
        for _ in range(rounds):
            for name, words in ways.items():
                best[name] = min(best[name], _processor_seconds(words, folder))
    return StartUp(best)


def _processor_seconds(words: list[str], folder: str) -> float:
    source = str(Path(tm.__file__).parents[1])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # With bytecode, which an installed package has, also where this process may write none.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    bytecode = str(Path(folder) / "bytecode")
    environment = {**kept, "PYTHONPATH": source, "OMP_NUM_THREADS": "1", "PYTHONPYCACHEPREFIX": bytecode}
    subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def show(measured: StartUp, console: Console) -> None:
    """Print what `run` has returned."""
    table = Table("command", "processor seconds", "times import torch", title="Start-up, on one thread")
    for name, seconds in measured.seconds.items():
        table.add_row(name, f"{seconds:.2f}", f"{seconds / measured.seconds['import torch']:.2f}")
    console.print(table)
