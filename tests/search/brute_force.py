"""The answers of a search by comparing with every point, by the definition alone."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor


@torch.no_grad()
def every_distance(distance: Any, queries: Tensor, points: Tensor, *, direction: str = "from") -> Tensor:
    """All distances in float64, rounded to the dtype of the points: `(queries, points)`."""
    wide = copy.deepcopy(distance).double() if isinstance(distance, torch.nn.Module) else distance
    x, y = queries.double().unsqueeze(1), points.double().unsqueeze(0)
    values = wide(x, y) if direction == "from" else wide(y, x)
    return values.to(points.dtype)


def nearest(distances: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The ids and distances of the k least of each row; of equal ones the smaller id first."""
    every = np.broadcast_to(np.arange(distances.shape[1]), distances.shape)
    order = torch.from_numpy(np.lexsort((every, distances.numpy()), axis=1)[:, :k])
    return order, distances.gather(1, order)


def differences(ids: Tensor, distances: Tensor, every: Tensor, k: int) -> int:
    """How many answered neighbors differ from brute force.

    In float32 all bits must agree.  In float64 distances agree to 1e-12, as products round by the place in a batch, and
    a point may stand for another whose distance is the same to 1e-12.
    """
    right, least = nearest(every, k)
    if distances.shape != least.shape:
        return least.numel()
    if distances.dtype == torch.float32:
        return int(((ids != right) | (distances != least)).sum())
    unit = 1e-12 * max(1e-300, float(every.abs().max()))
    wrong = (distances - least).abs() > unit
    wrong |= (ids != right) & ((every.gather(1, ids) - least).abs() > unit)
    repeated = ids.sort(dim=1).values.diff(dim=1) == 0
    return int(wrong.sum()) + int(repeated.sum())
