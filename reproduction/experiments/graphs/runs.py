"""One run of the graph experiments: train on pairs, and measure on test pairs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import trimetric as tm
from reproduction.experiments.graphs.cells import BATCH, Cell
from reproduction.experiments.graphs.data import SYMMETRIC, Data
from reproduction.experiments.graphs.heads import make_model
from reproduction.frame.experiment import Result, key_of
from trimetric._support.tensor_files import remove_checkpoint
from trimetric.graphs import Accuracy, AffineBounds, landmark_bounds
from trimetric.graphs.learning.comparison import predicted

POINTS = 10
"""points of a learning curve"""
CHECKPOINTS = Path("out") / "graphs-checkpoints"
LONG = 200
"""epochs from which an interrupted run resumes from a checkpoint"""


def measure_baselines(data: Data, cell: Cell) -> list[Result]:
    """Measure the statistics of the graph, and the errors of the landmark bounds."""
    sample, landmarks = data.sample, data.landmarks
    ends, lengths = sample.ends[sample.test_rows], sample.lengths[sample.test_rows]
    seen = sample.training_rows(cell.pairs)
    lower, upper = landmark_bounds(landmarks, ends)
    affine = AffineBounds.fit(landmarks, sample.ends[seen], sample.lengths[seen]).predict(landmarks, ends)
    results = [
        Result("vertices", len(landmarks.from_landmarks)),
        Result("edges", data.edges),
        Result("max(d)", sample.largest),
        Result("sigma_d", sample.sigma),
        Result("data seconds", round(data.seconds, 1)),
        Result("engine", data.engine),
    ]
    for name, values in (("lower", lower), ("upper", upper), ("affine", affine)):
        results += _accuracy(values, lengths, sample.scale, 0, f"{name} ")
    return results


def _accuracy(values: np.ndarray, lengths: np.ndarray, scale: float, epochs: int, prefix: str = "") -> list[Result]:
    accuracy = asdict(Accuracy.of(values, lengths, scale=scale))
    return [Result(f"{prefix}{name.replace('_', ' ')}", value, epochs) for name, value in accuracy.items()]


def train(data: Data, cells: list[Cell]) -> list[list[Result]]:
    """Train the models of cells that differ only in their seed; returns the results of each."""
    first, features = cells[0], data.features
    models = [
        make_model(
            cell.head,
            features.shape[1],
            cell.depth,
            symmetric=cell.graph in SYMMETRIC,
            calibrated=cell.calibrated,
            seed=cell.seed,
            activation=cell.activation,  # type: ignore[arg-type]
        )
        for cell in cells
    ]
    sample = data.sample
    training, validation = data.pairs(sample.training_rows(first.pairs)), data.pairs(sample.validation_rows)
    test = data.pairs(sample.test_rows)
    config = tm.TrainingConfig(
        epochs=first.epochs,
        batch_size=BATCH,
        learning_rate=first.learning_rate,
        weight_decay=first.weight_decay,
        schedule=first.schedule,  # type: ignore[arg-type]
        calibrate=first.calibrated,
        validation_epochs=max(1, first.epochs // POINTS),
        checkpoint_seconds=120.0,
        seed=first.seed,
    )
    file = _checkpoint(cells) if first.epochs >= LONG else None
    shared: dict[str, Any] = {
        "objects": features,
        "validation": validation,
        "watch": {"test": test},
        "config": config,
        "checkpoint": file,
        "progress": "silent",
    }
    if len(cells) == 1:
        histories = [tm.fit(models[0], *training, **shared)]
    else:
        histories = tm.fit_many(models, *training, seeds=[cell.seed for cell in cells], **shared)
    if file is not None:
        remove_checkpoint(file)
    return [_results(data, *run, len(cells)) for run in zip(cells, models, histories, strict=True)]


def _checkpoint(cells: list[Cell]) -> Path:
    seeds = "-".join(str(cell.seed) for cell in cells)
    CHECKPOINTS.mkdir(parents=True, exist_ok=True)
    return CHECKPOINTS / f"{key_of('graphs', cells[0]).config}-{seeds}.safetensors"


def _results(data: Data, cell: Cell, model: tm.Siamese, history: tm.History, members: int) -> list[Result]:
    measured = [epoch for epoch in history.epochs if epoch.validation_mse is not None]
    curve = [[epoch.epoch + 1, epoch.loss, epoch.validation_mse, epoch.watched["test"]] for epoch in measured]
    sample = data.sample
    ends, lengths = sample.ends[sample.test_rows], sample.lengths[sample.test_rows]
    nodes, places = np.unique(ends, return_inverse=True)
    points = model.encoder(data.features[nodes]).detach()
    values = predicted(model.distance, points, places.reshape(ends.shape)) / sample.scale
    steps = cell.epochs * -(-cell.pairs // BATCH)
    return [
        *_accuracy(values, lengths, sample.scale, cell.epochs),
        Result("validation mse", measured[-1].validation_mse, cell.epochs),
        Result("curve", curve, cell.epochs),
        Result("parameters", sum(p.numel() for p in model.parameters()), cell.epochs),
        Result("step ms", 1000 * sum(epoch.seconds for epoch in history.epochs) / (steps * members), cell.epochs),
    ]
