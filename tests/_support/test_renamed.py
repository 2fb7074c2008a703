"""Names of the release before: they work, warn, and name their successors."""

from __future__ import annotations

import numpy as np
import pytest

import trimetric as tm
import trimetric.graphs.files
import trimetric.training
from trimetric._support.renamed import old_keywords, old_names
from trimetric.graphs import Graph, choose_landmarks


def test_functions_and_classes() -> None:
    with pytest.warns(DeprecationWarning, match=r"trimetric\.graphs\.expansions is now trimetric\.graphs\.count_exp"):
        assert tm.graphs.expansions is tm.graphs.count_expansions  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match=r"files\.read_graph is now trimetric\.graphs\.read_graph"):
        assert tm.graphs.files.read_graph is tm.graphs.read_graph  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match=r"trimetric\.training\.metrize is now trimetric\.metrize"):
        assert trimetric.training.metrize is tm.metrize  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"module 'trimetric\.graphs' has no attribute 'nothing'"):
        _ = tm.graphs.nothing  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="module 'here' has no attribute 'there'"):
        old_names("here", {})("there")


def test_keywords() -> None:
    @old_keywords(colour="color")
    def paint(*, color: str) -> str:
        return color

    assert paint(color="red") == "red"
    with pytest.warns(DeprecationWarning, match=r"paint\(colour=\.\.\.\) is now paint\(color=\.\.\.\)"):
        assert paint(colour="red") == "red"  # type: ignore[call-arg]


def test_methods_and_properties() -> None:
    graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [1.0, 2.0, 4.0], directed=True)
    with pytest.warns(DeprecationWarning, match=r"Graph\.symmetrised is now Graph\.symmetrize; the old name works"):
        assert graph.symmetrised().num_edges == 3
    with pytest.warns(DeprecationWarning, match=r"Graph\.part is now Graph\.subgraph"):
        np.testing.assert_array_equal(graph.part([0, 1]).weights, [1.0])
    with pytest.warns(DeprecationWarning, match=r"Landmarks\.numbers_a_node is now Landmarks\.numbers_per_node"):
        assert choose_landmarks(graph, 2).numbers_a_node == 4
