"""The loops of a contraction hierarchy: shortcuts, their weights, sweeps to many nodes, and the arcs of a route.

Nodes are numbered by rank here: 0 is contracted first.  All neighbors of a node of higher rank are its ancestors in the
elimination tree, in which the parent of a node is the lowest of them.  Keys of paths are whole numbers or floats; they
add up along a path, and the least one wins.
"""

from __future__ import annotations

import numpy as np

from trimetric.kernels.machine_code import njit

LANES = 16
"""sources that one sweep serves: their keys lie side by side, so that a core adds several at once"""


@njit
def add_shortcuts(indptr, indices, limit):
    """List the neighbors of higher rank of each node, shortcuts included; no heads where there are more than `limit`.

    Contracting a node joins all its higher neighbors.  It suffices to join them to the lowest one, from which they are
    passed on when that one is contracted.
    """
    n = len(indptr) - 1
    first_child, next_sibling = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    mark = np.full(n, -1, np.int32)
    ptr = np.zeros(n + 1, np.int64)
    heads = np.empty(2 * len(indices) + 16, np.int32)
    size = 0
    for v in range(n):
        start = size
        room = indptr[v + 1] - indptr[v]
        child = first_child[v]
        while child >= 0:
            room += ptr[child + 1] - ptr[child]
            child = next_sibling[child]
        if size + room > len(heads):
            larger = np.empty(2 * len(heads) + room, np.int32)
            larger[:size] = heads[:size]
            heads = larger
        for k in range(indptr[v], indptr[v + 1]):
            u = indices[k]
            if u > v and mark[u] != v:
                mark[u] = v
                heads[size] = u
                size += 1
        child = first_child[v]
        while child >= 0:
            for k in range(ptr[child] + 1, ptr[child + 1]):  # the first one is v itself
                u = heads[k]
                if mark[u] != v:
                    mark[u] = v
                    heads[size] = u
                    size += 1
            child = next_sibling[child]
        if size > limit:
            return ptr, heads[:0].copy()
        heads[start:size].sort()
        ptr[v + 1] = size
        if size > start:
            parent = heads[start]
            next_sibling[v] = first_child[parent]
            first_child[parent] = v
    return ptr, heads[:size].copy()


@njit
def find_arc(ptr, heads, low, high):
    """Find the arc between a node and one of its higher neighbors."""
    first, last = ptr[low], ptr[low + 1]
    while first < last:
        middle = (first + last) // 2
        if heads[middle] < high:
            first = middle + 1
        else:
            last = middle
    return first


@njit
def place_arcs(ptr, heads, tails_of_arcs, heads_of_arcs, keys, up, down, up_arc, down_arc):
    """Write the keys of the graph's own arcs into the hierarchy, and which arc each one is."""
    for arc in range(len(keys)):
        tail, head = tails_of_arcs[arc], heads_of_arcs[arc]
        if tail < head:
            k = find_arc(ptr, heads, tail, head)
            up[k], up_arc[k] = keys[arc], arc
        else:
            k = find_arc(ptr, heads, head, tail)
            down[k], down_arc[k] = keys[arc], arc


@njit
def customize(ptr, heads, up, down, up_middle, down_middle):
    """Compute the keys of shortcuts from the lowest node upward, and the node that each of them passes."""
    for v in range(len(ptr) - 1):
        for i in range(ptr[v], ptr[v + 1]):
            u = heads[i]
            k = ptr[u]
            for j in range(i + 1, ptr[v + 1]):
                w = heads[j]
                while heads[k] != w:
                    k += 1
                there, back = down[i] + up[j], down[j] + up[i]
                if there < up[k]:
                    up[k], up_middle[k] = there, v
                if back < down[k]:
                    down[k], down_middle[k] = back, v


@njit
def select(ptr, heads, down, wanted):
    """Choose the nodes that a sweep to `wanted` must visit, highest first, with the arcs down to each of them."""
    n = len(ptr) - 1
    place = np.full(n, -1, np.int32)
    count, arcs = 0, 0
    for node in wanted:
        v = node
        while place[v] < 0:
            place[v] = 0
            count += 1
            arcs += ptr[v + 1] - ptr[v]
            if ptr[v] == ptr[v + 1]:
                break
            v = heads[ptr[v]]
    starts = np.zeros(count + 1, np.int64)
    above, keys = np.empty(arcs, np.int32), np.empty(arcs, down.dtype)
    i, size = 0, 0
    for v in range(n - 1, -1, -1):
        if place[v] < 0:
            continue
        place[v] = i
        for k in range(ptr[v], ptr[v + 1]):
            above[size], keys[size] = place[heads[k]], down[k]
            size += 1
        i += 1
        starts[i] = size
    return place, starts, above, keys


