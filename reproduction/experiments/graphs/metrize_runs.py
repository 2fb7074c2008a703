"""The runs of `graphs-metrize`: a teacher on denoised features, and the metrics that are made of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

import trimetric as tm
from reproduction.experiments.graphs.cells import BATCH
from reproduction.experiments.graphs.data import SYMMETRIC, Data
from reproduction.experiments.graphs.heads import make_model
from reproduction.frame.experiment import Result
from trimetric.distances import ObjectDistance
from trimetric.graphs.files.cache import ArrayCache, content_key
from trimetric.training.corridors import corridor

if TYPE_CHECKING:
    from reproduction.experiments.graphs.metrize import Cell

PARTS = Path("out") / "graphs-metrize-parts"
"""what several cells share: denoised features and members of ensembles"""
MEMBER_DEPTH, BASE_DEPTH = 2, 3
AUDITED = 200


def run(data: Data, cell: Cell) -> list[Result]:
    """Run one method on one graph.

    Args:
        data: of the graph.
        cell: the settings.
    """
    start = time.perf_counter()
    objects = denoised(data, cell)
    members = [_member(data, cell, objects, cell.seed * cell.members + i) for i in range(cell.members)]
    symmetric = cell.graph in SYMMETRIC
    extra: list[Result] = []
    if cell.method == "MLP denoised":
        model: ObjectDistance = members[0]
    elif cell.method == "MLP ensemble":
        model = tm.ensemble(members, symmetric=symmetric)
    elif cell.method == "distilled":
        model = _distilled(data, cell, objects, members)
    elif cell.method == "joint":
        model = _joint(data, cell, objects)
    else:
        model, extra = _corridor(data, cell, objects, members)
    sample = data.sample
    errors = {
        "validation mse": _mse(model, objects, *data.pairs(sample.validation_rows)),
        "mse": _mse(model, objects, *data.pairs(sample.test_rows)),
    }
    audit = tm.audit(model, objects[torch.randperm(len(objects), generator=torch.Generator().manual_seed(0))[:AUDITED]])
    return [
        *(Result(name, value, cell.steps) for name, value in errors.items()),
        Result("triangle defect", audit.triangle_defect, cell.steps),
        Result("seconds", round(time.perf_counter() - start, 1), cell.steps),
        *extra,
    ]


def denoised(data: Data, cell: Cell) -> Tensor:
    """The features of all nodes as the encoders read them: without the noise, as far as they predict each other."""
    if not cell.denoising:
        return data.features
    key = content_key("denoised", cell.graph, cell.map, cell.side, cell.sample, cell.denoising)
    cache = ArrayCache(PARTS)
    known = cache.read(key)
    if known is None:
        denoiser = tm.Denoiser.learn(data.features, steps=cell.denoising)
        with torch.no_grad():
            features = torch.cat([denoiser(part) for part in data.features.split(8192)])
        known = {"features": features.numpy(), "kept": np.array(denoiser.kept)}
        cache.write(key, known)
    return torch.from_numpy(known["features"])


def _member(data: Data, cell: Cell, objects: Tensor, seed: int) -> tm.Siamese:
    """A calibrated MLP, by the fast protocol of `graphs`."""
    model = _model(cell.member, cell, objects, MEMBER_DEPTH, seed)
    recipe = (cell.member, cell.member_decay, cell.denoising, cell.epochs, seed)
    key = content_key("member", cell.graph, cell.map, cell.side, cell.sample, cell.pairs, *recipe)
    cache = ArrayCache(PARTS)
    known = cache.read(key)
    if known is None:
        training = data.pairs(data.sample.training_rows(cell.pairs))
        tm.fit(model, *training, objects=objects, config=_config(cell, seed, cell.member_decay), progress="silent")
        cache.write(key, {name: value.numpy() for name, value in model.state_dict().items()})
    else:
        model.load_state_dict({name: torch.from_numpy(value) for name, value in known.items()})
    return model.eval()


def _model(head: str, cell: Cell, objects: Tensor, depth: int, seed: int) -> tm.Siamese:
    symmetric = cell.graph in SYMMETRIC
    features = objects.shape[1]
    return make_model(head, features, depth, symmetric=symmetric, calibrated=True, seed=seed, activation="silu")


def _config(cell: Cell, seed: int, weight_decay: float, *, calibrate: bool = True) -> tm.TrainingConfig:
    return tm.TrainingConfig(
        epochs=cell.epochs,
        batch_size=BATCH,
        learning_rate=1e-3,
        weight_decay=weight_decay,
        schedule="cosine",
        calibrate=calibrate,
        seed=seed,
    )


def _distillation(cell: Cell) -> tm.DistillationConfig:
    return tm.DistillationConfig(
        steps=cell.steps, batch_size=cell.batch_size, weight_decay=cell.weight_decay, seed=cell.seed
    )


def _corridor(
    data: Data, cell: Cell, objects: Tensor, members: list[tm.Siamese]
) -> tuple[ObjectDistance, list[Result]]:
    pairs, targets = data.pairs(data.sample.validation_rows)
    banded = cell.method == "band"
    result = tm.metrize(
        members,
        objects,
        base=None if banded else _model(cell.head, cell, objects, BASE_DEPTH, cell.seed),
        train_base=not banded,
        pairs=pairs,
        targets=targets,
        symmetric=cell.graph in SYMMETRIC,
        pull=cell.pull,
        config=tm.DistillationConfig(seed=cell.seed) if banded else _distillation(cell),
        progress="silent",
    )
    report = result.report
    numbers = {"floor": report.floor, "clamped": report.clamped, "below floor": report.below_floor}
    numbers["triangle defect of f"] = report.audit_of_f.triangle_defect
    return result.distance, [Result(name, value, cell.steps) for name, value in numbers.items()]


def _distilled(data: Data, cell: Cell, objects: Tensor, members: list[tm.Siamese]) -> ObjectDistance:
    student = _model(cell.head, cell, objects, BASE_DEPTH, cell.seed)
    pairs, targets = data.pairs(data.sample.training_rows(cell.pairs))
    symmetric, config = cell.graph in SYMMETRIC, _distillation(cell)
    tm.distil(
        members, student, objects, pairs=pairs, targets=targets, symmetric=symmetric, config=config, progress="silent"
    )
    return student


def _joint(data: Data, cell: Cell, objects: Tensor) -> ObjectDistance:
    """One MLP and a base, trained together on the labeled pairs, in a corridor of a fixed floor."""
    upper = _model(cell.member, cell, objects, MEMBER_DEPTH, cell.seed)
    lower = _model(cell.head, cell, objects, BASE_DEPTH, cell.seed)
    pairs, targets = data.pairs(data.sample.training_rows(cell.pairs))
    few = slice(0, 8 * BATCH)
    for model, shift in ((upper, 0.0), (lower, -1.5 * cell.floor)):
        with torch.no_grad():
            predicted = model.eval().between_rows(objects, *pairs[few].unbind(1))
        model.distance.calibrate(predicted, targets[few] + shift)
    f: ObjectDistance = tm.ensemble([upper], symmetric=True) if cell.graph in SYMMETRIC else upper
    model = corridor(f, lower, cell.floor)
    config = _config(cell, cell.seed, cell.weight_decay, calibrate=False)
    tm.fit(model, pairs, targets, objects=objects, config=config, progress="silent")
    return model


@torch.no_grad()
def _mse(model: ObjectDistance, objects: Tensor, ends: Tensor, lengths: Tensor) -> float:
    nodes, places = torch.unique(ends, return_inverse=True)
    points = model.eval().embed(objects[nodes])
    found = model.head.between_rows(points, *places.unbind(1))
    return float((found - lengths).double().square().mean())
