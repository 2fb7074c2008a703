"""The loops of `rectified_pairs`, compiled by numba where it is installed.

Torch needs two passes over a block for each coordinate; here a row of pairs stays in the fastest cache over all of
them.  The kernels hold no lock and start no threads: `over_components` uses as many threads as torch does.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import torch
from torch import Tensor


class Kernels(NamedTuple):
    distances: Callable[..., None]
    gradients: Callable[..., None]


def compiled_kernels(like: Tensor) -> Kernels | None:
    """The loops for tensors like this one; None where numba is absent or has no such numbers."""
    fits = like.device.type == "cpu" and like.dtype in (torch.float32, torch.float64)
    return _compile() if fits else None


@functools.cache
def _compile() -> Kernels | None:
    try:
        import numba
    except ImportError:
        return None
    # Sums may be reordered, so that they vectorise; NaN and infinity keep their meaning.
    compiled = numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
    return Kernels(compiled(_distances), compiled(_gradients))


def over_components(kernel: Callable[..., None], *tensors: Tensor) -> None:
    """Run a kernel on parts of the first axis of all tensors, one part a thread."""
    arrays = [tensor.detach().numpy() for tensor in tensors]
    components = len(arrays[0])
    threads = min(torch.get_num_threads(), components)
    if threads <= 1:
        kernel(*arrays)
        return
    size = -(-components // threads)
    cuts = [slice(start, start + size) for start in range(0, components, size)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda cut: kernel(*(array[cut] for array in arrays)), cuts))


def _distances(a: Any, b: Any, out: Any) -> None:
    """`out[c, i, j] = ||relu(b[c, :, j] - a[c, :, i])||_2` for a (k, w, n), b (k, w, m), out (k, n, m)."""
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


def _gradients(a: Any, b: Any, pull: Any, grad_a: Any, grad_b: Any) -> None:
    """Sums of `pull[c, i, j] relu(b[c, q, j] - a[c, q, i])`: minus over j, and over i; both start at 0."""
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
