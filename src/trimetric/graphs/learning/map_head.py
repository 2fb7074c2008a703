"""The distance of a map model, and what it reads for each node."""

from __future__ import annotations

import numpy as np
import torch

from trimetric.distances import LandmarkBound, ObjectDistance, Siamese
from trimetric.graphs.learning.rounding import Precision, Rounded
from trimetric.models.units import WholeUnits


def make_head(rounded: Rounded, precision: Precision, *, directed: bool) -> tuple[ObjectDistance, torch.Tensor]:
    """Make the distance of potentials, and the points that it reads.

    Args:
        rounded: the potentials.
        precision: how they are stored.
        directed: whether differences count in one direction only; then their number must be even.

    Returns:
        The network and what it reads for each node.

    Examples:
        >>> network, points = make_head(Rounded(np.array([[0.0], [3.0]], np.float32), 1.0), "float32", directed=False)
        >>> network(points[0], points[1])
        tensor(3.)
    """
    numbers = rounded.numbers
    count = numbers.shape[1]
    if directed:
        # `LandmarkBound` reads distances to landmarks, whose potentials have the other sign, in its first half.
        numbers = np.concatenate([-numbers[:, : count // 2], numbers[:, count // 2 :]], axis=1)
    bound = LandmarkBound(count, directed=directed)
    if precision == "float32":
        return bound, torch.from_numpy(numbers * np.float32(rounded.unit))
    return Siamese(WholeUnits(count, unit=rounded.unit), bound), torch.from_numpy(np.ascontiguousarray(numbers))