@njit
def sweep(ptr, heads, up, place, starts, above, keys, exits, exit_keys, entries, entry_keys, infinity, out):
    """Compute the keys of paths from each source to each target.

    A source may leave through the nodes `exits` (-1: none), two ends of one arc at most, at a cost each; a target is
    entered likewise.
    """
    n = len(ptr) - 1
    reach = np.full(n, infinity)
    found = np.empty((len(starts) - 1, LANES), up.dtype)
    for first in range(0, len(exits), LANES):
        count = min(LANES, len(exits) - first)
        found[:] = infinity
        for lane in range(count):
            lowest = n
            for end in range(exits.shape[1]):
                node = exits[first + lane, end]
                if node >= 0:
                    reach[node] = min(reach[node], exit_keys[first + lane, end])
                    lowest = min(lowest, node)
            v = lowest
            while v < n:
                here = reach[v]
                reach[v] = infinity
                if place[v] >= 0:
                    found[place[v], lane] = here
                for k in range(ptr[v], ptr[v + 1]):
                    there = here + up[k]
                    if there < reach[heads[k]]:
                        reach[heads[k]] = there
                v = heads[ptr[v]] if ptr[v] < ptr[v + 1] else n
        for i in range(len(starts) - 1):
            for k in range(starts[i], starts[i + 1]):
                higher, key = above[k], keys[k]
                for lane in range(LANES):
                    there = found[higher, lane] + key
                    found[i, lane] = min(found[i, lane], there)
        for target in range(len(entries)):
            for lane in range(count):
                best = infinity
                for end in range(entries.shape[1]):
                    node = entries[target, end]
                    if node >= 0:
                        best = min(best, found[place[node], lane] + entry_keys[target, end])
                out[first + lane, target] = best


@njit
def climb(ptr, heads, keys, nodes, costs, infinity):
    """Search upward from the ends of a place: keys of all ancestors, and the arc by which each is reached best."""
    n = len(ptr) - 1
    reach, by = np.full(n, infinity), np.full(n, -1, np.int64)
    lowest = n
    for end in range(len(nodes)):
        if nodes[end] >= 0:
            reach[nodes[end]] = min(reach[nodes[end]], costs[end])
            lowest = min(lowest, nodes[end])
    v = lowest
    while v < n:
        for k in range(ptr[v], ptr[v + 1]):
            there = reach[v] + keys[k]
            if there < reach[heads[k]]:
                reach[heads[k]], by[heads[k]] = there, k
        v = heads[ptr[v]] if ptr[v] < ptr[v + 1] else n
    return reach, by


@njit
def find_route(ptr, heads, tails, up, down, exits, exit_keys, entries, entry_keys, infinity):
    """Find the best path between two places: its key, first node, and arcs with their directions (0 is up)."""
    ahead, ahead_by = climb(ptr, heads, up, exits, exit_keys, infinity)
    behind, behind_by = climb(ptr, heads, down, entries, entry_keys, infinity)
    best, top = infinity, -1
    for v in range(len(ptr) - 1):
        if ahead[v] < infinity and behind[v] < infinity and ahead[v] + behind[v] < best:
            best, top = ahead[v] + behind[v], v
    arcs, ways = [np.int64(0) for _ in range(0)], [0 for _ in range(0)]  # empty, and of a type
    if top < 0:
        return best, top, np.array(arcs), np.array(ways)
    v = top
    while ahead_by[v] >= 0:
        arcs.append(ahead_by[v])
        ways.append(0)
        v = tails[ahead_by[v]]
    arcs.reverse()
    first, v = v, top
    while behind_by[v] >= 0:
        arcs.append(behind_by[v])
        ways.append(1)
        v = tails[behind_by[v]]
    return best, first, np.array(arcs), np.array(ways)


@njit
def unpack(ptr, heads, tails, up_middle, down_middle, up_arc, down_arc, arcs, ways):
    """Replace shortcuts by the arcs of the graph that they stand for, in order."""
    found = [0 for _ in range(0)]
    stack, directions = list(arcs[::-1]), list(ways[::-1])
    while len(stack) > 0:
        k, way = stack.pop(), directions.pop()
        middle = up_middle[k] if way == 0 else down_middle[k]
        if middle < 0:
            found.append(up_arc[k] if way == 0 else down_arc[k])
            continue
        start, end = (tails[k], heads[k]) if way == 0 else (heads[k], tails[k])
        stack.append(find_arc(ptr, heads, middle, end))
        directions.append(0)
        stack.append(find_arc(ptr, heads, middle, start))
        directions.append(1)
    return np.array(found, np.int64)
