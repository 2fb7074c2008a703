"""The networks that `trimetric fit` can train."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import nn

from trimetric._support import checks
from trimetric._support.memory import as_gib, available_memory
from trimetric.distances import Calibrated, MLPDistance
from trimetric.distances.siamese import Siamese
from trimetric.files.errors import InputError
from trimetric.models.encoders import MLP
from trimetric.models.heads import HeadName, make_head
from trimetric.models.recommended import recommended

BYTES_PER_WEIGHT = 16  # itself, its gradient and two moments of Adam, in float32


def make_network(
    head: HeadName | Literal["recommended", "mlp"],
    *,
    objects: int,
    features: int | None,
    dim: int,
    widths: Sequence[int],
    symmetric: bool,
    concave: int,
) -> Siamese:
    """An encoder of features, or a table of one point for each object, below a calibrated head.

    Refused where it would not fit in memory, before anything is allocated.
    """
    checks.positive_int("dim", dim)

    def build() -> Siamese:
        return _network(
            head, objects=objects, features=features, dim=dim, widths=widths, symmetric=symmetric, concave=concave
        )

    check_memory(build)
    return build()


def check_memory(build: Callable[[], nn.Module], options: str = "--dim, --widths, --concave-units") -> None:
    """An error where training what `build` makes needs more memory than there is.

    Args:
        build: makes the network; called on torch's device `meta`, where tensors have shapes and no numbers.
        options: what its size depends on.
    """
    try:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            weights = sum(parameter.numel() for parameter in build().parameters())
    except RuntimeError as error:
        if "overflow" not in str(error):
            raise
        weights = 1 << 60
    needed, there = weights * BYTES_PER_WEIGHT, available_memory()
    if needed > there:
        count = "more weights than can be counted" if weights == 1 << 60 else f"{weights:,} weights"
        raise InputError(
            f"{options}: expected a network that can be trained in the {as_gib(there)} of memory "
            f"that are free, got {count}, which need {as_gib(needed)}"
        )


def _network(
    head: HeadName | Literal["recommended", "mlp"],
    *,
    objects: int,
    features: int | None,
    dim: int,
    widths: Sequence[int],
    symmetric: bool,
    concave: int,
) -> Siamese:
    encoder = _points(objects, dim) if features is None else MLP(features, dim, widths=tuple(widths))
    if head == "mlp":
        if symmetric:
            raise InputError(f"--symmetric: expected a head that can promise it, got --head {head}")
        return Siamese(encoder, Calibrated(MLPDistance(dim)))
    if head == "recommended":
        return Siamese(encoder, recommended(dim, symmetric=symmetric))
    return Siamese(encoder, Calibrated(make_head(head, dim, symmetric=symmetric, concave_units=concave)))


def _points(objects: int, dim: int) -> nn.Embedding:
    """Points about 1 apart: there the concave units begin bent, and learn."""
    points = nn.Embedding(objects, dim)
    nn.init.normal_(points.weight, std=1 / math.sqrt(2 * dim))
    return points
