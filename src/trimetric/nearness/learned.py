"""The learned method: a point for each object, and a metric that is trained together with the points.

It gives an upper bound only, but needs no list of inequalities: it trains on mini-batches of the known pairs, and a
model that encodes features of the objects is defined for new objects too.

By default a point starts as the known distances of its object to (and from) all other objects, and the distance
of points is the landmark bound max_l |x_l - y_l|.  Every metric has this form (Frechet and Kuratowski).  The distance
of a pair is too long by exactly the violation of its most violated triangle, and training moves the entries of that
triangle.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from trimetric._support import checks
from trimetric.distances import Calibrated, Distance, LandmarkBound, SymmetrizedMetric
from trimetric.distances.all_pairs import all_pairs
from trimetric.distances.siamese import Siamese
from trimetric.kernels.min_plus import closure
from trimetric.models.heads import HEADS, HeadName, make_head
from trimetric.nearness.budget import Best
from trimetric.nearness.problem import Problem
from trimetric.nearness.row_start import landmark_rows, start_as_rows
from trimetric.nearness.separation import repaired
from trimetric.training.config import Epoch, TrainingConfig
from trimetric.training.fitting import fit

LANDMARKS = "landmarks"
START, HEAD_START = 0.7, 0.5
"""where landmarks and other heads begin, between the mean distance (0) and the given ones (1)"""
STARTED: tuple[HeadName, ...] = ("wide", "deep")
"""heads that contain the landmark bound, and begin there"""
BATCH_FLOATS = 2**24
"""coordinates of a batch of landmarks, to bound its memory"""
MEASUREMENTS = 50
"""how often the error on all pairs is measured"""


@dataclass(frozen=True, kw_only=True)
class LearnedSettings:
    """The settings of `nearest_metric(..., method="learned")`.

    Examples:
        >>> LearnedSettings(head="wide", dim=16).training_on(1000).epochs
        200
    """

    head: HeadName | Literal["landmarks"] | Distance | None = None
    """the distance between points, by name or as an object; a symmetric problem gets a symmetric one.  With
    `"landmarks"`, each point starts as the distances of its object to all others; so do the points of `"wide"` and
    `"deep"`, as far as they have coordinates.  None: `"landmarks"`, or `"wide"` if there is an encoder"""
    dim: int = 128
    """coordinates of a point, for a named head other than `"landmarks"`"""
    concave_units: int = 5
    """concave units of such a head; 0 for none"""
    encoder: nn.Module | None = None
    """from the features of an object to its point; by default each object has a free point"""
    objects: Tensor | None = None
    """features of the objects, one row each, for the encoder"""
    training: TrainingConfig | None = None
    """None: 200 epochs, or about 3000 steps for `"landmarks"`.  Distances are scaled to mean 1 for the training"""
    seed: int = 0
    """seed of the initial weights"""

    def __post_init__(self) -> None:
        if self.head is not None and not isinstance(self.head, Distance):
            checks.one_of("head", self.head, [LANDMARKS, *(name for name, head in HEADS.items() if head.metric)])
        if self.head == LANDMARKS and self.encoder is not None:
            raise ValueError("encoder: expected None with head='landmarks', whose points are free")
        checks.positive_int("dim", self.dim)
        if (self.encoder is None) != (self.objects is None):
            raise ValueError("objects: expected features exactly where there is an encoder for them")

    @property
    def by_landmarks(self) -> bool:
        """Whether the distance between points is the landmark bound."""
        return self.head == LANDMARKS or (self.head is None and self.encoder is None)

    @property
    def starts_as_rows(self) -> bool:
        """Whether points start as rows of the matrix, below a head that contains the landmark bound."""
        return self.head in STARTED and self.encoder is None

    def training_on(self, pairs: int) -> TrainingConfig:
        """The settings of the training: `training`, or a default for the number of pairs.

        Args:
            pairs: how many pairs of objects are known.
        """
        if self.training is not None:
            return self.training
        if not self.by_landmarks:
            rate = 1.5e-3 if self.starts_as_rows else 3e-3
            return TrainingConfig(epochs=200, batch_size=1000, learning_rate=rate)
        side, steps = math.sqrt(pairs), 3000
        batch = min(pairs, round(5 * side), round(BATCH_FLOATS / side))
        epochs = max(3, steps * batch // pairs)
        return TrainingConfig(epochs=epochs, batch_size=batch, learning_rate=5e-3, calibrate=False)


class _InterruptedError(Exception):
    """Leaves the training loop, with the model as it is."""


def solve_learned(problem: Problem, best: Best, settings: LearnedSettings) -> Siamese:
    weights = problem.weights[problem.weights > 0]
    if weights.size and weights.min() != weights.max():
        raise ValueError("weights: expected equal ones with method='learned'; method='active-set' takes any")
    if settings.objects is not None and len(settings.objects) != problem.n:
        raise ValueError(f"objects: expected {problem.n} rows, one per object, got {len(settings.objects)}")
    model = make_model(problem, settings)
    if not weights.size:
        best.stopped = "rounds"
        return model
    known = torch.from_numpy(problem.weights[:-1].reshape(problem.n, problem.n) > 0)
    pairs = known.nonzero()
    distances = torch.from_numpy(problem.distances[:-1].reshape(problem.n, problem.n))
    targets = distances[pairs[:, 0], pairs[:, 1]]
    unit = float(targets.mean()) or 1.0  # the optimizer is not indifferent to the scale of gradients
    targets = (targets / unit).float()

    def finished(epoch: Epoch) -> None:
        if epoch.validation_mse is not None:
            best.objective = min(best.objective, epoch.validation_mse * unit**2 * float(weights.sum()))
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
            config=_with_measurements(settings.training_on(len(pairs))),
            callbacks=[finished],
            progress="silent",
        )
        best.stopped = "rounds"
    except _InterruptedError:
        best.stopped = "interrupted" if best.signals else "time"
    model.distance.raw_scale.mul_(unit)  # type: ignore[operator]
    x = predicted(model, problem.n, settings.objects)
    x = (x + x.T) / 2 if problem.symmetric else x
    best.accept(closure(x, symmetric=problem.symmetric), problem.vector(x))
    return model


def make_model(problem: Problem, settings: LearnedSettings) -> Siamese:
    """The untrained model: an embedding or an encoder, and a calibrated head."""
    if settings.by_landmarks:
        return _landmark_model(problem)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        name = settings.head or "wide"
        if isinstance(name, Distance):
            head = name
        else:
            head = make_head(name, settings.dim, symmetric=problem.symmetric, concave_units=settings.concave_units)  # type: ignore[arg-type]
        if problem.symmetric and not head.axioms.symmetric:
            head = SymmetrizedMetric(head)
        encoder = settings.encoder or nn.Embedding(problem.n, head.dim)
        if settings.starts_as_rows:
            start_as_rows(encoder, head, _rows(problem, HEAD_START))  # type: ignore[arg-type]
        return Siamese(encoder, Calibrated(head))


def _landmark_model(problem: Problem) -> Siamese:
    rows = _rows(problem, START)
    head = LandmarkBound(rows.shape[1], directed=not problem.symmetric)
    return Siamese(nn.Embedding.from_pretrained(rows, freeze=False), Calibrated(head))


def _rows(problem: Problem, start: float) -> Tensor:
    """The given distances as points; what is not known, by the shortest path."""
    given = problem.matrix(problem.distances)
    if not problem.complete:
        given = np.where(problem.known, given, repaired(problem, problem.distances)[0])
    return landmark_rows(given, symmetric=problem.symmetric, start=start)


@torch.no_grad()
def predicted(model: Siamese, n: int, objects: Tensor | None = None) -> np.ndarray:
    """The matrix of a model's distances in double precision, so that little is left to repair."""
    precise = copy.deepcopy(model).double().eval()
    rows = torch.arange(n) if objects is None else objects.double() if objects.is_floating_point() else objects
    return all_pairs(precise, rows).numpy()


def _with_measurements(config: TrainingConfig) -> TrainingConfig:
    return replace(config, validation_epochs=max(config.validation_epochs, config.epochs // MEASUREMENTS, 1))
