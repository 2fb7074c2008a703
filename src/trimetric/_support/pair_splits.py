"""Which pairs are trained on and which are held out, so that nothing of a held-out pair is seen in training.

The two directions of a pair are told apart by asymmetric distances only, and seldom by much: a model that saw d(y, x)
has seen most of d(x, y), and all of it where the data are symmetric.  So the unit of a split is the unordered pair of
objects, and objects that the model cannot tell apart count as one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]

ROUNDING = 1e-5
"""relative difference up to which two directions count as equal: what float32 leaves of a symmetric matrix"""
SMALL = 1e-6
"""the same for short distances, as a part of the longest one"""


@dataclass(frozen=True, eq=False)
class PairSplit:
    """Rows of a list of pairs, in ascending order.

    Attributes:
        train: the rows to train on.
        held_out: the rows to judge by.
        unordered: how many unordered pairs of objects the held-out rows are.
    """

    train: Rows
    held_out: Rows
    unordered: int


def hold_out(
    ends: NDArray[np.int64], fraction: float, *, seed: int, same_as: NDArray[np.int64] | None = None, cover: bool = True
) -> PairSplit:
    """Hold out a fraction of the unordered pairs of objects: a pair, its reverse and its repetitions go together.

    Args:
        ends: `(n, 2)`, the numbers of the two objects of each pair.
        fraction: of the unordered pairs to hold out, from 0 to below 1; above 0 it is at least one pair where possible.
            At least one pair is always left to train on.
        seed: of the choice.
        same_as: for each object the number of the first object that is equal to it (`equal_rows.first_equal_row`);
            without it all objects are different.
        cover: keep a pair of each object to train on.  Where each object has a point of its own, the point of an
            object without a training pair would say nothing.

    Returns:
        the rows of both parts.

    Examples:
        >>> split = hold_out(np.array([[0, 1], [1, 0], [1, 2], [2, 0]]), 0.3, seed=0)
        >>> split.held_out.tolist(), split.unordered
        ([3], 1)
    """
    if not 0 <= fraction < 1:
        raise ValueError(f"fraction: expected a part from 0 to below 1, got {fraction!r}")
    if not len(ends) or not fraction:
        return PairSplit(np.arange(len(ends)), np.empty(0, np.int64), 0)
    ends = np.asarray(ends) if same_as is None else np.asarray(same_as)[ends]
    _, first, pair = np.unique(unordered_keys(ends), return_index=True, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(first))
    free = np.ones(len(order), dtype=bool)
    if cover:
        # The first pair of each object in this order is trained on.
        _, positions = np.unique(ends[first[order]].ravel(), return_index=True)
        free[positions // 2] = False
    wanted = min(max(1, round(fraction * len(order))), len(order) - 1)
    held = np.zeros(len(order), dtype=bool)
    held[order[free][:wanted]] = True
    return PairSplit(np.flatnonzero(~held[pair]), np.flatnonzero(held[pair]), int(held.sum()))


def unordered_keys(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each pair, the same for both directions and for no other pair.

    Args:
        ends: `(n, 2)`, numbers >= 0.

    Examples:
        >>> unordered_keys(np.array([[0, 3], [3, 0], [1, 2]])).tolist()
        [3, 3, 6]
    """
    low, high = ends.min(axis=1), ends.max(axis=1)
    return low * (high.max(initial=0) + 1) + high


def contradiction(ends: NDArray[np.int64], distances: NDArray[np.float64]) -> tuple[int, int] | None:
    """The first pair whose reverse, earlier in the list, has another distance; None if all agree up to rounding.

    Args:
        ends: `(n, 2)`, the numbers of the two objects of each pair.
        distances: their distances; both directions may be infinite.

    Returns:
        the row of the pair and the row of its reverse, or None.

    Examples:
        >>> contradiction(np.array([[0, 1], [1, 2], [1, 0]]), np.array([2.5, 1.0, 3.0]))
        (2, 0)
    """
    keys = unordered_keys(ends)
    onward, back = np.flatnonzero(ends[:, 0] < ends[:, 1]), np.flatnonzero(ends[:, 0] > ends[:, 1])
    _, i, j = np.intersect1d(keys[onward], keys[back], return_indices=True)
    both = np.sort(np.stack([onward[i], back[j]], axis=1), axis=1)
    earlier, later = distances[both[:, 0]], distances[both[:, 1]]
    longest = distances.max(initial=0, where=np.isfinite(distances))
    bad = both[~np.isclose(earlier, later, rtol=ROUNDING, atol=SMALL * longest)]
    if not len(bad):
        return None
    before, after = bad[bad[:, 1].argmin()].tolist()
    return after, before
