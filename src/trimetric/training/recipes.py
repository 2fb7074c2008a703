"""The steps that all recipes share, from pairs, graphs and transitions alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from trimetric._audit import Audit, audit
from trimetric.distances import Distance, Siamese

AUDITED_OBJECTS = 300

Log = Callable[[str], object]
"""is called with a line of text for people"""


def say_nothing(_: str) -> None:
    """Ignore the line: the default `log`."""


def announce(say: Log, network: Siamese, head: str, checkpoint: Path | str | None) -> None:
    """Say what is about to be trained, and whether a checkpoint is there to resume from."""
    weights = sum(parameter.numel() for parameter in network.parameters())
    say(f"{head} head in {network.distance.dim} dimensions, {weights:,} weights")
    if checkpoint is not None and Path(checkpoint).exists():
        say(f"resuming from {checkpoint}")


def audit_some(distance: Distance, points: Tensor, *, seed: int) -> Audit:
    """Audit a distance on up to 300 of the points, chosen by `seed`; its worst triple are rows of `points`."""
    chosen = torch.randperm(len(points), generator=torch.Generator().manual_seed(seed))[:AUDITED_OBJECTS]
    return audit(distance, points[chosen.to(points.device)], seed=seed).of_rows(chosen.tolist())
