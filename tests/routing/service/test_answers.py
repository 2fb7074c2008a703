"""What the service answers: OSRM's options, its own endpoints, and its counts."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from running_service import Running
from scipy.sparse.csgraph import dijkstra

from trimetric.graphs.geography import ground_meters
from trimetric.routing.service.polyline import decode_polyline, encode_polyline

PLACES = [[-7.9995, 41.0003], [-7.9921, 41.0099], [-7.9951, 41.0051]]
"""not at nodes"""


def url(service: str, places: list[list[float]] = PLACES, query: str = "") -> str:
    return f"/{service}/v1/driving/{';'.join(f'{lon},{lat}' for lon, lat in places)}{query}"


def exact(town: Running) -> np.ndarray:
    matrix = town.graph.to_scipy()
    matrix.data = town.service.engines[0].roads.costs["duration"]
    return dijkstra(matrix)


def test_get_and_post_are_the_same(town: Running) -> None:
    query = "?sources=0;2&destinations=1&annotations=duration,distance&radiuses=;unlimited;400.5&scale_factor=2"
    body = {
        "coordinates": PLACES,
        "sources": [0, 2],
        "destinations": [1],
        "annotations": ["duration", "distance"],
        "radiuses": [None, "unlimited", 400.5],
        "scale_factor": 2,
    }
    found = town.get(url("table", query=query)).json()
    assert found == town.post("/table/v1/driving", body).json()
    plain = town.get(url("table", query="?annotations=duration,distance")).json()
    np.testing.assert_allclose(found["durations"], 2 * np.array(plain["durations"])[[0, 2]][:, [1]])
    np.testing.assert_allclose(found["distances"], np.array(plain["distances"])[[0, 2]][:, [1]])
    assert [row["location"] for row in found["sources"]] == [plain["sources"][i]["location"] for i in (0, 2)]
    assert set(plain["sources"][0]) == {"name", "location", "distance"}


def test_json_at_the_end_of_a_path_and_polylines_are_read(town: Running) -> None:
    plain = town.get(url("table")).json()
    assert town.get(url("table") + ".json").json() == plain
    text = encode_polyline(np.array(PLACES), decimals=6)
    assert town.get(f"/table/v1/car/polyline6({text})").json() == plain
    assert town.post("/table/v1/car", {"coordinates": f"polyline6({text})"}).json() == plain
    assert "sources" not in town.get(url("table", query="?skip_waypoints=true")).json()


def test_snapped_places_are_on_the_nearest_street(town: Running) -> None:
    found = town.get(url("nearest", PLACES[:1], "?number=4")).json()["waypoints"]
    meters = [row["distance"] for row in found]
    assert meters == sorted(meters)
    graph = town.graph
    fine = np.linspace(0, 1, 2001)[:, None]
    streets = {}
    for tail, head in zip(graph.tails.tolist(), graph.indices.tolist(), strict=True):
        line = graph.coordinates[tail] + fine * (graph.coordinates[head] - graph.coordinates[tail])
        away = ground_meters(np.broadcast_to(PLACES[0], line.shape), line).min()
        streets[frozenset((int(graph.ids()[tail]), int(graph.ids()[head])))] = away
    wanted = sorted(streets.values())[:4]
    np.testing.assert_allclose(meters, wanted, atol=0.1)
    for row in found:
        assert abs(streets[frozenset(row["nodes"])] - row["distance"]) < 0.1
        place = ground_meters(np.array(PLACES[:1]), np.array([row["location"]]))[0]
        assert abs(place - row["distance"]) < 0.1
    assert found[0]["location"] == town.get(url("table")).json()["sources"][0]["location"]


def test_a_route_between_places_is_that_of_the_table(town: Running) -> None:
    table = town.get(url("table", query="?annotations=duration,distance")).json()
    found = town.get(url("route", query="?overview=full&geometries=geojson&annotations=true")).json()
    (route,) = found["routes"]
    for name in ("duration", "distance"):
        legs = [leg[name] for leg in route["legs"]]
        np.testing.assert_allclose(legs, [table[f"{name}s"][0][1], table[f"{name}s"][1][2]], atol=2e-3)
        for leg in route["legs"]:
            np.testing.assert_allclose(sum(leg["annotation"][name]), leg[name], atol=1e-6)
    line = np.array(route["geometry"]["coordinates"])
    np.testing.assert_allclose(line[[0, -1]], [found["waypoints"][i]["location"] for i in (0, -1)], atol=1e-6)
    meters = ground_meters(line[:-1], line[1:]).sum()
    np.testing.assert_allclose(meters, route["distance"], rtol=1e-3)
    assert route["weight_name"] == "duration"
    assert route["weight"] == route["duration"]
    short = town.get(url("route")).json()["routes"][0]["geometry"]
    assert len(decode_polyline(short)) <= len(line)
    assert "geometry" not in town.get(url("route", query="?overview=false")).json()["routes"][0]


def test_a_place_to_itself_takes_no_time(town: Running) -> None:
    here = [PLACES[0], PLACES[0]]
    assert town.get(url("table", here)).json()["durations"] == [[0.0, 0.0], [0.0, 0.0]]
    assert town.get(url("route", here)).json()["routes"][0]["duration"] == 0.0
    node = town.graph.coordinates[5].tolist()
    assert town.get(url("route", [node, node], "?annotations=true")).json()["routes"][0]["distance"] == 0.0


def test_distances_of_ids_by_both_engines(town: Running) -> None:
    ids = town.graph.ids()
    some = [3, 77, 150]
    asked = {"sources": [ids[i] for i in some], "targets": [ids[9]]}
    found = town.post("/distances", asked).json()
    np.testing.assert_allclose(found["durations"], exact(town)[some][:, [9]])
    assert (found["engine"], found["units"]) == ("exact", {"duration": "seconds"})
    learned = town.post("/distances", {**asked, "engine": "learned"}).json()
    places = town.graph.coordinates * 1e4
    wanted = np.linalg.norm(places[some] - places[9], axis=1)
    np.testing.assert_allclose(np.array(learned["durations"])[:, 0], wanted, rtol=0.02)


def test_nearest_candidates_by_travel_time(town: Running) -> None:
    ids, seconds = town.graph.ids(), exact(town)
    candidates = [8, 50, 120, 190]
    asked = {"places": [ids[30], ids[77]], "candidates": [ids[i] for i in candidates], "number": 3}
    for reverse in (False, True):
        found = town.post("/nearest", {**asked, "reverse": reverse}).json()["nearest"]
        for place, rows in zip((30, 77), found, strict=True):
            costs = seconds[candidates, place] if reverse else seconds[place, candidates]
            assert [row["candidate"] for row in rows] == np.argsort(costs, kind="stable")[:3].tolist()
            np.testing.assert_allclose([row["duration"] for row in rows], np.sort(costs)[:3])


def test_an_audit_counts_broken_pairs_and_triples(town: Running) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.integers(1, 30, size=(9, 9)).astype(float)
    np.fill_diagonal(matrix, 0)
    pairs, triples, worst = set(), 0, 0.0
    for i, k, j in np.ndindex(9, 9, 9):
        if len({i, k, j}) == 3 and matrix[i, k] + matrix[k, j] < matrix[i, j]:
            pairs.add((i, j))
            triples += 1
            worst = max(worst, matrix[i, j] - matrix[i, k] - matrix[k, j])
    found = town.post("/audit", {"matrix": matrix.tolist()}).json()
    assert (found["broken_pairs"], found["broken_triples"], found["holds"]) == (len(pairs), triples, False)
    assert found["worst"]["direct"] - found["worst"]["detour"] == worst
    hole = matrix.tolist()
    hole[0][1] = None
    assert town.post("/audit", {"matrix": hole}).json()["broken_pairs"] >= 1
    hole[2][2] = None
    assert town.post("/audit", {"matrix": hole}).json()["broken_pairs"] >= 1
    told = town.post("/audit", {"matrix": [[0, 1], [1, 2.5]]}).json()["message"]
    assert told == "matrix: expected zeros on the diagonal, got 2.5 in row 1 (from 0)"
    assert town.post("/audit", {"places": PLACES}).json()["holds"]


@pytest.mark.parametrize("reverse", [False, True])
def test_a_field_has_the_time_of_every_node(town: Running, reverse: bool) -> None:
    node = 40
    lon, lat = town.graph.coordinates[node]
    got = town.get(f"/field?lon={lon}&lat={lat}&reverse={str(reverse).lower()}")
    unit = struct.unpack("<f", got.content[:4])[0]
    found = unit * np.frombuffer(got.content, "<u2", offset=4)
    wanted = exact(town)[:, node] if reverse else exact(town)[node]
    np.testing.assert_allclose(found, wanted, atol=unit)
    learned = town.get(f"/field?lon={lon}&lat={lat}&engine=learned").content
    assert len(learned) == 4 + 2 * town.graph.num_nodes


def test_the_map_has_every_street(town: Running) -> None:
    got = town.get("/map")
    body = got.content
    nodes, edges = struct.unpack("<II", body[4:12])
    assert body[:4] == b"TMAP"
    assert nodes == town.graph.num_nodes
    numbers = np.frombuffer(body, np.uint8, 4 * nodes, 12).reshape(4, nodes).T
    lons = np.ascontiguousarray(numbers).view("<i4")[:, 0].cumsum()
    np.testing.assert_allclose(lons / 1e7, town.graph.coordinates[:, 0], atol=1e-7)
    both = {frozenset(pair) for pair in zip(town.graph.tails.tolist(), town.graph.indices.tolist(), strict=True)}
    assert edges == len(both)
    assert len(body) == 12 + 8 * nodes + 9 * edges
    assert gzip.decompress(town.service.map) == body
    assert town.get("/map", headers={"if-none-match": got.headers["etag"]}).status_code == 304


def test_prometheus_can_read_the_counts(town: Running) -> None:
    parser = pytest.importorskip("prometheus_client.parser")

    def count() -> dict[tuple[str, ...], float]:
        families = parser.text_string_to_metric_families(town.get("/metrics").text)
        return {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}

    before = count()
    town.get(url("table"))
    town.get("/table/v1/driving/nowhere")
    after = count()
    for status in ("2xx", "4xx"):
        name = ("trimetric_requests_total", "table", status)
        assert after[name] == before[name] + 1
    name = ("trimetric_request_seconds_count", "table")
    assert after[name] == before[name] + 2
    assert after["trimetric_worker_resident_bytes", "0"] > 1e7


def test_answers_ask_browsers_for_care(town: Running) -> None:
    headers = town.get("/").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_a_model_alone_answers_without_routes(town: Running, town_file) -> None:
    from running_service import start, town_model

    from trimetric.routing.service.loading import load_service

    answering = start(load_service(town_file, only_model=town_model(town.graph)))
    alone = next(answering)
    ids = town.graph.ids()
    found = alone.post("/distances", {"sources": ids[:3]}).json()
    assert found["engine"] == "learned"
    table = alone.get(url("table", town.graph.coordinates[:3].tolist())).json()
    np.testing.assert_allclose(table["durations"], found["durations"])
    assert alone.get(url("route")).json()["code"] == "NotImplemented"
    assert alone.get("/about").json()["routes"] is False
    assert len(alone.get("/map").content) == 12 + 8 * len(ids)
    assert next(answering, None) is None
