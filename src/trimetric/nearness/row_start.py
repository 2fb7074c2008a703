"""Where learned nearness begins: points that are rows of the matrix, and heads that read them as landmarks.

Every metric on n objects is max_l |x_l - y_l| for the points x_l = d(x, l) (Frechet and Kuratowski).  A norm with at
least as many components as coordinates contains this maximum, so training can begin there, from a good answer.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from trimetric.norms import DeepNorm, WideNorm
from trimetric.norms.activations import MaxMean
from trimetric.norms.constraints import raw_of_unit_interval

REST = 0.1
"""factor of the random weights beside the landmarks: small, but none at 0, where |w| has no gradient"""
NOISE = 0.02
"""deviation of what is added to the points, so that coordinates which no landmark uses can learn"""
ALPHA = 0.98
"""of a maxmean: nearly the maximum"""


def landmark_rows(distances: np.ndarray, *, symmetric: bool, start: float) -> Tensor:
    """Points (n, n), or (n, 2n) where directed: the distances to all objects, then those from them.

    They lie between the mean distance (`start=0`) and the given ones (1), in units of the mean: fewer triangles are
    violated there.
    """
    others = ~np.eye(len(distances), dtype=bool)
    mean = distances.sum() / max(others.sum(), 1) or 1.0
    drawn = np.where(others, start * distances / mean + 1 - start, 0.0)
    return torch.from_numpy(drawn if symmetric else np.concatenate([drawn, drawn.T], axis=1)).float()


@torch.no_grad()
def start_as_rows(points: nn.Embedding, head: nn.Module, rows: Tensor) -> None:
    """Give the points the coordinates of `landmark_rows`, and the norms of a head their differences as components.

    Where there are fewer coordinates or components than rows have, some of them, evenly spread.
    """
    n, dim = points.weight.shape
    if rows.shape[1] > n:  # what is left to go to a landmark falls on the way
        rows = torch.cat([-rows[:, :n], rows[:, n:]], dim=1)
    rows = rows[:, _spread(min(dim, rows.shape[1]), rows.shape[1])]
    points.weight.normal_(std=NOISE)
    points.weight[:, : rows.shape[1]] += rows
    for part in head.modules():
        if isinstance(part, DeepNorm):
            part.skip.mul_(REST)
            for linear in part.hidden:
                linear.raw_weight.mul_(REST)
            _add_landmarks(part.skip[-part.widths[-1] :], rows.shape[1])
        elif isinstance(part, WideNorm):
            for weight in part.pieces.parameters():
                weight.mul_(REST)
                _add_landmarks(weight[:, 0], rows.shape[1])
        elif isinstance(part, MaxMean):
            part.raw_alpha.fill_(raw_of_unit_interval(ALPHA))


def _add_landmarks(weight: Tensor, coordinates: int) -> None:
    """Add to each of the rows of a matrix one of the first coordinates."""
    count = min(len(weight), coordinates)
    weight[torch.arange(count), _spread(count, coordinates)] += 1


def _spread(count: int, among: int) -> Tensor:
    return torch.tensor([math.floor(i * among / count) for i in range(count)])
