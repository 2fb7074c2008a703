"""Where a library is not installed, the feature that needs it says which extra has it."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

import trimetric as tm
from trimetric.cli import main

pytestmark = pytest.mark.usefixtures("empty_folder")


@pytest.fixture
def block(monkeypatch: pytest.MonkeyPatch):
    """Make a library absent, and what was imported with it forgotten."""

    def absent(library: str, *forgotten: str) -> None:
        for name in list(sys.modules):
            if name == library or name.startswith((f"{library}.", *forgotten)):
                monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, library, None)

    return absent


def read_osm() -> None:
    Path("town.osm").write_text("<osm/>")
    tm.graphs.read_osm("town.osm")


def triangle() -> tm.graphs.Graph:
    return tm.graphs.Graph.from_arcs(
        3, np.array([0, 1, 2]), np.array([1, 2, 0]), np.array([1.0, 1.0, 1.0]), directed=True
    )


PYTHON = {
    "sklearn": (
        lambda: import_module("trimetric.integrations.sklearn"),
        "trimetric.integrations.sklearn",
        "trimetric.integrations.sklearn needs",
        "sklearn",
    ),
    "pytorch_metric_learning": (
        lambda: import_module("trimetric.integrations.pytorch_metric_learning"),
        "trimetric.integrations.pytorch_metric_learning",
        "trimetric.integrations.pytorch_metric_learning needs",
        "metric-learning",
    ),
    "onnxscript": (
        lambda: tm.export(tm.Siamese(torch.nn.Linear(2, 2), tm.Euclidean(2)), "m.onnx"),
        "-",
        "export to ONNX needs",
        "onnx",
    ),
    "gymnasium": (
        lambda: tm.rl.GridEnvironment,
        "trimetric.rl.worlds.environment",
        "an environment needs",
        "values",
    ),
    "ogbench": (
        lambda: tm.rl.PointMaze,
        "trimetric.rl.worlds.pointmaze",
        "pointmaze needs",
        "rl",
    ),
    "osmium": (read_osm, "-", "reading OpenStreetMap files needs", "graphs"),
    "networkx": (lambda: tm.graphs.to_networkx(triangle()), "-", "a NetworkX graph needs", "graphs"),
    "routingkit_cch": (
        lambda: tm.graphs.ShortestPaths(triangle(), engine="hierarchy").engine(1),
        "-",
        "the engine 'hierarchy' needs",
        "graphs",
    ),
    "joblib": (
        lambda: tm.graphs.ShortestPaths(triangle(), engine="scipy", jobs=2).from_nodes([0, 1, 2]),
        "-",
        "several jobs needs",
        "graphs",
    ),
    "numba": (
        lambda: tm.graphs.ShortestPaths(triangle(), engine="bidirectional").engine(1),
        "-",
        "the engine 'bidirectional' needs",
        "graphs",
    ),
}


@pytest.mark.parametrize("library", PYTHON)
def test_in_python(library: str, block) -> None:
    call, forgotten, feature, extra = PYTHON[library]
    block(library, forgotten)
    with pytest.raises(ImportError) as caught:
        call()
    assert str(caught.value) == f'{feature} {library}: pip install "trimetric[{extra}]"'


def fails(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_on_the_command_line(block, capsys: pytest.CaptureFixture[str]) -> None:
    Path("rooms.txt").write_text("####\n#  #\n####\n")
    Path("pairs.parquet").write_bytes(b"PAR1")
    Path("town.osm").write_text("<osm/>")
    tm.Model(tm.NormInduced(tm.Euclidean(2))).save("m.safetensors")
    for library in ("gymnasium", "pyarrow", "osmium", "onnxscript"):
        block(library, "trimetric.rl.worlds.environment" if library == "gymnasium" else "-")
    out = ["-o", "new.safetensors"]
    assert 'gymnasium: pip install "trimetric[values]"' in fails(capsys, "values", "fit", "--map", "rooms.txt", *out)
    assert "--map needs gymnasium" in fails(capsys, "values", "fit", "--map", "rooms.txt", *out)
    assert 'pip install "trimetric[values]"' in fails(capsys, "values", "fit", "--env", "MountainCar-v0", *out)
    assert 'pyarrow: pip install "trimetric[tables]"' in fails(capsys, "fit", "pairs.parquet", *out)
    assert 'osmium: pip install "trimetric[graphs]"' in fails(capsys, "fit", "--graph", "town.osm", *out)
    assert 'onnxscript: pip install "trimetric[onnx]"' in fails(capsys, "export", "m.safetensors", "-o", "m.onnx")
    assert not list(Path().glob("*new*"))
    assert not list(Path().glob("*.onnx"))


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None  # importing it fails, as where it is not installed
from trimetric._support import optional
found = optional.find_spec
optional.find_spec = lambda name: None if name == "numba" else found(name)
import trimetric as tm
graph = tm.graphs.torus3d(seed=0, side=3)
print(tm.graphs.learn_graph(graph, head="wide", dim=4, epochs=1, progress="silent").audit.holds)
try:
    tm.graphs.learn_graph(graph, progress="silent")
except ImportError as error:
    print(error)
"""


def test_without_numba_a_graph_is_learned_by_a_network() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_NUMBA], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "True",
        "learning a map model (head='wide' trains a network without it) needs numba: pip install \"trimetric[graphs]\"",
    ]
