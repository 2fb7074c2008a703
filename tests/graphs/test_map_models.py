"""Map models: what they promise, and each fast loop against its slow definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

import trimetric as tm
from trimetric.graphs import Graph, PotentialHeuristic, all_distances, learn_graph, torus3d, torus3d_directed
from trimetric.graphs.learning.choosing import choose_potentials_for, greedy_rows, potentials_at
from trimetric.graphs.learning.junctions import contract_chains
from trimetric.graphs.learning.map_choices import LIKE_QUERIES, Choice, best_choice
from trimetric.graphs.learning.potential_kernels import largest_differences, relax_arcs, step_pairs
from trimetric.graphs.learning.potential_training import close_potentials, extend_potentials, train_potentials
from trimetric.graphs.learning.rounding import Rounded, round_potentials, steepest_arc
from trimetric.graphs.learning.trips import Trips, draw_nearby_trips, draw_trips

pytest.importorskip("numba")

QUIET: dict[str, Any] = {"progress": "silent", "epochs": 1}


@pytest.fixture(scope="module")
def one_way() -> Graph:
    return torus3d_directed(seed=0, side=4)


@pytest.fixture(scope="module")
def both_ways() -> Graph:
    return torus3d(seed=0, side=4)


def roads(*, directed: bool, seed: int = 0) -> Graph:
    """A ring of junctions with chords, whose roads have bends, some of them one-way."""
    random = np.random.default_rng(seed)
    tails, heads, weights, nodes = [], [], [], 12
    for start in range(12):
        for end in ((start + 1) % 12, (start + 5) % 12):
            stops = [start, *range(nodes, nodes + int(random.integers(0, 4))), end]
            nodes += len(stops) - 2
            pieces = random.integers(1, 9, len(stops) - 1)
            both = not directed or random.random() < 0.5
            for a, b, w in zip(stops, stops[1:], pieces, strict=False):
                tails += [a, b] if both and directed else [a]
                heads += [b, a] if both and directed else [b]
                weights += [w, w] if both and directed else [w]
    return Graph.from_arcs(nodes, tails, heads, np.array(weights, float), directed=directed).connected()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_chains_are_contracted_without_changing_a_distance(directed: bool, seed: int) -> None:
    graph = roads(directed=directed, seed=seed)
    small = contract_chains(graph)
    assert 2 <= small.graph.num_nodes < graph.num_nodes
    assert small.graph.directed == directed
    truth = all_distances(graph)
    np.testing.assert_allclose(all_distances(small.graph), truth[np.ix_(small.nodes, small.nodes)], rtol=1e-12)


def test_a_ring_has_nothing_to_contract() -> None:
    ring = Graph.from_arcs(5, range(5), [1, 2, 3, 4, 0], np.ones(5), directed=True)
    assert contract_chains(ring).graph is ring


@pytest.mark.parametrize("directed", [False, True])
def test_steps_are_those_of_the_definition(directed: bool) -> None:
    random = np.random.default_rng(0)
    points = random.normal(size=(9, 5)).astype(np.float32)
    starts, ends = random.integers(9, size=(2, 200)).astype(np.int32)
    keep = starts != ends
    starts, ends = starts[keep], ends[keep]
    lengths = random.uniform(0.5, 3, len(starts)).astype(np.float32)
    slow = points.astype(np.float64)
    for i, (x, y, length) in enumerate(zip(starts, ends, lengths, strict=True)):
        rate = 0.3 + (0.1 - 0.3) * i / len(starts)
        difference = slow[y] - slow[x]
        k = int((difference if directed else np.abs(difference)).argmax())
        sign = 1.0 if directed or difference[k] > 0 else -1.0
        off = sign * difference[k] - length
        move = np.clip(off / 2, -rate / length, rate / length)
        slow[x, k] += sign * move
        slow[y, k] -= sign * move
    step_pairs(points, starts, ends, lengths, 0.3, 0.1, directed)
    np.testing.assert_allclose(points, slow, atol=1e-4)
    difference = points[ends] - points[starts]
    slow_largest = (np.maximum(difference, 0) if directed else np.abs(difference)).max(axis=1)
    np.testing.assert_allclose(largest_differences(points, starts, ends, directed), slow_largest, rtol=1e-6)


@pytest.mark.parametrize("directed", [False, True])
def test_arcs_are_relaxed_up_to_their_limit(directed: bool) -> None:
    points = np.array([[0.0, 0.0], [4.0, -4.0]], np.float32)
    relax_arcs(points, np.array([0], np.int32), np.array([1], np.int32), np.array([2.0], np.float32), directed, 1)
    expected = [[1.0, 0.0], [3.0, -4.0]] if directed else [[1.0, -1.0], [3.0, -3.0]]
    np.testing.assert_array_equal(points, expected)


@pytest.mark.parametrize("name", ["one_way", "both_ways"])
def test_closed_potentials_are_lower_bounds_and_stay(name: str, request: pytest.FixtureRequest) -> None:
    graph: Graph = request.getfixturevalue(name)
    wild = np.random.default_rng(0).normal(size=(graph.num_nodes, 3))
    closed = close_potentials(graph, wild)
    heuristic = PotentialHeuristic(closed.astype(np.float64), graph.directed)
    assert heuristic.certify(graph).excess < 1e-6
    np.testing.assert_allclose(close_potentials(graph, closed), closed, atol=1e-6)
    looser = close_potentials(graph, 10 * wild, slack=0.5).astype(np.float64)
    steep = PotentialHeuristic(looser / 1.5, graph.directed).certify(graph)
    assert steep.excess < 1e-6 < PotentialHeuristic(looser, graph.directed).certify(graph).excess


def test_extended_potentials_keep_those_given(one_way: Graph) -> None:
    exact = potentials_at(one_way, np.array([3, 7]), np.array([False, True]))
    nodes = np.arange(0, one_way.num_nodes, 2)
    extended = extend_potentials(one_way, nodes, exact[nodes])
    np.testing.assert_allclose(extended[nodes], exact[nodes], atol=1e-5)
    assert PotentialHeuristic(extended.astype(np.float64), True).certify(one_way).excess < 1e-5


@pytest.mark.parametrize("name", ["one_way", "both_ways"])
def test_trips_have_exact_lengths_and_none_that_is_held_out(name: str, request: pytest.FixtureRequest) -> None:
    graph: Graph = request.getfixturevalue(name)
    truth = all_distances(graph)
    held = np.stack(np.meshgrid(np.arange(10), np.arange(64)), axis=-1).reshape(-1, 2)
    symmetric = not graph.directed
    trips = draw_trips(graph, 4000, trees=64, without=held, symmetric=symmetric)
    near = draw_nearby_trips(graph, 4000, most=20, without=held, symmetric=symmetric)
    for drawn in (trips, near):
        np.testing.assert_allclose(drawn.lengths, truth[drawn.starts, drawn.ends], rtol=1e-6)
        assert drawn.starts.min() >= 10
        assert not symmetric or drawn.ends.min() >= 10
        assert (drawn.starts != drawn.ends).all()
    wanted = truth[(truth > 0) & (truth < np.median(truth))]
    like = draw_trips(graph, 4000, trees=64, like=wanted).lengths
    assert like.max() <= wanted.max() * (1 + 1e-6)
    assert np.median(like) == pytest.approx(np.median(wanted), rel=0.05)


def test_greedy_choice_is_that_of_the_definition() -> None:
    shares = np.random.default_rng(0).random((30, 50)).astype(np.float32) ** 4
    best, slow = np.zeros(50), []
    for _ in range(8):
        means = np.maximum(shares, best).mean(axis=1)
        slow.append(int(means.argmax()))
        best = np.maximum(best, shares[slow[-1]])
    assert greedy_rows(shares, 8) == slow
    with pytest.raises(ValueError, match="count: expected at most the 30 rows, got 31"):
        greedy_rows(shares, 31)


def test_chosen_landmarks_beat_random_ones(one_way: Graph) -> None:
    trips = draw_trips(one_way, 2000, trees=64)
    nodes, to = choose_potentials_for(one_way, 6, trips, directed=True)

    def mean_share(points: np.ndarray) -> float:
        predicted = largest_differences(points.astype(np.float32), trips.starts, trips.ends, True)
        return float((predicted / trips.lengths).mean())

    random = potentials_at(one_way, np.arange(6), np.arange(6) % 2 == 0)
    assert mean_share(potentials_at(one_way, nodes, to)) > mean_share(random)


@pytest.mark.parametrize("name", ["one_way", "both_ways"])
def test_training_lowers_the_error_of_trips_that_it_has_not_seen(name: str, request: pytest.FixtureRequest) -> None:
    graph: Graph = request.getfixturevalue(name)
    fresh = draw_trips(graph, 1000, trees=64, seed=9)
    pairs = np.stack([fresh.starts, fresh.ends], axis=1).astype(np.int64)
    trips = draw_trips(graph, 100_000, trees=64, without=pairs, symmetric=not graph.directed)
    start = potentials_at(graph, np.arange(6), np.arange(6) % 2 == 0 if graph.directed else np.zeros(6, bool))
    trained = train_potentials(graph, start, trips)

    def error(points: np.ndarray) -> float:
        predicted = largest_differences(points.astype(np.float32), fresh.starts, fresh.ends, graph.directed)
        return float(np.abs(predicted / fresh.lengths - 1).mean())

    assert error(trained) < 0.9 * error(start)


@pytest.mark.parametrize("precision", ["float32", "int16"])
@pytest.mark.parametrize("name", ["one_way", "both_ways"])
def test_a_lower_bound_survives_rounding_exactly(name: str, precision: str, request: pytest.FixtureRequest) -> None:
    graph: Graph = request.getfixturevalue(name)
    wild = np.random.default_rng(0).normal(size=(graph.num_nodes, 5))
    rounded = round_potentials(wild, precision, below=graph, directed=graph.directed)  # type: ignore[arg-type]
    assert 0 < steepest_arc(rounded, graph, directed=graph.directed) <= 1
    assert np.log2(rounded.unit) == round(np.log2(rounded.unit))
    values = rounded.values()
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values.astype(np.float64), rounded.numbers.astype(np.float64) * rounded.unit)


def test_rounding_of_equal_and_of_many_values() -> None:
    assert round_potentials(np.full((3, 2), 7.0), "int8").values().tolist() == [[0, 0]] * 3
    values = np.linspace(-5, 1000, 777)[:, None]
    rounded = round_potentials(values, "int8")
    assert rounded.numbers.dtype == np.int8
    differences = rounded.values().ravel() - rounded.values()[0]
    assert np.abs(differences - (values.ravel() - values[0])).max() <= rounded.unit
    assert steepest_arc(Rounded(np.array([[0], [1]]), 1.0), _zero_arc(), directed=False) == np.inf


def _zero_arc() -> Graph:
    return Graph.from_arcs(2, [0], [1], [0.0], directed=False)


@pytest.mark.parametrize("precision", ["float32", "int16"])
@pytest.mark.parametrize("name", ["one_way", "both_ways"])
def test_the_lower_mode_is_never_too_far(name: str, precision: str, request: pytest.FixtureRequest) -> None:
    graph: Graph = request.getfixturevalue(name)
    learned = learn_graph(graph, guarantee="lower", precision=precision, dim=8, **QUIET)  # type: ignore[arg-type]
    truth = dijkstra(graph.to_scipy())
    found = learned.model.all_pairs().double().numpy()
    assert (found <= truth * (1 + 1e-12)).all()
    assert learned.audit.holds
    assert learned.candidates[0].bytes_per_node == 8 * (4 if precision == "float32" else 2)
    test = learned.model.notes["test"]
    assert test["model"]["mse"] <= test["chosen landmarks"]["mse"] * (1 + 1e-9)


@pytest.mark.parametrize("name", ["one_way", "both_ways"])
def test_the_upper_mode_is_never_too_near(name: str, request: pytest.FixtureRequest) -> None:
    graph: Graph = request.getfixturevalue(name)
    learned = learn_graph(graph, guarantee="upper", dim=16, progress="silent")
    truth = dijkstra(graph.to_scipy())
    found = learned.model.all_pairs().double().numpy()
    assert (found >= truth).all()
    assert learned.audit.holds
    assert tm.audit(learned.model.network, learned.model.embed()).holds
    assert "never shorter" in learned.promise


@pytest.mark.parametrize("name", ["one_way", "both_ways"])
def test_the_default_keeps_what_it_says(name: str, request: pytest.FixtureRequest) -> None:
    graph: Graph = request.getfixturevalue(name)
    learned = learn_graph(graph, dim=8, **QUIET)
    truth = dijkstra(graph.to_scipy())
    found = learned.model.all_pairs().double().numpy()
    factor = 1 + float(learned.promise.split("never more than ")[1].split("%")[0]) / 100 + 1e-4
    assert (found <= truth * factor).all()
    assert learned.model.axioms.symmetric == (not graph.directed)
    assert learned.audit.holds


def test_what_is_worse_than_the_landmarks_is_not_kept() -> None:
    points = np.zeros((1, 1), np.float32)

    def choice(**errors: float) -> Choice:
        return Choice("", points, 0.0, {name: np.full(9, error) for name, error in errors.items()})

    start, worse = choice(random=0.2, short=0.01), choice(random=0.01, short=0.02)
    better = choice(random=0.1, short=0.01)
    assert best_choice([start, worse]) is start
    assert best_choice([start, worse, better]) is better
    noisy = Choice("", points, 0.0, {"random": np.array([0.0] * 8 + [1.7]), "short": np.full(9, 0.01)})
    assert noisy.errors["random"].mean() < start.errors["random"].mean()
    assert best_choice([start, noisy]) is start
    few, many = choice(**{LIKE_QUERIES: 0.2, "random": 0.1}), choice(**{LIKE_QUERIES: 0.1, "random": 0.1})
    assert best_choice([few, many]) is many


def test_queries_are_reported_and_not_trained_on(one_way: Graph) -> None:
    queries = np.array([[i, (i + 1) % 64] for i in range(64)])
    learned = learn_graph(one_way, queries=queries, dim=4, **QUIET)
    assert set(learned.model.notes["relative_errors"]) >= {"queries", "like the queries", "random"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"guarantee": "lower", "precision": "int8"}, "precision: expected float32 or int16 for a lower bound"),
        ({"guarantee": "upper", "precision": "int16"}, "precision: expected float32 for an upper bound"),
        ({"guarantee": "upper", "epochs": 2}, "epochs: expected only for a guarantee other than upper"),
        ({"guarantee": "middle"}, "guarantee: expected one of"),
        ({"precision": "float8"}, "precision: expected one of"),
        ({"dim": 3}, "dim: expected an even number for a directed graph, got 3"),
        ({"dim": 4, "bytes_per_node": 16}, "dim: expected only without bytes_per_node"),
        ({"bytes_per_node": 4}, "bytes_per_node: expected room for at least one number each way, got 4"),
        ({"symmetric": True}, "symmetric: expected a graph whose arcs go both ways"),
        ({"head": "wide", "guarantee": "lower"}, "guarantee: expected only without head"),
        ({"widths": (8,), "trees": 3}, "trees: expected only without widths"),
        ({"queries": [[0, 1, 2]]}, r"queries: expected \(queries, 2\) nodes"),
        ({"queries": [[0, 99]]}, "queries: expected nodes from 0 to 63"),
        ({"queries": [[5, 5]]}, "queries: expected a query between two different places"),
    ],
)
def test_bad_arguments_are_named(one_way: Graph, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learn_graph(one_way, progress="silent", **arguments)


def test_trips_without_a_way_are_not_drawn() -> None:
    apart = Graph.from_arcs(3, [0, 1], [1, 0], [1.0, 1.0], directed=True)
    assert set(draw_trips(apart, 50, trees=3).starts.tolist()) <= {0, 1}
    assert isinstance(draw_nearby_trips(apart, 50, most=2), Trips)
