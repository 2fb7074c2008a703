"""What `metrize`, `metrize_scores` and `distil` refuse, and how they say so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from metrizing.trips import SHORT, minutes, places, student

import trimetric as tm

SHORT_LABELED = replace(SHORT, labeled=16)


def test_refuses_what_it_cannot_use() -> None:
    objects = places(10)
    with pytest.raises(ValueError, match="f: expected a finite number for every pair of different objects, got NaN"):
        tm.metrize(lambda x, y: (x - y).sum(-1).sqrt(), objects, config=SHORT, progress="silent")
    with pytest.raises(ValueError, match=r"f: expected a mean above 0 and below 1e\+18, got -"):
        tm.metrize(lambda x, y: -(x - y).norm(dim=-1), objects, config=SHORT, progress="silent")
    with pytest.raises(ValueError, match="pairs, targets: expected both or none"):
        tm.metrize(minutes, objects, targets=torch.ones(3))
    with pytest.raises(ValueError, match="checkpoint: expected None where no base is trained"):
        tm.metrize(minutes, objects, train_base=False, checkpoint="run.checkpoint")
    with pytest.raises(ValueError, match="objects: expected at least two, got 1"):
        tm.metrize(minutes, objects[:1])
    with pytest.raises(TypeError, match="f: expected a Siamese, a Distance or a function of two tensors, got str"):
        tm.distil("f", student(), objects)  # type: ignore[arg-type]


def test_refuses_what_would_have_no_effect_and_a_base_that_breaks_the_promise() -> None:
    objects = places(10)
    silent: dict[str, Any] = {"progress": "silent"}
    with pytest.raises(ValueError, match="base: expected a symmetric distance, because symmetric=True, got TollMetric"):
        tm.metrize(minutes, objects, base=student(), symmetric=True, config=SHORT, **silent)
    with pytest.raises(ValueError, match=r"pull: expected 0.1 where no base is trained, got 0.5"):
        tm.metrize(minutes, objects, train_base=False, pull=0.5, **silent)
    with pytest.raises(ValueError, match=r"config: steps=100 has no effect, because no base is trained"):
        tm.metrize(minutes, objects, train_base=False, config=SHORT, **silent)
    with pytest.raises(ValueError, match=r"config: labeled=16 has no effect, because metrize reads no labels"):
        tm.metrize(minutes, objects, config=SHORT_LABELED, **silent)
    with pytest.raises(ValueError, match=r"config: labeled=16 has no effect, because the scores are all"):
        tm.metrize_scores(torch.tensor([[0, 1]]), torch.ones(1), config=SHORT_LABELED, **silent)
    with pytest.raises(ValueError, match=r"config: labeled_weight=2.0 has no effect, because there are no labeled"):
        tm.distil(minutes, student(), objects, config=replace(SHORT, labeled_weight=2.0), **silent)


def test_refuses_weights_that_f_and_student_share() -> None:
    objects, encoder = places(10), tm.MLP(2, 18, widths=(8,))
    f = tm.Siamese(encoder, tm.MLPDistance(18, widths=(8,), output="softplus"))
    shared = tm.Siamese(encoder, tm.TollMetric(tm.IntervalQuasimetric(16)))
    with pytest.raises(ValueError, match="base: expected weights of its own, got some that f has too"):
        tm.metrize(f, objects, base=shared, config=SHORT, progress="silent")
    with pytest.raises(ValueError, match="student: expected weights of its own, got some that f has too"):
        tm.distil([minutes, f], shared, objects, config=SHORT, progress="silent")
    frozen = tm.Siamese(encoder.requires_grad_(False), tm.TollMetric(tm.WideNorm(16)))
    before = f(objects[:5], objects[5:]).detach()
    tm.distil(f, frozen, objects, config=SHORT, progress="silent")
    assert torch.equal(f(objects[:5], objects[5:]), before)


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_a_single_value_that_is_no_number_is_refused(value: float) -> None:
    objects = places()

    def once(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.where((x == objects[0]).all(-1) & (y != x).any(-1), value, minutes(x, y))

    expected = "f: expected a finite number for every pair of different objects, got NaN or infinity for"
    with pytest.raises(ValueError, match=expected):
        tm.metrize(once, objects, config=SHORT, progress="silent")
    with pytest.raises(ValueError, match=expected):
        tm.distil(once, student(), objects, config=SHORT, progress="silent")


def test_targets_are_finite_and_of_different_objects() -> None:
    objects = places(10).repeat(2, 1)
    silent: dict[str, Any] = {"progress": "silent"}
    endless = torch.tensor([torch.inf, 1.0])
    pairs = torch.tensor([[0, 1], [2, 3]])
    with pytest.raises(ValueError, match="targets: expected finite values, got 1 NaN or infinite of 2"):
        tm.metrize(minutes, objects, pairs=pairs, targets=endless, config=SHORT, **silent)
    with pytest.raises(ValueError, match="targets: expected finite values, got 1 NaN or infinite of 2"):
        tm.distil(minutes, student(), objects, pairs=pairs, targets=endless, config=SHORT, **silent)
    equal = torch.tensor([[0, 10], [1, 11], [0, 1]])
    with pytest.raises(ValueError, match=r"pairs: expected at least 2 of different objects, one to choose .*, got 1"):
        tm.metrize(minutes, objects, pairs=equal, targets=torch.ones(3), config=SHORT, **silent)
    with pytest.raises(ValueError, match="objects: expected different ones, got 5 equal rows"):
        tm.metrize(minutes, places(1).repeat(5, 1), config=SHORT, **silent)


def test_arguments_of_another_kind_are_named() -> None:
    objects = places(10)
    bad = tm.Siamese(tm.MLP(2, 8), tm.Calibrated(tm.MLPDistance(8, widths=(4,))))
    with pytest.raises(ValueError, match=r"base: expected a distance that promises .*, got MLPDistance without"):
        tm.metrize(minutes, objects, base=bad, config=SHORT, progress="silent")
    with pytest.raises(ValueError, match="student: expected a symmetric one, as symmetric=True, got TollMetric"):
        tm.distil(minutes, student(), objects, symmetric=True, config=SHORT, progress="silent")
    other: Any = tm.TrainingConfig()
    calls: list[Any] = [
        lambda: tm.metrize(minutes, objects, config=other),
        lambda: tm.distil(minutes, student(), objects, config=other),
        lambda: tm.metrize_scores(torch.tensor([[0, 1]]), torch.ones(1), config=other),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="config: expected a DistillationConfig, got TrainingConfig; such as"):
            call()
    with pytest.raises(TypeError, match=r"f: expected a distance, got the norm Euclidean; NormInduced\(f\) is one"):
        tm.metrize(tm.Euclidean(2), objects)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"floor: expected a finite number above 0 and below 1e\+18, got 0"):
        tm.metrize(minutes, objects, train_base=False, floor=0.0)
    for name, expected in (("train_base", "True or False"), ("warn", "True or False")):
        with pytest.raises(TypeError, match=f"{name}: expected {expected}, got 'no'"):
            tm.metrize(minutes, objects, **{name: "no"})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="progress: expected one of 'auto', 'silent', got 'loud'"):
        tm.metrize(minutes, objects, train_base=False, progress="loud")  # type: ignore[arg-type]
    for name, value in (("seed", -1), ("seed", "a"), ("learning_rate", 0)):
        with pytest.raises(ValueError, match=f"{name}: expected"):
            tm.DistillationConfig(**{name: value})  # type: ignore[arg-type]


def test_huge_values_are_refused_or_the_training_says_that_it_diverged() -> None:
    objects = places(20)
    with pytest.raises(ValueError, match=r"f: expected a mean above 0 and below 1e\+18, got"):
        tm.metrize(lambda x, y: 1e30 * minutes(x, y), objects, config=SHORT, progress="silent")
    pairs = torch.tensor([[0, 1], [1, 2], [0, 2]])
    with pytest.raises(ValueError, match=r"scores: expected a mean above 0 and below 1e\+18, got"):
        tm.metrize_scores(pairs, torch.tensor([1e30, 1e30, 3e30]), config=SHORT, progress="silent")
    with pytest.raises(ValueError, match=r"floor: expected a finite number >= 0 and below 1e\+18, got"):
        tm.metrize_scores(pairs, torch.ones(3), floor=1e39, config=SHORT, progress="silent")
    with pytest.raises(RuntimeError, match="the training diverged"):
        tm.distil(lambda x, y: 1e30 * minutes(x, y), student(), objects, config=SHORT, progress="silent")
