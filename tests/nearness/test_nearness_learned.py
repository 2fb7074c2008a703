"""Metric nearness by training: a metric always, near to the optimum where the head allows it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from matrices import random_matrix, triangles_hold

import trimetric as tm
from trimetric.nearness import LearnedSettings, nearest_metric
from trimetric.nearness.row_start import landmark_rows, start_as_rows


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("head", ["wide", "deep", "euclidean"])
def test_learned(symmetric: bool, head: Any) -> None:
    points = np.random.default_rng(0).normal(size=(20, 2))
    d = np.linalg.norm(points[:, None] - points, axis=-1)
    training = tm.TrainingConfig(epochs=200 if head == "euclidean" else 60, batch_size=128, learning_rate=1e-2)
    settings = LearnedSettings(head=head, dim=8, training=training)
    result = nearest_metric(
        d + 0.01 * np.triu(d) * (not symmetric), symmetric=symmetric, method="learned", learned=settings
    )
    assert triangles_hold(result.matrix)
    assert result.distortion_squared < 0.02
    assert result.gap == 1.0  # it proves nothing
    assert not symmetric or (result.matrix == result.matrix.T).all()
    assert result.model is not None
    points = result.model.encoder(torch.arange(20)).detach()
    assert tm.audit(result.model.distance, points).triangle_defect < 1e-5


@pytest.mark.parametrize(
    ("unit", "symmetric"),
    [
        (1e-3, False),
        (1e5, True),
        pytest.param(1e-3, True, marks=pytest.mark.slow),
        pytest.param(1e5, False, marks=pytest.mark.slow),
    ],
)
def test_learned_from_the_matrix_itself_comes_near_to_the_optimum(symmetric: bool, unit: float) -> None:
    d = random_matrix(25, 0, symmetric=symmetric) * unit
    learned = nearest_metric(d, symmetric=symmetric, method="learned")
    assert triangles_hold(learned.matrix)
    optimum = nearest_metric(d, symmetric=symmetric).objective
    assert optimum * (1 - 1e-6) <= learned.objective < 1.01 * optimum


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("head", ["wide", "deep"])
def test_heads_that_start_as_landmarks_come_near_to_the_optimum(symmetric: bool, head: Any) -> None:
    d = random_matrix(24, 0, symmetric=symmetric)
    settings = LearnedSettings(
        head=head, dim=64, training=tm.TrainingConfig(epochs=150, batch_size=100, learning_rate=3e-3)
    )
    learned = nearest_metric(d, symmetric=symmetric, method="learned", learned=settings)
    optimum = nearest_metric(d, symmetric=symmetric).objective
    assert optimum * (1 - 1e-6) <= learned.objective < 1.05 * optimum


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("norm", ["deep", "wide"])
def test_a_head_starts_as_the_landmark_bound(symmetric: bool, norm: str) -> None:
    torch.manual_seed(0)
    d = random_matrix(10, 0, symmetric=symmetric)
    rows = landmark_rows(d, symmetric=symmetric, start=0.5)
    bound = tm.all_pairs(tm.LandmarkBound(rows.shape[1], directed=not symmetric), rows)
    made = (
        tm.DeepNorm(32, widths=(32, 32), pool="max")
        if norm == "deep"
        else tm.WideNorm(32, components=32, width=4, symmetric=symmetric, pool="max")
    )
    head = tm.NormInduced(tm.Symmetrized(made) if symmetric and norm == "deep" else made)
    points = torch.nn.Embedding(10, 32)
    start_as_rows(points, head, rows)
    with torch.no_grad():
        distances = tm.all_pairs(head, points.weight)
    apart = ~torch.eye(10, dtype=torch.bool)
    assert ((distances - bound)[apart].abs() / bound[apart]).mean() < 0.15


def test_learned_from_the_matrix_itself_fills_what_is_missing() -> None:
    points = np.random.default_rng(0).normal(size=(30, 2))
    d = np.linalg.norm(points[:, None] - points, axis=-1)
    hidden = np.triu(np.random.default_rng(1).random(d.shape) < 0.2, 1)
    hidden |= hidden.T
    result = nearest_metric(d, symmetric=True, missing=hidden, method="learned")
    assert triangles_hold(result.matrix)
    assert np.abs(result.matrix - d)[~hidden].max() < 0.02
    assert np.abs(result.matrix - d)[hidden].mean() < 0.2


@pytest.mark.parametrize("n", [1, 2])
def test_learned_of_nothing_to_learn(n: int) -> None:
    settings = LearnedSettings(training=tm.TrainingConfig(epochs=100, learning_rate=1e-2))
    assert nearest_metric(np.zeros((n, n)), method="learned", learned=settings).matrix.max() < 0.01


def test_learned_with_features_is_defined_for_new_objects() -> None:
    points = torch.randn(30, 2)
    settings = LearnedSettings(
        head="wide",
        dim=8,
        encoder=torch.nn.Linear(2, 8),
        objects=points,
        training=tm.TrainingConfig(epochs=100, batch_size=128, learning_rate=1e-2),
    )
    distances = torch.linalg.vector_norm(points[:, None] - points, dim=-1)
    result = nearest_metric(distances, symmetric=True, method="learned", learned=settings)
    new = torch.randn(10, 2)
    assert result.model is not None
    with torch.no_grad():
        error = (tm.all_pairs(result.model, new) - torch.cdist(new, new)).abs().mean()
    assert error < 0.3
