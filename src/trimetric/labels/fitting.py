"""`fit_labels` and `fit_tuples`: check the arguments, calibrate, then train by the loop of `trimetric.fit`."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.distances import Calibrated, ObjectDistance
from trimetric.distances.encoder_inputs import explain_unreadable
from trimetric.labels.data import LabelData, LabeledObjects, Tuples
from trimetric.labels.losses import LabelLoss, LabelLossName, make_label_loss
from trimetric.labels.trainee import LabelTrainee
from trimetric.training.arguments import check_model, check_settings, checkpoint_file
from trimetric.training.config import History, TrainingConfig
from trimetric.training.drawn_tasks import checked_settings
from trimetric.training.loop import train
from trimetric.training.processes import started_together
from trimetric.training.run import TrainingRun

CALIBRATION_EXAMPLES = 256
OF_PAIRS_ALONE = ("loss", "huber_delta", "gamma", "patience", "validation_epochs", "compile", "precision")
"""settings of `TrainingConfig` without effect here, as there are no target distances and nothing is held out"""


def fit_labels(
    model: ObjectDistance,
    objects: Tensor | np.ndarray,
    labels: Int[Tensor, " n"] | np.ndarray,
    *,
    loss: LabelLossName | LabelLoss = "triplet",
    config: TrainingConfig | None = None,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> History:
    """Train a model on objects and their classes, so that objects of the same class are near each other.

    A batch has up to four objects of each of its classes (fewer if it is small), and all its pairs are compared.
    Distances are measured from the anchor to the positive and the negative, so a head that is not symmetric is trained
    in that direction.

    A `Calibrated` head is scaled before the first step, so that the mean distance is 1.  Margins and temperatures of
    losses are in that unit.

    Args:
        model: a `Siamese`, or a distance between vectors.  It is trained in place, and left in evaluation mode.
        objects: what the model reads, one row each.
        labels: the class of each object: any integers.
        loss: a loss, or the name of one.
        config: the settings; the number of objects per step is `batch_size`.
        checkpoint: a file to keep the state of the run in, and to resume from.
        progress: "silent" prints nothing.

    Returns:
        The record of each epoch.

    Examples:
        >>> import trimetric as tm
        >>> from trimetric.labels import TripletLoss, fit_labels
        >>> _ = torch.manual_seed(0)
        >>> labels = torch.arange(100) % 2
        >>> objects = torch.randn(100, 3) + 4 * labels[:, None]
        >>> model = tm.Siamese(tm.MLP(3, 4, widths=(8,)), tm.Calibrated(tm.WideNorm(4)))
        >>> config = tm.TrainingConfig(epochs=20, learning_rate=0.01)
        >>> history = fit_labels(model, objects, labels, loss=TripletLoss(margin=0.5), config=config, progress="silent")
        >>> history.epochs[-1].loss < history.epochs[0].loss
        True
    """
    check_settings(config, progress)
    rows = _objects(model, objects)
    given = checks.as_tensor("labels", labels)
    whole = not (given.is_floating_point() or given.is_complex() or given.dtype == torch.bool)
    if not whole or given.shape != (len(rows),):
        raise ValueError(
            f"labels: expected {len(rows)} integers, one for each object, got shape {tuple(given.shape)} and dtype "
            f"{given.dtype}"
        )
    values, classes = torch.unique(given.to(rows.device), return_inverse=True)
    if len(values) < 2:
        raise ValueError(f"labels: expected at least 2 classes, got {len(values)}")
    data = LabeledObjects(rows, classes, make_label_loss(loss), (config or TrainingConfig()).batch_size)
    if not data.loss.uses_proxies and config is not None and config.batch_size < 3:
        raise ValueError(
            "config: expected batch_size >= 3, as an object is compared with one of its class and one of another, got "
            f"{config.batch_size}"
        )
    if not data.loss.uses_proxies and int(classes.bincount().max()) < 2:
        raise ValueError(
            f"labels: expected a class with at least 2 objects, got {len(values)} classes of one each; there are no "
            "pairs of one class to learn from"
        )
    return _train(model, data, config, checkpoint, progress)


def fit_tuples(
    model: ObjectDistance,
    tuples: Int[Tensor, "n t"] | np.ndarray,
    similar: Tensor | np.ndarray | None = None,
    *,
    objects: Tensor | np.ndarray,
    loss: LabelLossName | LabelLoss | None = None,
    config: TrainingConfig | None = None,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> History:
    """Train a model on similar and dissimilar pairs, or on comparisons of two distances.

    - Pairs (a, b), with `similar`: a and b are near each other, or not.
    - Triplets (a, b, c): d(a, b) is shorter than d(a, c).
    - Quadruplets (a, b, c, d): d(a, b) is shorter than d(c, d).

    A `Calibrated` head is scaled before the first step, so that the mean distance is 1.

    Args:
        model: a `Siamese`, or a distance between vectors.  It is trained in place, and left in evaluation mode.
        tuples: indices `(n, 2)`, `(n, 3)` or `(n, 4)` into `objects`.
        similar: only for pairs: which of them are similar, n booleans.
        objects: the objects that the indices refer to, one per row.
        loss: a loss, or the name of one; None for "contrastive" with pairs and "triplet" with comparisons.
        config: the settings; the number of tuples per step is `batch_size`.
        checkpoint: a file to keep the state of the run in, and to resume from.
        progress: "silent" prints nothing.

    Returns:
        The record of each epoch.

    Examples:
        >>> import trimetric as tm
        >>> from trimetric.labels import fit_tuples
        >>> _ = torch.manual_seed(0)
        >>> objects, tuples = torch.rand(50, 2), torch.randint(50, (500, 3))
        >>> nearer = (objects[tuples[:, :1]] - objects[tuples[:, 1:]]).norm(dim=2).argsort(dim=1)
        >>> triplets = torch.cat([tuples[:, :1], tuples[:, 1:].gather(1, nearer)], dim=1)
        >>> model = tm.Siamese(tm.MLP(2, 4, widths=(8,)), tm.Calibrated(tm.WideNorm(4)))
        >>> config = tm.TrainingConfig(epochs=5)
        >>> history = fit_tuples(model, triplets, objects=objects, config=config, progress="silent")
        >>> history.epochs[-1].loss < history.epochs[0].loss
        True
    """
    check_settings(config, progress)
    rows = _objects(model, objects)
    given = checks.as_tensor("tuples", tuples)
    whole = not (given.is_floating_point() or given.is_complex() or given.dtype == torch.bool)
    if not whole or given.ndim != 2 or given.shape[1] not in (2, 3, 4) or not len(given):
        raise ValueError(
            "tuples: expected indices of shape (n, 2) for pairs, (n, 3) for triplets or (n, 4) for quadruplets, got "
            f"shape {tuple(given.shape)} and dtype {given.dtype}"
        )
    if int(given.min()) < 0 or int(given.max()) >= len(rows):
        raise ValueError(
            f"tuples: expected rows of the {len(rows)} objects, got {int(given.min())} to {int(given.max())}"
        )
    truth = _similar(similar, given)
    if truth is not None and bool(truth.all() == truth.any()):
        raise ValueError(
            f"similar: expected similar and dissimilar pairs, got {len(truth)} that are all "
            f"{'similar' if truth.all() else 'dissimilar'}; distances would all shrink, or all grow"
        )
    usual = "triplet" if truth is None else "contrastive"
    chosen = make_label_loss(usual if loss is None else loss)
    data = Tuples(rows, given.long().to(rows.device), None if truth is None else truth.to(rows.device), chosen)
    return _train(model, data, config, checkpoint, progress)


def _similar(similar: Tensor | np.ndarray | None, tuples: Tensor) -> Tensor | None:
    if tuples.shape[1] > 2:
        if similar is not None:
            raise ValueError(
                f"similar: expected None with tuples of {tuples.shape[1]}, whose order says which distance is "
                "shorter, got an array"
            )
        return None
    if similar is None:
        raise ValueError("similar: expected which of the pairs are similar, got None")
    truth = checks.as_tensor("similar", similar)
    if truth.dtype != torch.bool or truth.shape != (len(tuples),):
        raise ValueError(
            f"similar: expected {len(tuples)} booleans, one for each pair, got shape {tuple(truth.shape)} and dtype "
            f"{truth.dtype}"
        )
    return truth


def _objects(model: ObjectDistance, objects: Tensor | np.ndarray) -> Tensor:
    check_model("model", model)
    if not model.factors_through_points:
        raise ValueError(
            f"model: expected a distance between points of objects, got {type(model).__name__} with its own forward"
        )
    rows = checks.as_tensor("objects", objects, model)
    if rows.ndim == 0 or not len(rows):
        raise ValueError(f"objects: expected one row for each object, got shape {tuple(rows.shape)}")
    if rows.is_floating_point():
        checks.finite("objects", rows)
    return rows


def _train(
    model: ObjectDistance,
    data: LabelData,
    config: TrainingConfig | None,
    checkpoint: Path | str | None,
    progress: Shown,
) -> History:
    file, config = checkpoint_file(checkpoint), config or TrainingConfig()
    usual = {each.name: each.default for each in fields(TrainingConfig)}
    for name in OF_PAIRS_ALONE:
        if getattr(config, name) != usual[name]:
            raise ValueError(
                f"config: expected {name}={usual[name]!r}, as it has no effect on learning from labels, got "
                f"{getattr(config, name)!r}"
            )
    text = checked_settings("loss", data.loss, file)
    processes = started_together()
    if processes.size > 1:
        raise ValueError(f"config: expected one process, got {processes.size}; labels are learned in one process")
    _try(model, data)
    if config.calibrate and not (file is not None and file.exists()):
        _calibrate(model, data)
    run = TrainingRun(LabelTrainee(model, data), [data], [], {}, [config.seed], config, processes, loss=text)
    return train(run, file, progress, lambda _: None)[0]


@torch.no_grad()
def _try(model: ObjectDistance, data: LabelData) -> None:
    """Measure one example, so that objects or a loss that do not fit are named before anything is changed."""
    training = model.training
    try:
        with torch.random.fork_rng(devices=[]):
            points = model.eval().embed(data.objects[:1])
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise explain_unreadable("objects", data.objects, model.reader) or error from error
    finally:
        model.train(training)
    checks.finite("points of objects", points)
    if isinstance(data, Tuples):
        data.loss_of(model, torch.arange(1), None)


@torch.no_grad()
def _calibrate(model: ObjectDistance, data: LabelData) -> None:
    """Scale a `Calibrated` head so that the mean distance is 1."""
    scaled = [module for module in model.modules() if isinstance(module, Calibrated)]
    if len(scaled) == 1 and not scaled[0].shifts:  # what shifts promises nothing, and matches a spread as well
        model.eval()
        distances = data.typical_distances(model, CALIBRATION_EXAMPLES)
        scaled[0].calibrate(distances, torch.ones_like(distances))
