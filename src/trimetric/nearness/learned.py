"""The learned way: a point for each object, and a metric that is trained together with the points.

It gives an upper bound only, but needs no list of inequalities: it takes mini-batches of the known pairs, and a model
that encodes features of the objects is defined for new objects too.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor, nn

from trimetric import checks
from trimetric.all_pairs import all_pairs
from trimetric.distances import Calibrated, Distance, SymmetrizedMetric
from trimetric.heads import HEADS, HeadName, make_head
from trimetric.nearness.budget import Best
from trimetric.nearness.min_plus import closure
from trimetric.nearness.problem import Problem
from trimetric.siamese import Siamese
from trimetric.training import fit
from trimetric.training_config import Epoch, TrainingConfig

MEASUREMENTS = 50
"""how often the error on all pairs is measured"""


@dataclass(frozen=True, kw_only=True)
class LearnedSettings:
    """Of `nearest_metric(..., method="learned")`."""

    head: HeadName | Distance = "wide"
    """the distance between points, by name or itself; a symmetric problem gets a symmetric one"""
    dim: int = 128
    """coordinates of a point, where the head is named"""
    concave_units: int = 5
    """of a named head; 0 leaves the distance of its norm"""
    encoder: nn.Module | None = None
    """from the features of an object to its point; by default each object has a free point of its own"""
    objects: Tensor | None = None
    """features of the objects, one row each, for an encoder"""
    training: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(epochs=200, batch_size=1000, learning_rate=3e-3)
    )
    seed: int = 0
    """of the first weights"""

    def __post_init__(self) -> None:
        if not isinstance(self.head, Distance):
            checks.one_of("head", self.head, HEADS)
        checks.positive_int("dim", self.dim)
        if (self.encoder is None) != (self.objects is None):
            raise ValueError("objects: expected features exactly where there is an encoder for them")


class _InterruptedError(Exception):
    """Leaves the training loop, with the model as it is."""


def solve_learned(problem: Problem, best: Best, settings: LearnedSettings) -> Siamese:
    weights = problem.weights[problem.weights > 0]
    if weights.size == 0 or weights.min() != weights.max():
        raise ValueError("weights: expected equal ones with method='learned'; method='active-set' takes any")
    if settings.objects is not None and len(settings.objects) != problem.n:
        raise ValueError(f"objects: expected {problem.n} rows, one an object, got {len(settings.objects)}")
    model = make_model(problem.n, settings, symmetric=problem.symmetric)
    known = torch.from_numpy(problem.weights[:-1].reshape(problem.n, problem.n) > 0)
    pairs = known.nonzero()
    distances = torch.from_numpy(problem.distances[:-1].reshape(problem.n, problem.n))
    targets = distances[pairs[:, 0], pairs[:, 1]].float()

    def finished(epoch: Epoch) -> None:
        if epoch.validation_mse is not None:
            best.objective = min(best.objective, epoch.validation_mse * float(weights.sum()))
            best.record(float("nan"), 0)
        if best.hurried():
            raise _InterruptedError

    try:
        fit(
            model,
            pairs,
            targets,
            objects=settings.objects,
            validation=(pairs, targets),
            config=_with_measurements(settings.training),
            callbacks=[finished],
            progress="silent",
        )
        best.stopped = "rounds"
    except _InterruptedError:
        best.stopped = "interrupted" if best.signals else "time"
    x = predicted(model, problem.n, settings.objects)
    x = (x + x.T) / 2 if problem.symmetric else x
    best.accept(closure(x, symmetric=problem.symmetric), problem.vector(x))
    return model


def make_model(n: int, settings: LearnedSettings, *, symmetric: bool) -> Siamese:
    """The untrained model: an embedding or an encoder, and a calibrated head."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        head = settings.head
        if not isinstance(head, Distance):
            head = make_head(head, settings.dim, symmetric=symmetric, concave_units=settings.concave_units)
        if symmetric and not head.axioms.symmetric:
            head = SymmetrizedMetric(head)
        return Siamese(settings.encoder or nn.Embedding(n, head.dim), Calibrated(head))


@torch.no_grad()
def predicted(model: Siamese, n: int, objects: Tensor | None = None) -> np.ndarray:
    """The matrix of a model's distances in double precision, so that little is left to repair."""
    precise = copy.deepcopy(model).double().eval()
    rows = torch.arange(n) if objects is None else objects.double() if objects.is_floating_point() else objects
    return all_pairs(precise, rows).numpy()


def _with_measurements(config: TrainingConfig) -> TrainingConfig:
    return replace(config, validation_epochs=max(config.validation_epochs, config.epochs // MEASUREMENTS, 1))
