"""The arguments of `fit` and `fit_many`, checked before anything is trained."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import torch
from torch import Tensor, nn

from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.distances import Distance, ObjectDistance
from trimetric.distances.encoder_inputs import ObjectNumbers, explain_unreadable, inputs_of
from trimetric.distances.siamese import Siamese
from trimetric.training.config import TrainingConfig
from trimetric.training.losses import FINITE_AT_INFINITY, CustomLoss
from trimetric.training.pairs import ArrayOrTensor, PairData
from trimetric.training.teachers import Probe, Teacher


def check_model(name: str, model: object) -> None:
    checks.instance(
        name,
        model,
        Siamese,
        Distance,
        hint="NormInduced(norm) is the distance of a norm, and Model.network what a Model is made of",
    )
    if not any(parameter.requires_grad for parameter in model.parameters()):  # type: ignore[attr-defined]
        raise ValueError(f"{name}: expected parameters to train, got {type(model).__name__} without any")


def check_settings(config: object, progress: object) -> None:
    if config is not None:
        checks.instance("config", config, TrainingConfig, hint="such as TrainingConfig(epochs=10)")
    checks.one_of("progress", progress, get_args(Shown))


def check_extras(loss: object, teacher: object, probe: object) -> None:
    if loss is not None:
        checks.instance("loss", loss, CustomLoss, hint="TrainingConfig(loss=...) takes the name of a loss")
    if teacher is not None:
        checks.instance("teacher", teacher, Teacher)
    if probe is not None:
        checks.instance("probe", probe, Probe)


def checkpoint_file(checkpoint: object) -> Path | None:
    if checkpoint is None:
        return None
    file = checks.path("checkpoint", checkpoint)
    if file.is_dir():
        raise ValueError(f"checkpoint: expected a file, got the folder {file}")
    return file


def pair_data(name: str, given: object, objects: ArrayOrTensor | None, model: nn.Module) -> PairData:
    """Pairs and targets of an argument that is a tuple of both."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        got = f"{len(given)} items" if isinstance(given, (tuple, list)) else type(given).__name__
        raise TypeError(f"{name}: expected a tuple (pairs, targets), got {got}")
    pairs, targets = given
    return PairData(pairs, targets, objects, (f"{name}[0]", f"{name}[1]"), model)


def watched_items(watch: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    if watch is not None and not isinstance(watch, Mapping):
        raise TypeError(f"watch: expected a mapping from names to (pairs, targets), got {type(watch).__name__}")
    return list((watch or {}).items())


def check_targets(targets: Tensor, config: TrainingConfig) -> None:
    """Infinite ones suit some losses only: those of others would be infinite too, and the weights NaN."""
    infinite = int(torch.isinf(targets).sum())
    if infinite and config.loss not in FINITE_AT_INFINITY:
        raise ValueError(
            f"targets: expected finite distances with loss={config.loss!r}, got {infinite} infinite; "
            "loss='discounted' takes pairs without a path"
        )


def check_seeds(seeds: object, members: int) -> None:
    if isinstance(seeds, (str, bytes)) or not isinstance(seeds, Sequence):
        raise TypeError(f"seeds: expected a sequence of {members} integers, one for each model, got {seeds!r}")
    if len(seeds) != members:
        raise ValueError(f"seeds: expected one for each of the {members} models, got {len(seeds)}")
    for i, seed in enumerate(seeds):
        checks.seed(f"seeds[{i}]", seed)


def check_models(models: object) -> None:
    items = checks.members("models", models, "Siamese or Distance")
    for i, model in enumerate(items):
        check_model(f"models[{i}]", model)
    if len({id(model) for model in items}) < len(items):
        raise ValueError("models: expected different ones, each with its own weights, got one of them twice")
    shapes = [{name: tuple(value.shape) for name, value in model.state_dict().items()} for model in items]
    for i, own in enumerate(shapes):
        if own != shapes[0]:
            raise ValueError(
                f"models[{i}]: expected the architecture of models[0], got weights of other names or shapes"
            )


@torch.no_grad()
def check_readable(model: ObjectDistance, data: PairData) -> None:
    """Predict one pair, with the largest index, so that objects which the encoder cannot read are named as such."""
    row = int(data.pairs.amax(dim=1).argmax()) if isinstance(data.pairs, Tensor) else 0
    training = model.training
    try:
        with torch.random.fork_rng(devices=[]):
            predicted = data.predict(model.eval(), torch.tensor([row]))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise _explain(model, data) or error from error
    finally:
        model.train(training)
    if math.isnan(float(predicted)):
        raise ValueError(
            f"model: expected distances, got NaN for pair {row}: its weights, or what it reads, are not finite"
        )


def _explain(model: ObjectDistance, data: PairData) -> Exception | None:
    if not isinstance(data.pairs, Tensor):
        reasons = (explain_unreadable(f"pairs[{i}]", end, model.reader) for i, end in enumerate(data.pairs))
        return next((reason for reason in reasons if reason is not None), None)
    if data.objects is not None:
        return explain_unreadable("objects", data.objects, model.reader)
    if isinstance(inputs_of(model.reader, guess=True), ObjectNumbers):
        return explain_unreadable("pairs", data.pairs, model.reader)
    what = "a distance" if model.reader is model.head else f"the encoder ({type(model.reader).__name__})"
    return ValueError(f"objects: expected one row for each object, as {what} cannot read indices, got None")
