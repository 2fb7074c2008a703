"""A binary-heap's faster cousin in machine code: four children a node, parallel arrays of keys and nodes.

Needs numba; modules with kernels are imported by the functions that run them.
"""

from __future__ import annotations

from trimetric._support.optional import optional
from trimetric.kernels.machine_code import njit

optional("numba", needed_for="searching in machine code")


@njit
def pushed(keys, nodes, size, key, node):
    """Add a node; returns the new size.  There must be room for it."""
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
def dropped(keys, nodes, size):
    """Take away the first (`keys[0]`, `nodes[0]`, to be read before); returns the new size."""
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
