"""A network from a few choices: an encoder of features, or one point per object, followed by a named head."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import nn

from trimetric._support import checks
from trimetric._support.memory import as_gib, available_memory
from trimetric._support.weightless import weightless
from trimetric.distances import Calibrated, Siamese
from trimetric.models.encoders import MLP
from trimetric.models.heads import HeadName, make_head

BYTES_PER_WEIGHT = 16  # the weight, its gradient and two moments of Adam, in float32
UNCOUNTABLE = 1 << 60


def make_network(
    head: HeadName,
    *,
    objects: int | None = None,
    features: int | None = None,
    dim: int = 64,
    widths: Sequence[int] = (128, 128),
    waves: int = 0,
    symmetric: bool = False,
    concave_units: int = 0,
) -> Siamese:
    """Build an untrained network: an encoder followed by a calibrated head.

    Its size is checked before anything is allocated.

    Args:
        head: the name of the distance between points, see `trimetric.models.HEADS`.
        objects: how many objects there are; each gets its own learned point, unless `features` are given.
        features: how many features an object has; an `MLP` maps them to the point.
        dim: dimensions of the points.
        widths: hidden layers of the encoder of features.
        waves: frequencies per feature that this encoder reads as well, see `MLP`.
        symmetric: whether d(x, y) = d(y, x).
        concave_units: learned concave units per component of the head; 0 for none.

    Returns:
        The network, with random weights from torch's global generator.

    Raises:
        ValueError: if an argument is unusable, or training would need more memory than is available.

    Examples:
        >>> make_network("wide", objects=10, dim=8).axioms.triangle
        True
    """
    checks.positive_int("dim", dim)
    if features is None:
        make_encoder = partial(make_points, checks.positive_int("objects", objects), dim)
    else:
        # A model file names the arguments that were given: without waves it stays readable for earlier versions.
        extra = {"waves": waves} if waves else {}
        make_encoder = partial(MLP, features, dim, widths=tuple(widths), **extra)

    def build() -> Siamese:
        encoder = make_encoder()
        return Siamese(encoder, Calibrated(make_head(head, dim, symmetric=symmetric, concave_units=concave_units)))

    _check_memory(build)
    return build()


def _check_memory(build: Callable[[], nn.Module]) -> None:
    """Raise an error if training what `build` makes needs more memory than is available.

    It is called on torch's device `meta`, where tensors have shapes and no numbers.
    """
    try:
        with torch.random.fork_rng(devices=[]), weightless():
            weights = sum(parameter.numel() for parameter in build().parameters())
    except RuntimeError as error:
        if "overflow" not in str(error):
            raise
        weights = UNCOUNTABLE
    needed, available = weights * BYTES_PER_WEIGHT, available_memory()
    if needed > available:
        count = "more weights than can be counted" if weights == UNCOUNTABLE else f"{weights:,} weights"
        raise ValueError(
            f"dim, widths, waves, concave_units: expected a network that can be trained in the {as_gib(available)} of "
            f"available memory, got {count}, which need {as_gib(needed)}"
        )


def make_points(objects: int, dim: int) -> nn.Embedding:
    """Make a table of points about 1 apart: there the concave units start out bent, and learn.

    Args:
        objects: how many.
        dim: of each.
    """
    points = nn.Embedding(objects, dim)
    nn.init.normal_(points.weight, std=1 / math.sqrt(2 * dim))
    return points
