"""What a command imports: no compiler to predict, and neither torch nor NumPy to say that a file is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
import torch
from zoo import DISTANCES, NORMS

import trimetric as tm
from trimetric._support.described import build, describe
from trimetric._support.weightless import weightless
from trimetric.models.heads import HEADS, make_head

HEAVY = ("torch", "torch._dynamo", "sympy", "numpy", "scipy", "numba", "matplotlib", "rich", "jaxtyping")
RUN = f"""
import json, sys
from trimetric.cli import main
code = main(sys.argv[1:])
print(json.dumps([code, [name for name in {HEAVY} if name in sys.modules]]))
"""
SOURCE = Path(tm.__file__).parents[1]

MISSING = {
    "fit": ("fit", "MISSING.csv", "-o", "x.safetensors"),
    "fit of a matrix": ("fit", "--matrix", "MISSING.npy", "-o", "x.safetensors"),
    "fit of edges": ("fit", "--edges", "MISSING.csv", "-o", "x.safetensors"),
    "fit of a map": ("fit", "--graph", "MISSING.osm.pbf", "-o", "x.safetensors"),
    "fit of features": ("fit", "there.csv", "--features", "MISSING.csv", "-o", "x.safetensors"),
    "predict": ("predict", "MISSING.safetensors", "--from", "A", "--to", "B"),
    "predict pairs": ("predict", "model.safetensors", "MISSING.csv"),
    "predict features": ("predict", "model.safetensors", "--features", "MISSING.csv", "--all-pairs"),
    "predict from a file": ("predict", "model.safetensors", "--from-file", "MISSING.csv"),
    "predict to a file": ("predict", "model.safetensors", "--to-file", "MISSING.csv"),
    "fit for queries": ("fit", "--graph", "there.csv", "--queries", "MISSING.csv", "-o", "x.safetensors"),
    "serve": ("serve", "MISSING.osm.pbf"),
    "serve with a model": ("serve", "there.csv", "--model", "MISSING.safetensors"),
    "predict by an index": (
        "predict",
        "model.safetensors",
        "--from",
        "A",
        "--nearest",
        "1",
        "--index",
        "MISSING.index",
    ),
    "embed": ("embed", "MISSING.safetensors", "-o", "x.csv"),
    "index build": ("index", "build", "MISSING.safetensors", "-o", "x.index"),
    "metrize": ("metrize", "MISSING.safetensors", "-o", "x.safetensors"),
    "metrize a table": ("metrize", "MISSING.csv", "-o", "x.csv"),
    "audit": ("audit", "MISSING.safetensors"),
    "info": ("info", "MISSING.safetensors"),
    "export": ("export", "MISSING.safetensors", "-o", "x.onnx"),
    "repair": ("repair", "MISSING.csv", "-o", "x.npy"),
    "rl fit": ("rl", "fit", "MISSING.npz", "-o", "x.safetensors"),
    "values fit": ("values", "fit", "--dataset", "MISSING.npz", "-o", "x.safetensors"),
    "values fit of a map": ("values", "fit", "--map", "MISSING.txt", "-o", "x.safetensors"),
    "rl evaluate": ("rl", "evaluate", "MISSING.safetensors", "--world", "directed"),
    "rl diagnose": ("rl", "diagnose", "MISSING.safetensors", "there.csv"),
    "rl diagnose of a log": ("rl", "diagnose", "model.safetensors", "MISSING.npz"),
    "rl diagnose with a log": ("rl", "diagnose", "model.safetensors", "there.csv", "--train", "MISSING.npz"),
    "values plan": ("values", "plan", "MISSING.safetensors", "there.csv"),
    "values plan of transitions": ("values", "plan", "model.safetensors", "MISSING.npz"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("start")
    (path / "there.csv").write_text("from,to,distance\n")
    network = tm.Siamese(torch.nn.Embedding(3, 64), tm.Calibrated(make_head("wide", 64, concave_units=5)))
    tm.Model(network, ["A", "B", "C"]).save(path / "model.safetensors")
    return path


def run(words: Sequence[str], folder: Path) -> tuple[int, list[str], str]:
    """The exit code, the heavy modules that were imported, and the errors."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    code, imported = json.loads(done.stdout.splitlines()[-1])
    return code, imported, done.stderr


@pytest.mark.parametrize("case", MISSING)
def test_a_missing_file_is_reported_before_anything_is_imported(case: str, folder: Path) -> None:
    code, imported, errors = run(MISSING[case], folder)
    missing = next(word for word in MISSING[case] if word.startswith("MISSING"))
    assert code == 2
    assert errors.endswith(f"{missing}: no such file\n")
    assert imported == []


def test_predicting_imports_no_compiler(folder: Path) -> None:
    code, imported, _ = run(("predict", "model.safetensors", "--from", "A", "--to", "B"), folder)
    assert code == 0
    assert "torch" in imported, "the list of modules is of the right process"
    assert not {"torch._dynamo", "sympy", "scipy", "matplotlib"} & set(imported)


# Shapes without weights


NETWORKS: dict[str, Callable[[int], torch.nn.Module]] = {
    **NORMS,
    **DISTANCES,
    **{f"head {name}": partial(make_head, name, concave_units=5) for name in HEADS},
    "embedding": lambda dim: tm.Siamese(torch.nn.Embedding(5, dim), tm.NormInduced(tm.Euclidean(dim))),
    "layers": lambda dim: tm.Siamese(
        torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4), torch.nn.GELU(), torch.nn.Linear(4, dim)),
        tm.NormInduced(tm.Euclidean(dim)),
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_weightless_modules_have_the_right_shapes(name: str) -> None:
    network = NETWORKS[name](6)
    with weightless():
        again = build(describe(network))
    expected = {key: (value.shape, value.dtype) for key, value in network.state_dict().items()}
    found = again.state_dict()
    assert {key: (value.shape, value.dtype) for key, value in found.items()} == expected
    assert all(value.is_meta for value in found.values())


def test_weightless_arithmetic_is_that_of_torch() -> None:
    """Broadcasting, types and errors."""

    def combine(device: str) -> list[torch.Tensor]:
        with weightless() if device == "meta" else torch.device("cpu"):
            x, y = torch.randn(3, 1, dtype=torch.float64), torch.ones(4, dtype=torch.float64)
            whole = torch.ones(4, dtype=torch.int64)
            return [x + y, 1 - x, x / 2, 2 * y, y**2, -x, whole / 2, whole * y, torch.linspace(0, 1, 5), x.exp()]

    for real, shape in zip(combine("cpu"), combine("meta"), strict=True):
        assert (real.shape, real.dtype) == (shape.shape, shape.dtype)
    with weightless(), pytest.raises((RuntimeError, ValueError), match="shape"):
        torch.randn(3) + torch.randn(4)
    with weightless():
        assert torch.nn.init.normal_(torch.empty(2, 3)).shape == (2, 3)
    assert not (torch.randn(2) + 1).is_meta
