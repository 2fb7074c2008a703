"""From a graph to a model in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import trimetric as tm

pytest.importorskip("numba")

QUICK: dict[str, Any] = {"dim": 4, "widths": (8,), "epochs": 2, "progress": "silent"}


@pytest.fixture(scope="module")
def torus() -> tm.graphs.Graph:
    return tm.graphs.torus3d_directed(seed=0, side=3)


def test_the_model_knows_the_nodes_and_its_comparison(torus: tm.graphs.Graph, tmp_path: Path) -> None:
    said: list[str] = []
    learned = tm.graphs.learn_graph(torus, unit="steps", log=said.append, **QUICK)
    model = tm.Model.load(learned.model.save(tmp_path / "m.safetensors"))
    assert model.ids == torus.ids()
    assert model.notes["unit"] == "steps"
    assert model.notes["settings"]["sample"] == len(learned.sample.ends) == torus.num_pairs
    assert model.notes["settings"]["landmarks"] == len(learned.landmarks.nodes) == 2
    assert set(model.notes["test"]) == {row.name for row in learned.candidates}
    assert not learned.model.axioms.symmetric
    assert learned.audit.holds
    assert learned.verdict.error_ratio > 0
    assert len(said) == 3


def test_the_seed_decides_and_a_checkpoint_resumes(torus: tm.graphs.Graph, tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"
    first = tm.graphs.learn_graph(torus, checkpoint=file, **QUICK)
    said: list[str] = []
    again = tm.graphs.learn_graph(torus, checkpoint=file, log=said.append, **QUICK)
    assert said[-1] == f"resuming from {file}"
    assert torch.equal(first.model.all_pairs(), again.model.all_pairs())
    other = tm.graphs.learn_graph(torus, seed=1, **QUICK)
    assert not torch.equal(first.model.all_pairs(), other.model.all_pairs())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sample": 0}, "sample: expected a positive integer, got 0"),
        ({"sample": 999}, "sample: expected at least 3 pairs, .* at most the 702 of the graph, got 999"),
        ({"landmarks": 28}, "landmarks: expected at most the 27 nodes, got 28"),
        ({"dim": 0}, "dim: expected a positive integer, got 0"),
        ({"epochs": 0}, "epochs: expected a positive integer, got 0"),
        ({"head": "round"}, "head: expected one of"),
    ],
)
def test_bad_arguments_are_named(torus: tm.graphs.Graph, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tm.graphs.learn_graph(torus, **{**QUICK, **arguments})
