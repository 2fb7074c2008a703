"""The commands that are killed: what each reads, and what a run of it that follows a kill can build on."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch

import trimetric as tm
from chaos.saving import model_number
from reproduction.frame.ledger import Ledger
from trimetric._support.tensor_files import read_checkpoint

Aim = Literal["moment", "write", "change"]
"""any moment; the first sight of a file that is being written; just before a file is opened, renamed or removed"""

OBJECTS = [f"object {number}" for number in range(60)]
Progress = tuple[int, ...]


@dataclass(frozen=True)
class Scenario:
    """A command that is killed, in a folder of its own.

    Args:
        name: in the table.
        module: run as `python -m`.
        arguments: of it.
        prepare: writes into the folder what the command reads.
        progress: numbers that never fall until the output is there: what the next run can build on.
        aims: of the kills.
        checkpoint_seconds: time between checkpoints of the runs that are killed; the undisturbed one has the default.
    """

    name: str
    module: str
    arguments: tuple[str, ...]
    prepare: Callable[[Path], None] = lambda _: None
    progress: Callable[[Path], Progress] = lambda _: ()
    aims: tuple[Aim, ...] = ("moment", "write", "change")
    checkpoint_seconds: float | None = None


def write_pairs(folder: Path) -> None:
    """Asymmetric distances between places on a slope."""
    generator = random.Random(0)
    places = [(generator.random(), generator.random()) for _ in OBJECTS]
    with (folder / "pairs.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(("from", "to", "distance"))
        for (i, (a, b)), (j, (c, d)) in _ordered_pairs(places):
            rows.writerow((OBJECTS[i], OBJECTS[j], f"{10 * abs(c - a) + 30 * max(d - b, 0) + 10 * max(b - d, 0):.6f}"))


def _ordered_pairs(places: list[tuple[float, float]]) -> Iterator[tuple[tuple[int, tuple[float, float]], ...]]:
    numbered = list(enumerate(places))
    return ((one, other) for one in numbered for other in numbered if one is not other)


def write_streets(folder: Path, side: int = 16) -> None:
    """The edges of a grid that has no border, with other lengths in either direction."""
    generator = random.Random(0)
    with (folder / "streets.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(("from", "to", "weight"))
        for i in range(side):
            for j in range(side):
                for end in (f"{(i + 1) % side} {j}", f"{i} {(j + 1) % side}"):
                    rows.writerow((f"{i} {j}", end, f"{generator.uniform(1, 2):.3f}"))
                    rows.writerow((end, f"{i} {j}", f"{generator.uniform(1, 2):.3f}"))


def write_stops(folder: Path, side: int = 16) -> None:
    """The same, and all of its corners as places."""
    write_streets(folder, side)
    names = [f"{i} {j}" for i in range(side) for j in range(side)]
    (folder / "stops.csv").write_text("\n".join(["id", *names]) + "\n")


def write_matrix(folder: Path) -> None:
    matrix = np.random.default_rng(0).uniform(0, 10, (120, 120))
    np.fill_diagonal(matrix, 0)
    np.savetxt(folder / "D.csv", matrix, delimiter=",", fmt="%.6f")


def write_model(folder: Path, objects: int = 300) -> None:
    torch.manual_seed(0)
    network = tm.Siamese(torch.nn.Embedding(objects, 8), tm.WideNorm(8, components=4, width=4))
    tm.Model(network.eval(), [f"object {number}" for number in range(objects)]).save(folder / "model.safetensors")


def write_network(folder: Path, objects: int = 60) -> None:
    """A model that promises nothing."""
    torch.manual_seed(0)
    network = tm.Siamese(torch.nn.Embedding(objects, 8), tm.MLPDistance(8, widths=(16,), output="softplus"))
    tm.Model(network.eval(), [f"object {number}" for number in range(objects)]).save(folder / "network.safetensors")


def write_old_model(folder: Path) -> None:
    model_number(0).save(folder / "model.safetensors")


def steps_done(folder: Path) -> Progress:
    """The training steps in the newest checkpoint, which the next run resumes from."""
    found = [path for path in folder.glob("*.checkpoint") if ".previous" not in path.suffixes]
    return (int(read_checkpoint(found[0])[1]["position"]) if found else 0,)


def steps_and_cached(folder: Path) -> Progress:
    return (*steps_done(folder), len(list(folder.glob("cache/*/*.safetensors"))))


def runs_done(folder: Path) -> Progress:
    return (len(Ledger(folder / "tiny.jsonl").keys()),)


QUIET = "--quiet"
SCENARIOS = (
    Scenario(
        "fit",
        "trimetric",
        ("fit", "pairs.csv", "-o", "model.safetensors", "--epochs", "8", "--dim", "16", QUIET),
        write_pairs,
        steps_done,
        checkpoint_seconds=0.02,
    ),
    Scenario(
        "fit, patience",
        "trimetric",
        ("fit", "pairs.csv", "-o", "model.safetensors", "--epochs", "12", "--patience", "2", "--head", "deep", QUIET),
        write_pairs,
        steps_done,
        checkpoint_seconds=0.02,
    ),
    Scenario(
        "fit --graph",
        "trimetric",
        (
            *("fit", "--graph", "streets.csv", "-o", "model.safetensors", "--cache", "cache", "--sample", "30000"),
            *("--epochs", "2", "--dim", "16", "--landmarks", "8", "--head", "wide", QUIET),
        ),
        write_streets,
        steps_and_cached,
        checkpoint_seconds=0.02,
    ),
    Scenario(
        "metrize",
        "trimetric",
        ("metrize", "network.safetensors", "-o", "model.safetensors", "--steps", "200", QUIET),
        write_network,
        steps_done,
        checkpoint_seconds=0.02,
    ),
    Scenario(
        "repair",
        "trimetric",
        ("repair", "D.csv", "-o", "X.csv", "--picture", "change.png", QUIET),
        write_matrix,
    ),
    Scenario(
        "matrix",
        "trimetric",
        ("matrix", "streets.csv", "stops.csv", "-o", "matrix.npy", "--cache", "cache", QUIET),
        write_stops,
        aims=("moment", "change"),  # blocks are written in their place
    ),
    Scenario(
        "sweep",
        "reproduction",
        ("tiny_experiment:Tiny", "--paper", "--results", ".", "--out", "out", "--jobs", "2"),
        progress=runs_done,
        aims=("moment", "change"),  # a ledger grows in its place
    ),
    Scenario(
        "predict",
        "trimetric",
        ("predict", "model.safetensors", "--all-pairs", "-o", "distances.csv", QUIET),
        write_model,
    ),
    Scenario(
        "index build",
        "trimetric",
        ("index", "build", "model.safetensors", "-o", "model.index", QUIET),
        write_model,
    ),
    Scenario(
        "embed",
        "trimetric",
        ("embed", "model.safetensors", "-o", "points.npz", QUIET),
        write_model,
    ),
    Scenario(
        "export",
        "trimetric",
        ("export", "model.safetensors", "-o", "model.onnx", QUIET),
        write_model,
    ),
    Scenario(
        "values fit",
        "trimetric",
        (
            *("values", "fit", "--env", "trimetric/FourRoom-v0", "-o", "values.safetensors", "--steps", "3000"),
            *("--epochs", "3", "--pairs", "4000", "--dim", "16", QUIET),
        ),
        progress=steps_done,
        checkpoint_seconds=0.02,
    ),
    Scenario("save over", "chaos.saving", ("model.safetensors",), write_old_model),
)
