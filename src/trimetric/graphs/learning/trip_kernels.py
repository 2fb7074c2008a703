"""Inner loops of drawing trips: shortest-path trees, whole or near their root, and nodes drawn from them."""

from __future__ import annotations

import numpy as np

from trimetric.graphs.paths.heap import heap_pop, heap_push
from trimetric.kernels.machine_code import njit


@njit
def settle_all(indptr, indices, weights, source):
    """Run Dijkstra's algorithm from a node; return the distances of all nodes and the nodes in order of distance."""
    n = len(indptr) - 1
    distance = np.full(n, np.inf)
    order = np.empty(n, np.int32)
    keys, nodes = np.empty(len(indices) + 1), np.empty(len(indices) + 1, np.int32)
    distance[source] = 0.0
    size = heap_push(keys, nodes, 0, 0.0, source)
    settled, done = 0, np.zeros(n, np.bool_)
    while size > 0:
        key, node = keys[0], nodes[0]
        size = heap_pop(keys, nodes, size)
        if done[node]:
            continue
        done[node] = True
        order[settled] = node
        settled += 1
        for arc in range(indptr[node], indptr[node + 1]):
            head, there = indices[arc], key + weights[arc]
            if there < distance[head]:
                distance[head] = there
                size = heap_push(keys, nodes, size, there, head)
    return distance, order[:settled]


@njit
def draw_targets(distance, order, borders, chance):
    """Draw a node for each pair of random numbers in [0, 1), from one tree; -1 where there is none.

    With `borders` of distances, the first number chooses an interval between two of them, and the second a node at
    such a distance.  Without any, half of the nodes are drawn evenly, and the others evenly in the logarithm of
    their rank by distance, so that all scales occur.
    """
    first = 0
    while first < len(order) and distance[order[first]] <= 0:
        first += 1
    targets = np.full(len(chance), -1, np.int32)
    left = len(order) - first
    if left == 0:
        return targets
    if len(borders) == 0:
        for i in range(len(chance)):
            if chance[i, 0] < 0.5:
                rank = int(chance[i, 1] * left)
            else:
                rank = int(np.exp(chance[i, 1] * np.log(left + 1.0))) - 1
            targets[i] = order[first + min(rank, left - 1)]
        return targets
    edges = np.empty(len(borders), np.int64)
    rank = first
    for border in range(len(borders)):
        while rank < len(order) and distance[order[rank]] <= borders[border]:
            rank += 1
        edges[border] = rank
    intervals = len(borders) - 1
    for i in range(len(chance)):
        chosen = min(int(chance[i, 0] * intervals), intervals - 1)
        size = edges[chosen + 1] - edges[chosen]
        if size > 0:
            targets[i] = order[edges[chosen] + min(int(chance[i, 1] * size), size - 1)]
    return targets


@njit
def draw_nearby(indptr, indices, weights, sources, most, chance):
    """Draw nodes among the `most` nearest of each source, three quarters of which are passed over.

    Returns:
        `(sources, draws)` nodes (-1 where there is none) and their distances.
    """
    n, draws = len(indptr) - 1, chance.shape[1]
    distance, touched = np.full(n, np.inf), np.empty(n, np.int32)
    order = np.empty(most, np.int32)
    keys, nodes = np.empty(len(indices) + 1), np.empty(len(indices) + 1, np.int32)
    found, lengths = np.full((len(sources), draws), -1, np.int32), np.zeros((len(sources), draws), np.float32)
    for row in range(len(sources)):
        source = sources[row]
        distance[source], touched[0], reached, settled = 0.0, source, 1, 0
        size = heap_push(keys, nodes, 0, 0.0, source)
        while size > 0 and settled < most:
            key, node = keys[0], nodes[0]
            size = heap_pop(keys, nodes, size)
            if key > distance[node]:
                continue
            order[settled] = node
            settled += 1
            for arc in range(indptr[node], indptr[node + 1]):
                head, there = indices[arc], key + weights[arc]
                if there < distance[head]:
                    if distance[head] == np.inf:
                        touched[reached] = head
                        reached += 1
                    distance[head] = there
                    size = heap_push(keys, nodes, size, there, head)
        first = min(max(1, settled // 4), settled - 1)
        for i in range(draws):
            node = order[min(first + int(chance[row, i] * (settled - first)), settled - 1)]
            if distance[node] > 0:
                found[row, i], lengths[row, i] = node, distance[node]
        for i in range(reached):
            distance[touched[i]] = np.inf
    return found, lengths
