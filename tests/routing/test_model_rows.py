"""Matrices that a model of the map estimates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from town import town_map

import trimetric as tm
from trimetric import routing
from trimetric.routing import Places

pytest.importorskip("osmium")


def test_rows_are_those_of_the_model_between_the_nearer_ends(tmp_path: Path) -> None:
    (tmp_path / "town.osm").write_text(town_map())
    roads = routing.read_roads(tmp_path / "town.osm")
    torch.manual_seed(0)
    n = roads.graph.num_nodes
    ids = roads.graph.ids()[::-1]  # in another order than the map
    points = torch.randn(n, 3)
    model = tm.Model(tm.NormInduced(tm.WideNorm(3, components=2, width=4)), ids, points, {"unit": "seconds"})
    where = np.random.default_rng(0).uniform([-8.0, 41.0], [-7.987, 41.013], (12, 2))
    places = Places([str(i) for i in range(12)], routing.snap_to_edges(roads, where), snapped=True)
    routing.write_matrix_file(tmp_path / "m.npy", roads, places, model=model, progress="silent")
    ends = np.stack([roads.graph.tails[places.positions.arcs], roads.graph.indices[places.positions.arcs]])
    nearer = ends[(places.positions.fractions >= 0.5).astype(int), np.arange(12)]
    nearer = np.where(places.positions.nodes >= 0, places.positions.nodes, nearer)
    names = [roads.graph.ids()[node] for node in nearer]
    wanted = [[float(model.distances([a], [b])[0]) for b in names] for a in names]
    np.testing.assert_allclose(np.load(tmp_path / "m.npy"), wanted, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="weight: expected time for a model whose distances are in seconds"):
        routing.write_matrix_file(tmp_path / "m.npy", roads, places, model=model, weight="length")
    with pytest.raises(ValueError, match="annotations: expected duration alone"):
        routing.write_matrix_file(tmp_path / "m.npy", roads, places, model=model, annotations=["distance"])
    other = tm.Model(model.network.head, [f"x{name}" for name in ids], points)
    with pytest.raises(ValueError, match="model: expected the nodes of the map"):
        routing.write_matrix_file(tmp_path / "m.npy", roads, places, model=other)
