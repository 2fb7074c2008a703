"""A* from one node to another, guided by potentials; without any it is Dijkstra's algorithm."""

from __future__ import annotations

import numpy as np

from trimetric.graphs.paths.heap import heap_pop, heap_push
from trimetric.graphs.paths.potential_kernels import bound, choose_potentials
from trimetric.kernels.machine_code import njit


@njit
def astar(indptr, indices, weights, potentials, both_signs, source, target, distance, parent, level):
    """Fill `distance` and `parent` as far as the search goes; return the nodes expanded (-1: the heap was too small).

    A node is reopened when a shorter path to it is found, so the result is a shortest path for every admissible
    bound, consistent or not.  Initially `distance` must be infinite, `parent` -1 and `level` NaN everywhere.
    """
    width = potentials.shape[1]
    columns, signs, bounds = np.empty(width, np.int64), np.empty(width), np.empty(width)
    if width > 0:
        choose_potentials(potentials, source, target, both_signs, columns, signs, bounds)
        if both_signs:  # every column in both directions
            columns = np.concatenate((columns, columns))
            signs = np.concatenate((signs, -signs))
    room = 2 * len(indices) + 1
    keys, nodes = np.empty(room), np.empty(room, np.int32)
    distance[source] = 0.0
    level[source] = bound(potentials, source, target, columns, signs)
    size = heap_push(keys, nodes, 0, level[source], source)
    expanded = 0
    while size > 0:
        key, node = keys[0], nodes[0]
        size = heap_pop(keys, nodes, size)
        here = distance[node]
        if key > here + level[node]:
            continue
        if node == target:
            break
        expanded += 1
        first, last = indptr[node], indptr[node + 1]
        if size + last - first > room:
            return -1
        for arc in range(first, last):
            head, there = indices[arc], here + weights[arc]
            if there < distance[head]:
                if np.isnan(level[head]):
                    level[head] = bound(potentials, head, target, columns, signs)
                distance[head] = there
                parent[head] = node
                size = heap_push(keys, nodes, size, there + level[head], head)
    return expanded
