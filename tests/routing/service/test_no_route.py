"""Places without a route between them: NoRoute, NoTable, null, and estimates by a speed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")
pytest.importorskip("routingkit_cch")

from trimetric.graphs import Graph
from trimetric.graphs.geography import ground_meters
from trimetric.routing import RoadMap
from trimetric.routing.service.exact import ExactEngine
from trimetric.routing.service.limits import Deadline, Limits
from trimetric.routing.service.osrm import route, table
from trimetric.routing.service.queries import query_of_url
from trimetric.routing.service.refusals import RefusedError

PLACES = np.array([[-8.0, 41.0], [-8.0, 41.01], [-7.9, 41.0], [-7.9, 41.01]])


@pytest.fixture(scope="module")
def islands() -> ExactEngine:
    """Two streets that no road joins; the first goes one way only."""
    graph = Graph.from_arcs(4, [0, 2, 3], [1, 3, 2], [60.0, 50.0, 40.0], directed=True, coordinates=PLACES)
    return ExactEngine(RoadMap.of_graph(graph), "time")


def asked(engine: ExactEngine, nodes: list[int], options: str = "", *, service: str = "table") -> dict:
    places = ";".join(f"{lon},{lat}" for lon, lat in PLACES[nodes])
    query = query_of_url(service, places, options, Limits())
    if service == "route":
        return route(engine, query, max_snap=500.0, deadline=Deadline(60.0))
    return table(engine, query, max_snap=500.0, limits=Limits(), deadline=Deadline(60.0))


def test_a_table_is_infinite_where_there_is_no_route(islands: ExactEngine) -> None:
    found = asked(islands, [0, 1, 2])["durations"]
    np.testing.assert_array_equal(found, [[0, 60, np.inf], [np.inf, 0, np.inf], [np.inf, np.inf, 0]])


def test_a_speed_fills_the_gaps(islands: ExactEngine) -> None:
    found = asked(islands, [0, 1, 2], "fallback_speed=10&scale_factor=2")
    assert found["fallback_speed_cells"] == [[0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]
    for row, column in found["fallback_speed_cells"]:
        meters = ground_meters(PLACES[[row]], PLACES[[column]])[0]
        np.testing.assert_allclose(found["durations"][row, column], 2 * meters / 10)
    assert found["durations"][0, 1] == 120


def test_nothing_at_all_is_refused(islands: ExactEngine) -> None:
    with pytest.raises(RefusedError) as caught:
        asked(islands, [0, 2], "sources=0&destinations=1")
    assert caught.value.code == "NoTable"
    with pytest.raises(RefusedError) as caught:
        asked(islands, [1, 0], service="route")
    assert caught.value.code == "NoRoute"
    assert asked(islands, [3, 2], service="route")["routes"][0]["duration"] == 40


def test_what_takes_too_long_is_refused(islands: ExactEngine) -> None:
    ends = islands.at_nodes(np.arange(4))
    with pytest.raises(RefusedError) as caught:
        islands.matrix(ends, ends, ["duration"], Deadline(-1.0))
    assert caught.value.code == "TooBig"
