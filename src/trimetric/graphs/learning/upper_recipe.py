"""A map model that is never too near: the shortest way through hubs."""

from __future__ import annotations

import numpy as np
import torch

from trimetric.distances import HubMetric
from trimetric.graphs.graph import Graph, Nodes
from trimetric.graphs.learning.choosing import greedy_rows
from trimetric.graphs.learning.trips import Trips
from trimetric.graphs.paths.landmarks import landmarks_at
from trimetric.graphs.paths.trees import distances_from, distances_to

CANDIDATES = 400
MARGIN = 2.0**-20  # relative; more than the sums of three numbers in float32 are off
PROMISE = "never shorter than the true distance, as it is the length of a way through a hub"


def choose_hubs(graph: Graph, count: int, trips: Trips, *, seed: int) -> Nodes:
    """Choose nodes such that the ways of trips through the best of them are short, one after the other.

    Args:
        graph: a strongly connected graph.
        count: number of hubs.
        trips: what they are chosen for.
        seed: for the candidates.

    Returns:
        The nodes.

    Examples:
        >>> graph = Graph.from_arcs(3, [0, 1], [1, 2], [1.0, 2.0], directed=False)
        >>> trips = Trips(np.array([0]), np.array([2]), np.array([3.0], np.float32))
        >>> len(choose_hubs(graph, 1, trips, seed=0))
        1
    """
    wanted = min(graph.num_nodes, max(CANDIDATES, 2 * count))
    nodes = np.random.default_rng(seed).choice(graph.num_nodes, wanted, replace=False)
    shares = np.empty((wanted, len(trips)), np.float32)
    ahead = distances_from(graph, nodes)
    back = distances_to(graph, nodes) if graph.directed else None
    for i, from_hub in enumerate(ahead):
        to_hub = from_hub if back is None else next(back)
        shares[i] = trips.lengths / np.maximum(to_hub[trips.starts] + from_hub[trips.ends], 1e-30)
    return nodes[greedy_rows(np.minimum(shares, 1.0), min(count, wanted))]


def hub_model(graph: Graph, hubs: Nodes, *, directed: bool) -> tuple[HubMetric, torch.Tensor]:
    """Make the distance through hubs, and the points of all nodes.

    All numbers are raised by a millionth, so that the rounding of float32 cannot make an answer too short; a multiple
    of a quasimetric is one.

    Args:
        graph: a strongly connected graph.
        hubs: the nodes.
        directed: whether ways to and from hubs differ.

    Returns:
        The distance, and `(n, dim)` points.

    Examples:
        >>> graph = Graph.from_arcs(3, [0, 1], [1, 2], [1.0, 2.0], directed=False)
        >>> distance, points = hub_model(graph, np.array([1]), directed=False)
        >>> round(distance(points[0], points[2]).item(), 4)
        3.0
    """
    landmarks = landmarks_at(graph, hubs, dtype=np.float64)
    one_way = [landmarks.to_landmarks, landmarks.from_landmarks]
    table = np.concatenate(one_way, axis=1) if directed else landmarks.from_landmarks
    distance = HubMetric(table.shape[1], directed=directed)
    distance.set_between(torch.from_numpy(landmarks.from_landmarks[hubs].T * (1 + MARGIN)).float())
    return distance, torch.from_numpy((table * (1 + MARGIN)).astype(np.float32))
