"""The paper's search on directed graphs: exact where its bound holds, and only there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("numba")

from reproduction.experiments.graphs.astar import GUIDES, GraphsAstar, lengths, potentials
from reproduction.frame.executors import Cores
from reproduction.frame.ledger import Ledger
from reproduction.frame.sweep import sweep
from trimetric.graphs import (
    Graph,
    PotentialHeuristic,
    ShortestPaths,
    choose_landmarks,
    random_pairs,
    torus3d,
    torus3d_directed,
)


def searched_and_exact(graph: Graph, guide: str) -> tuple[np.ndarray, np.ndarray]:
    landmarks = choose_landmarks(graph, 8)
    heuristic = PotentialHeuristic(potentials(landmarks, guide), directed=False)
    pairs = random_pairs(graph.num_nodes, 100, seed=0)
    return lengths(graph, pairs, heuristic), ShortestPaths(graph, progress="silent").pairs(pairs[:, 0], pairs[:, 1])


@pytest.mark.parametrize("guide", GUIDES)
def test_exact_on_undirected_graphs(guide):
    searched, exact = searched_and_exact(torus3d(seed=0, side=7), guide)
    np.testing.assert_allclose(searched, exact, atol=1e-9)


@pytest.mark.parametrize("guide", GUIDES)
def test_never_too_short_and_sometimes_too_long_on_directed_ones(guide):
    searched, exact = searched_and_exact(torus3d_directed(seed=0, side=7), guide)
    assert (searched >= exact - 1e-9).all()
    assert (searched > exact + 1e-6).any()


def test_the_table_has_a_line_for_every_bound_below_the_exact_numbers(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    experiment, ledger = GraphsAstar(), Ledger(tmp_path / "rows.jsonl")
    cells = [replace(cell, side=6, sample=800) for cell in experiment.cells("quick", None)]
    assert sweep(experiment, cells, ledger, Cores(1), silent=True).errors == []
    (table,) = experiment.tables(ledger.rows())
    exact, *searched = table.rows
    assert exact == "3dd of side 6, exact"
    assert searched == [f"3dd of side 6, farthest, {guide}" for guide in GUIDES]
    assert len({table.cells[line, "max(d)"].value for line in table.rows}) == 4
    assert experiment.tables([])[0].rows == []
