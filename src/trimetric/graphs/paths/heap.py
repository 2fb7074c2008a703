"""A heap with four children per node, as parallel arrays of keys and nodes: faster than a binary one.

Needs numba; modules with kernels are imported by the functions that run them.
"""

from __future__ import annotations

from trimetric._support.optional import optional
from trimetric.kernels.machine_code import njit

optional("numba", needed_for="searching in machine code")


@njit
def heap_push(keys, nodes, size, key, node):
    """Add a node and return the new size.  The arrays must have room for it."""
    i = size
    while i > 0:
        parent = (i - 1) >> 2
        if keys[parent] <= key:
            break
        keys[i] = keys[parent]
        nodes[i] = nodes[parent]
        i = parent
    keys[i] = key
    nodes[i] = node
    return size + 1


@njit
def heap_pop(keys, nodes, size):
    """Remove the first entry and return the new size.  Read `keys[0]` and `nodes[0]` before."""
    size -= 1
    if size == 0:
        return size
    key = keys[size]
    node = nodes[size]
    i = 0
    while True:
        child = 4 * i + 1
        if child >= size:
            break
        least = child
        for j in range(child + 1, min(child + 4, size)):
            if keys[j] < keys[least]:
                least = j
        if keys[least] >= key:
            break
        keys[i] = keys[least]
        nodes[i] = nodes[least]
        i = least
    keys[i] = key
    nodes[i] = node
    return size
