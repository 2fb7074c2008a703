"""Clients of OSRM that others wrote get the shortest paths of SciPy."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise, permutations

import numpy as np
import pytest
from running_service import Running
from scipy.sparse.csgraph import dijkstra

routingpy = pytest.importorskip("routingpy")


def exact(town: Running) -> tuple[np.ndarray, np.ndarray]:
    """Seconds of the fastest paths between all nodes, and the least meters of a fastest path."""
    roads = town.service.engines[0].roads
    matrix = roads.graph.to_scipy()
    matrix.data = roads.costs["duration"]
    seconds = dijkstra(matrix)
    tails, heads = roads.graph.tails, roads.graph.indices
    meters = np.empty_like(seconds)
    for start in range(len(seconds)):  # the arcs of fastest paths from a node, by their lengths
        tight = np.abs(seconds[start][tails] + matrix.data - seconds[start][heads]) < 1e-7
        kept = matrix.copy()
        kept.data = np.where(tight, roads.costs["distance"], 1e9)
        meters[start] = dijkstra(kept, indices=start)
    return seconds, meters


@pytest.fixture(scope="module")
def some(town: Running) -> np.ndarray:
    return np.random.default_rng(1).choice(town.graph.num_nodes, size=12, replace=False)


def test_the_matrix_of_routingpy_is_that_of_scipy(town: Running, some: np.ndarray) -> None:
    seconds, meters = exact(town)
    client = routingpy.OSRM(base_url=town.url)
    places = town.graph.coordinates[some].tolist()
    found = client.matrix(locations=places)
    np.testing.assert_allclose(found.durations, seconds[np.ix_(some, some)], atol=1e-9)
    np.testing.assert_allclose(found.distances, meters[np.ix_(some, some)], atol=1e-6)
    part = client.matrix(locations=places, sources=[3, 1], destinations=[0, 2, 5], annotations=["duration"])
    np.testing.assert_allclose(part.durations, seconds[np.ix_(some[[3, 1]], some[[0, 2, 5]])], atol=1e-9)
    assert part.distances is None
    assert (np.array(found.durations) != np.array(found.durations).T).any(), "one-way streets make a difference"


@pytest.mark.parametrize("form", ["polyline", "polyline6", "geojson"])
def test_the_directions_of_routingpy_follow_the_roads(town: Running, some: np.ndarray, form: str) -> None:
    seconds, meters = exact(town)
    client = routingpy.OSRM(base_url=town.url)
    stops = some[:3]
    found = client.directions(
        town.graph.coordinates[stops].tolist(), geometries=form, overview="full", annotations=True, steps=False
    )
    raw = found.raw["routes"][0]
    wanted = [seconds[a, b] for a, b in pairwise(stops)]
    np.testing.assert_allclose([leg["duration"] for leg in raw["legs"]], wanted, atol=1e-9)
    np.testing.assert_allclose(raw["duration"], sum(wanted), atol=1e-9)
    np.testing.assert_allclose(raw["distance"], sum(meters[a, b] for a, b in pairwise(stops)))
    for leg in raw["legs"]:
        note = leg["annotation"]
        for name in ("duration", "distance"):
            np.testing.assert_allclose(sum(note[name]), leg[name], atol=1e-6)
        assert len(note["nodes"]) == len(note["duration"]) + 1
        np.testing.assert_allclose(np.array(note["speed"]) * note["duration"], note["distance"], atol=1e-6)
    ids = [str(node) for leg in raw["legs"] for node in leg["annotation"]["nodes"]]
    named = [town.graph.coordinates[town.graph.ids().index(node)] for node in dict.fromkeys(ids)]
    on_line = np.array(found.geometry)
    for place in named:
        assert np.abs(on_line - place).max(axis=1).min() < 2e-5


def test_a_refusal_is_an_error_of_routingpy(town: Running) -> None:
    from routingpy.exceptions import RouterApiError

    with pytest.raises(RouterApiError) as caught:
        routingpy.OSRM(base_url=town.url).matrix(locations=[[-8.0, 41.0], [-9.5, 41.0]])
    assert "NoSegment" in str(caught.value)


VROOM = """
import json, sys
import vroom

port, places = json.loads(sys.argv[1])
problem = vroom.Input(servers={"car": f"127.0.0.1:{port}"})
problem.add_vehicle([vroom.Vehicle(1, start=places[0], end=places[0], profile="car")])
problem.add_job([vroom.Job(i, location=place) for i, place in enumerate(places[1:], start=1)])
steps = problem.solve(exploration_level=1, nb_threads=1).routes
jobs = [int(job) for kind, job in zip(steps["type"], steps["id"]) if kind == "job"]
print(json.dumps([jobs, int(steps["arrival"].iloc[-1])]))
"""


def test_vroom_plans_by_the_service(town: Running, some: np.ndarray) -> None:
    pytest.importorskip("vroom")
    seconds, _ = exact(town)
    nodes = some[:8]
    asked = json.dumps([town.port, town.graph.coordinates[nodes].tolist()])
    # In a process of its own, as VROOM keeps the interpreter's lock while it waits for the service.
    run = subprocess.run([sys.executable, "-c", VROOM, asked], capture_output=True, text=True, timeout=60, check=True)
    jobs, arrival = json.loads(run.stdout)
    assert sorted(jobs) == [*range(1, 8)]
    order = [0, *jobs, 0]
    total = sum(seconds[nodes[a], nodes[b]] for a, b in pairwise(order))
    assert abs(arrival - total) <= len(order), "VROOM counts whole seconds"
    best = min(
        sum(seconds[nodes[a], nodes[b]] for a, b in zip((0, *way), (*way, 0), strict=True))
        for way in permutations(range(1, 8))
    )
    assert total <= best + len(order)
