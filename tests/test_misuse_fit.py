"""Wrong calls of `fit` and `fit_many`: each error names the argument, what was expected and what came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from refusals import refusal
from torch import nn

import trimetric as tm

x = torch.randn(6, 4)
pairs = torch.tensor([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
targets = torch.rand(5) + 0.1
wide = tm.NormInduced(tm.WideNorm(4))
one_epoch = tm.TrainingConfig(epochs=1)


def siamese() -> tm.Siamese:
    return tm.Siamese(nn.Linear(4, 4), tm.Calibrated(tm.WideNorm(4)))


def table() -> tm.Siamese:
    return tm.Siamese(nn.Embedding(6, 4), tm.WideNorm(4))


def fit(model: Any = None, pairs: Any = pairs, targets: Any = targets, **others: Any) -> Any:
    others = {"objects": x, "config": one_epoch, "progress": "silent", **others}
    return tm.fit(siamese() if model is None else model, pairs, targets, **others)


def fit_many(models: Any = None, pairs: Any = pairs, targets: Any = targets, **others: Any) -> Any:
    others = {"seeds": [0, 1], "objects": x, "config": one_epoch, "progress": "silent", **others}
    return tm.fit_many([siamese(), siamese()] if models is None else models, pairs, targets, **others)


Case = tuple[Callable[[], object], str]

FIT: dict[str, Case] = {
    "config as a dict": (lambda: fit(config={"epochs": 1}), "config: expected a TrainingConfig, got dict"),
    "progress False": (lambda: fit(progress=False), "progress: expected one of 'auto', 'silent', got False"),
    "progress no": (lambda: fit(progress="no"), "progress: expected one of 'auto', 'silent', got 'no'"),
    "targets as a list": (
        lambda: fit(targets=[1.0] * 5),
        "targets: expected a torch.Tensor or a NumPy array, got list",
    ),
    "whole targets": (
        lambda: fit(targets=torch.arange(5)),
        "targets: expected a floating-point tensor, got dtype torch.i",
    ),
    "too few targets": (lambda: fit(targets=targets[:3]), "targets: expected 5, one for each of pairs, got 3"),
    "too few targets for ends": (
        lambda: fit(pairs=(x[:5], x[1:]), targets=targets[:3], objects=None),
        "targets: expected 5",
    ),
    "targets in two axes": (
        lambda: fit(targets=targets[:, None]),
        "targets: expected a vector of at least one distance",
    ),
    "NaN targets": (lambda: fit(targets=targets * torch.nan), "targets: expected distances >= 0, got NaN"),
    "infinite targets": (
        lambda: fit(targets=targets * torch.inf),
        "targets: expected finite distances with loss='squared', got 5 infinite; loss='discounted'",
    ),
    "float64 objects": (
        lambda: fit(objects=x.double()),
        "objects: expected the dtype of the weights of the encoder (Linear), torch.float32, got torch.float64; convert",
    ),
    "objects of another size": (
        lambda: fit(objects=x[:, :3]),
        "objects: expected last axis 4, which the encoder (Linear)",
    ),
    "objects as text": (lambda: fit(objects="x"), "objects: expected a torch.Tensor or a NumPy array, got str"),
    "NaN objects": (lambda: fit(objects=x * torch.nan), "model: expected distances, got NaN for pair"),
    "no objects for an MLP": (
        lambda: fit(tm.Siamese(tm.MLP(4, 4), tm.WideNorm(4)), objects=None),
        "objects: expected one row for each object, as the encoder (MLP) cannot read indices, got None",
    ),
    "no objects for a layer": (
        lambda: fit(objects=None),
        "objects: expected one row for each object, as the encoder (Linear)",
    ),
    "no objects for a distance": (
        lambda: fit(wide, objects=None),
        "objects: expected one row for each object, as a distance",
    ),
    "objects and ends": (
        lambda: fit(pairs=(x[:5], x[1:])),
        "objects: expected None, as pairs are the two ends themselves",
    ),
    "beyond the table": (
        lambda: fit(table(), pairs + 4, objects=None),
        "pairs: expected numbers of objects from 0 to 5",
    ),
    "beyond the objects": (
        lambda: fit(pairs=pairs + 4),
        "pairs: expected indices from 0 to 5, the last of objects, got 9",
    ),
    "negative indices": (
        lambda: fit(pairs=pairs - 1),
        "pairs: expected indices from 0 to 5, the last of objects, got -1",
    ),
    "indices of floating point": (
        lambda: fit(pairs=pairs.float()),
        "pairs: expected indices of shape (n, 2) and dtype torch.",
    ),
    "indices as lists": (
        lambda: fit(pairs=pairs.tolist()),
        "pairs: expected indices of shape (n, 2), or a tuple of the two",
    ),
    "three columns": (lambda: fit(pairs=pairs[:, [0, 1, 1]]), "pairs: expected indices of shape (n, 2)"),
    "ends of two lengths": (
        lambda: fit(pairs=(x[:5], x[:4]), objects=None),
        "pairs: expected two ends of as many rows each, got shapes (5, 4) and (4, 4)",
    ),
    "ends of another size": (
        lambda: fit(pairs=(x[:5, :3], x[1:, :3]), objects=None),
        "pairs[0]: expected last axis 4, which the encoder (Linear) reads, got shape (5, 3)",
    ),
    "a norm": (lambda: fit(tm.WideNorm(4)), "model: expected a Siamese or a Distance, got WideNorm; NormInduced(norm)"),
    "a function": (lambda: fit(torch.dist), "model: expected a Siamese or a Distance, got builtin"),
    "a Model": (lambda: fit(tm.Model(siamese())), "model: expected a Siamese or a Distance, got Model"),
    "a class": (lambda: fit(tm.Siamese), "model: expected a Siamese or a Distance, got the class Siamese"),
    "nothing to train": (
        lambda: fit(tm.NormInduced(tm.Euclidean(4))),
        "model: expected parameters to train, got NormInduced",
    ),
    "a function for callbacks": (
        lambda: fit(callbacks=print),
        "callbacks: expected a sequence of functions, such as [functi",
    ),
    "a number for a callback": (lambda: fit(callbacks=[1]), "callbacks[0]: expected a function, got int"),
    "a folder as checkpoint": (lambda: fit(checkpoint="/"), "checkpoint: expected a file, got the folder /"),
    "a number as checkpoint": (lambda: fit(checkpoint=3), "checkpoint: expected a path, got int"),
    "validation as a tensor": (
        lambda: fit(validation=pairs),
        "validation: expected a tuple (pairs, targets), got Tensor",
    ),
    "validation as a share": (lambda: fit(validation=0.1), "validation: expected a tuple (pairs, targets), got float"),
    "validation of three": (
        lambda: fit(validation=(pairs, targets, x)),
        "validation: expected a tuple (pairs, targets), got 3",
    ),
    "too few in validation": (
        lambda: fit(validation=(pairs, targets[:2])),
        "validation[1]: expected 5, one for each of valid",
    ),
    "watch as a list": (
        lambda: fit(watch=[(pairs, targets)]),
        "watch: expected a mapping from names to (pairs, targets)",
    ),
    "watch a tensor": (lambda: fit(watch={"a": pairs}), "watch['a']: expected a tuple (pairs, targets), got Tensor"),
    "loss by name": (
        lambda: fit(loss="squared"),
        "loss: expected a CustomLoss, got str; TrainingConfig(loss=...) takes",
    ),
    "teacher": (lambda: fit(teacher=1), "teacher: expected a Teacher, got int"),
    "probe": (lambda: fit(probe=1), "probe: expected a Probe, got int"),
    "epochs 1.5": (lambda: tm.TrainingConfig(epochs=1.5), "epochs: expected a positive integer, got 1.5"),  # type: ignore
    "epochs True": (lambda: tm.TrainingConfig(epochs=True), "epochs: expected a positive integer, got True"),
    "a negative seed": (lambda: tm.TrainingConfig(seed=-1), "seed: expected an integer from 0 to"),
    "a seed of text": (lambda: tm.TrainingConfig(seed="a"), "seed: expected an integer from 0 to"),  # type: ignore
    "calibrate no": (lambda: tm.TrainingConfig(calibrate="no"), "calibrate: expected True or False, got 'no'"),  # type: ignore
    "compile no": (lambda: tm.TrainingConfig(compile="no"), "compile: expected True or False, got 'no'"),  # type: ignore
    "negative decay": (
        lambda: tm.TrainingConfig(weight_decay=-1),
        "weight_decay: expected a finite number >= 0, got -1",
    ),
    "negative seconds": (
        lambda: tm.TrainingConfig(checkpoint_seconds=-1),
        "checkpoint_seconds: expected a finite number >=",
    ),
}

FIT_MANY: dict[str, Case] = {
    "one model": (lambda: fit_many(siamese()), "models: expected a sequence of Siamese or Distance, got Siamese"),
    "no models": (lambda: fit_many([]), "models: expected at least one Siamese or Distance"),
    "norms": (lambda: fit_many([tm.WideNorm(4)]), "models[0]: expected a Siamese or a Distance, got WideNorm"),
    "two architectures": (lambda: fit_many([siamese(), table()]), "models[1]: expected the architecture of models[0]"),
    "one model twice": (
        lambda: fit_many([siamese()] * 2),
        "models: expected different ones, each with its own weights",
    ),
    "a number of seeds": (
        lambda: fit_many(seeds=2),
        "seeds: expected a sequence of 2 integers, one for each model, got 2",
    ),
    "too few seeds": (lambda: fit_many(seeds=[1]), "seeds: expected one for each of the 2 models, got 1"),
    "negative seeds": (lambda: fit_many(seeds=[-1, 0]), "seeds[0]: expected an integer from 0 to"),
    "config as a dict": (lambda: fit_many(config={}), "config: expected a TrainingConfig, got dict"),
    "progress": (lambda: fit_many(progress=False), "progress: expected one of 'auto', 'silent', got False"),
    "targets of one": (
        lambda: fit_many(pairs=[pairs] * 2, targets=[targets]),
        "targets: expected 2, one for each model, got 1",
    ),
    "validation": (lambda: fit_many(validation=pairs), "validation: expected a tuple (pairs, targets), or a list of 2"),
}

CASES = {f"fit: {name}": case for name, case in FIT.items()} | {
    f"fit_many: {name}": case for name, case in FIT_MANY.items()
}


@pytest.mark.parametrize("case", CASES)
def test_message(case: str) -> None:
    call, expected = CASES[case]
    message = refusal(call)
    assert expected in message
    assert ": expected " in message


def test_a_failed_call_leaves_the_model_as_it_was() -> None:
    model = siamese().train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(ValueError, match="objects: expected one row"):
        fit(model, objects=None)
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
