"""Dijkstra's algorithm from one node to all, and from both ends of a pair."""

from __future__ import annotations

import numpy as np

from trimetric.graphs.paths.heap import heap_pop, heap_push
from trimetric.kernels.machine_code import njit


@njit
def dijkstra_tree(indptr, indices, weights, start):
    """Compute shortest-path lengths where a path may start at any node v at a cost of `start[v]` (inf: it may not)."""
    distance = start.copy()
    room = len(indices) + len(start)  # each arc is relaxed once at most
    keys, nodes = np.empty(room), np.empty(room, np.int32)
    size = 0
    for node in range(len(start)):
        if start[node] < np.inf:
            size = heap_push(keys, nodes, size, start[node], node)
    while size > 0:
        key, node = keys[0], nodes[0]
        size = heap_pop(keys, nodes, size)
        if key > distance[node]:
            continue
        for arc in range(indptr[node], indptr[node + 1]):
            head, there = indices[arc], key + weights[arc]
            if there < distance[head]:
                distance[head] = there
                size = heap_push(keys, nodes, size, there, head)
    return distance


@njit
def bidirectional(
    indptr,
    indices,
    weights,
    back_indptr,
    back_indices,
    back_weights,
    sources,
    targets,
):
    """Compute the shortest-path lengths of pairs, and count the nodes settled in total.

    The searches from both ends have met when the keys of the two nearest open nodes add up to no less than the best
    path found.
    """
    n = len(indptr) - 1
    ahead, behind = np.full(n, np.inf), np.full(n, np.inf)
    room = len(indices) + 1  # each arc is relaxed once at most
    keys, nodes = np.empty(room), np.empty(room, np.int32)
    back_keys, back_nodes = np.empty(room), np.empty(room, np.int32)
    touched = np.empty(n, np.int32)
    found = np.empty(len(sources))
    settled = 0
    for pair in range(len(sources)):
        source, target = sources[pair], targets[pair]
        if source == target:
            found[pair] = 0.0
            continue
        best = np.inf
        ahead[source], behind[target] = 0.0, 0.0
        touched[0], touched[1] = source, target
        count = 2
        size = heap_push(keys, nodes, 0, 0.0, source)
        back_size = heap_push(back_keys, back_nodes, 0, 0.0, target)
        while size > 0 and back_size > 0 and keys[0] + back_keys[0] < best:
            if keys[0] <= back_keys[0]:
                key, node = keys[0], nodes[0]
                size = heap_pop(keys, nodes, size)
                if key > ahead[node]:
                    continue
                settled += 1
                for arc in range(indptr[node], indptr[node + 1]):
                    head, there = indices[arc], key + weights[arc]
                    if there < ahead[head]:
                        if ahead[head] == np.inf and behind[head] == np.inf:
                            touched[count] = head
                            count += 1
                        ahead[head] = there
                        size = heap_push(keys, nodes, size, there, head)
                        best = min(best, there + behind[head])
            else:
                key, node = back_keys[0], back_nodes[0]
                back_size = heap_pop(back_keys, back_nodes, back_size)
                if key > behind[node]:
                    continue
                settled += 1
                for arc in range(back_indptr[node], back_indptr[node + 1]):
                    head, there = back_indices[arc], key + back_weights[arc]
                    if there < behind[head]:
                        if ahead[head] == np.inf and behind[head] == np.inf:
                            touched[count] = head
                            count += 1
                        behind[head] = there
                        back_size = heap_push(back_keys, back_nodes, back_size, there, head)
                        best = min(best, there + ahead[head])
        found[pair] = best
        for i in range(count):
            ahead[touched[i]], behind[touched[i]] = np.inf, np.inf
    return found, settled
