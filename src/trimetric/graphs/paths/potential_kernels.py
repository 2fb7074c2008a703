r"""Bidirectional search guided by potentials (ALT where they are distances of landmarks).

A potential is a number $g(v)$ for each node with $g(v) - g(u) \le w(u, v)$ for every arc, so that
$g(y) - g(x) \le d(x, y)$.
"""

from __future__ import annotations

import numpy as np

from trimetric.graphs.paths.heap import heap_pop, heap_push
from trimetric.kernels.machine_code import njit


@njit
def choose_potentials(potentials, source, target, both_signs, columns, signs, bounds):
    """Put the potentials with the largest bounds for a pair into `columns` and `signs`; `bounds` is scratch space."""
    width = potentials.shape[1]
    for j in range(width):
        difference = potentials[target, j] - potentials[source, j]
        bounds[j] = abs(difference) if both_signs else difference
    for i in range(len(columns)):
        best = 0
        for j in range(1, width):
            if bounds[j] > bounds[best]:
                best = j
        columns[i] = best
        signs[i] = -1.0 if both_signs and potentials[target, best] < potentials[source, best] else 1.0
        bounds[best] = -np.inf


@njit
def bound(potentials, here, there, columns, signs):
    """The largest lower bound of the distance from `here` to `there` that the chosen potentials give."""
    largest = 0.0
    for i in range(len(columns)):
        j = columns[i]
        largest = max(largest, signs[i] * (potentials[there, j] - potentials[here, j]))
    return largest


@njit
def balance(potentials, node, source, target, columns, signs):
    """Half the bound to the target minus half the bound from the source: one potential for both searches."""
    ahead = bound(potentials, node, target, columns, signs)
    behind = bound(potentials, source, node, columns, signs)
    return 0.5 * (ahead - behind)


@njit
def guided(
    indptr,
    indices,
    weights,
    back_indptr,
    back_indices,
    back_weights,
    potentials,
    both_signs,
    active,
    sources,
    targets,
):
    """Compute the shortest-path lengths of pairs (NaN where the heap was too small), and count the nodes settled."""
    n = len(indptr) - 1
    active = min(active, potentials.shape[1])
    columns, signs, bounds = np.empty(active, np.int64), np.empty(active), np.empty(potentials.shape[1])
    ahead, behind, level = np.full(n, np.inf), np.full(n, np.inf), np.full(n, np.nan)
    # Each arc is relaxed once, except where rounding made a potential slightly too steep; see below.
    room = 2 * len(indices) + 1
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
        choose_potentials(potentials, source, target, both_signs, columns, signs, bounds)
        level[source] = balance(potentials, source, source, target, columns, signs)
        level[target] = balance(potentials, target, source, target, columns, signs)
        best = np.inf
        ahead[source], behind[target] = 0.0, 0.0
        touched[0], touched[1] = source, target
        count = 2
        size = heap_push(keys, nodes, 0, level[source], source)
        back_size = heap_push(back_keys, back_nodes, 0, -level[target], target)
        while size > 0 and back_size > 0 and keys[0] + back_keys[0] < best:
            if keys[0] - level[source] <= back_keys[0] + level[target]:
                key, node = keys[0], nodes[0]
                size = heap_pop(keys, nodes, size)
                here = ahead[node]
                if key > here + level[node]:
                    continue
                settled += 1
                first, last = indptr[node], indptr[node + 1]
                if size + last - first > room:
                    best = np.nan
                    break
                for arc in range(first, last):
                    head, there = indices[arc], here + weights[arc]
                    if there < ahead[head]:
                        if np.isnan(level[head]):
                            level[head] = balance(potentials, head, source, target, columns, signs)
                            touched[count] = head
                            count += 1
                        ahead[head] = there
                        size = heap_push(keys, nodes, size, there + level[head], head)
                        best = min(best, there + behind[head])
            else:
                key, node = back_keys[0], back_nodes[0]
                back_size = heap_pop(back_keys, back_nodes, back_size)
                here = behind[node]
                if key > here - level[node]:
                    continue
                settled += 1
                first, last = back_indptr[node], back_indptr[node + 1]
                if back_size + last - first > room:
                    best = np.nan
                    break
                for arc in range(first, last):
                    head, there = back_indices[arc], here + back_weights[arc]
                    if there < behind[head]:
                        if np.isnan(level[head]):
                            level[head] = balance(potentials, head, source, target, columns, signs)
                            touched[count] = head
                            count += 1
                        behind[head] = there
                        back_size = heap_push(back_keys, back_nodes, back_size, there - level[head], head)
                        best = min(best, there + ahead[head])
        found[pair] = best
        for i in range(count):
            node = touched[i]
            ahead[node], behind[node], level[node] = np.inf, np.inf, np.nan
    return found, settled
