"""The loops of `rectified_pairs` in machine code.

Torch needs two passes over a block for each coordinate; here a row of pairs stays in the fastest cache over all of
them.  Imported on first use, because it imports numba.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torch import Tensor

from trimetric.kernels.machine_code import njit, run_on_rows

# Sums may be reordered, so that they vectorize; NaN and infinity keep their meaning.
_REORDER = {"reassoc", "contract"}


def run_on_components(loop: Callable[..., None], *tensors: Tensor) -> None:
    """Run a loop on parts of the first axis of all tensors, in threads.

    Args:
        loop: one of the loops below.
        tensors: its arguments, with one entry per component on the first axis; the loop writes to some of them.
    """
    arrays = [tensor.detach().numpy() for tensor in tensors]
    run_on_rows(lambda first, last: loop(*(array[first:last] for array in arrays)), len(arrays[0]), at_least=1)


@njit(fastmath=_REORDER)
def write_distances(a: Any, b: Any, out: Any) -> None:
    """Set `out[c, i, j] = ||relu(b[c, :, j] - a[c, :, i])||_2` for a (k, w, n), b (k, w, m), out (k, n, m)."""
    k, w, n = a.shape
    m = b.shape[2]
    zero = out.dtype.type(0)
    whole = w - w % 4
    for c in range(k):
        for i in range(n):
            row = out[c, i]
            row[:] = zero
            for q in range(0, whole, 4):
                a0, a1, a2, a3 = a[c, q, i], a[c, q + 1, i], a[c, q + 2, i], a[c, q + 3, i]
                b0, b1, b2, b3 = b[c, q], b[c, q + 1], b[c, q + 2], b[c, q + 3]
                for j in range(m):
                    d0, d1, d2, d3 = b0[j] - a0, b1[j] - a1, b2[j] - a2, b3[j] - a3
                    d0 = zero if d0 < zero else d0  # so that a NaN stays one
                    d1 = zero if d1 < zero else d1
                    d2 = zero if d2 < zero else d2
                    d3 = zero if d3 < zero else d3
                    row[j] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
            for q in range(whole, w):
                a0, b0 = a[c, q, i], b[c, q]
                for j in range(m):
                    d0 = b0[j] - a0
                    d0 = zero if d0 < zero else d0
                    row[j] += d0 * d0
            for j in range(m):
                row[j] = math.sqrt(row[j])


@njit(fastmath=_REORDER)
def add_gradients(a: Any, b: Any, pull: Any, grad_a: Any, grad_b: Any) -> None:
    """Add the sums of `pull[c, i, j] relu(b[c, q, j] - a[c, q, i])`: over i to grad_b, minus those over j to grad_a."""
    k, w, n = a.shape
    m = b.shape[2]
    zero = grad_a.dtype.type(0)
    for c in range(k):
        for i in range(n):
            weights = pull[c, i]
            for q in range(w):
                own, other, to_b = a[c, q, i], b[c, q], grad_b[c, q]
                total = zero
                for j in range(m):
                    excess = other[j] - own
                    excess = (zero if excess < zero else excess) * weights[j]
                    to_b[j] += excess
                    total += excess
                grad_a[c, q, i] -= total
