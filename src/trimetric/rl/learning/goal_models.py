"""The usual network for distances between observations: an encoder followed by a calibrated quasimetric head."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from trimetric._support import checks
from trimetric.distances import Calibrated, Distance, ResidualMetric, Siamese, as_distance
from trimetric.models.encoders import MLP
from trimetric.models.heads import HeadName, make_head
from trimetric.models.networks import make_points
from trimetric.norms import Norm
from trimetric.rl.trajectories.trajectories import Trajectories

GROUPS = 8
MEASURED_ROWS = 100_000


def goal_model(
    trajectories: Trajectories,
    *,
    head: HeadName | Norm | Distance | None = None,
    dim: int = 64,
    widths: Sequence[int] = (128, 128),
    waves: int = 3,
    seed: int = 0,
) -> Siamese:
    """Build an untrained network that reads the observations of a log.

    Its encoder is an `MLP` with normalized layers on standardized features; for logs whose observations are state
    numbers, an `nn.Embedding`.  For images, use your own encoder: `tm.Siamese(encoder, tm.Calibrated(head))`.

    Args:
        trajectories: the log; its observations must be vectors or numbers of states.
        head: a name of `trimetric.models.HEADS`, or a custom distance or norm on points of size `dim`; by default
            `ResidualMetric(dim, components=8)`, for which the settings of the objectives were tuned.
        dim: dimensions of the points.
        widths: hidden layers of the encoder.
        waves: frequencies per feature that the encoder reads as well; more of them distinguish closer places.
        seed: of its weights.

    Returns:
        The network.

    Examples:
        >>> log = Trajectories(observations=np.random.default_rng(0).normal(size=(5, 2)), ends=np.array([4]))
        >>> goal_model(log, dim=16).axioms.triangle
        True
    """
    checks.instance("trajectories", trajectories, Trajectories)
    observations = trajectories.observations
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(checks.seed("seed", seed))
        if head is None:
            distance: Distance = ResidualMetric(dim, components=min(GROUPS, dim))
        elif isinstance(head, str):
            distance = make_head(head, dim)
        else:
            distance = as_distance("head", head)
        if distance.dim != dim:
            raise ValueError(f"head: expected a distance of points of size dim={dim}, got one of size {distance.dim}")
        if observations.ndim == 1:
            encoder: torch.nn.Module = make_points(int(observations.max()) + 1, dim)
        elif observations.ndim == 2:
            mlp = MLP(observations.shape[1], dim, widths=tuple(widths), activation="gelu", waves=waves, layer_norm=True)
            rows = np.unique(np.linspace(0, len(observations) - 1, num=MEASURED_ROWS).astype(np.int64))
            mlp.standardize.measure(torch.from_numpy(observations[rows].astype(np.float32)))
            encoder = mlp
        else:
            raise ValueError(
                f"trajectories: expected observations that are vectors (N, features) or numbers of states (N,), got "
                f"shape {observations.shape}; build tm.Siamese(encoder, tm.Calibrated(head)) with an encoder of images"
            )
        return Siamese(encoder, Calibrated(distance))
