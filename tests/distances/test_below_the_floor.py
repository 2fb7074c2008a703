"""What docs/metrize.md says about constructions with a smaller floor, or without one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import zoo

import trimetric as tm
from trimetric.nearness import closure, is_metric, violations

SIZE = 7


def quasimetric(random: np.random.Generator, size: int = SIZE) -> np.ndarray:
    return closure(random.uniform(0.1, 3, (size, size)) * (1 - np.eye(size)))


def always_metric(low: np.ndarray, width: np.ndarray) -> bool:
    """Whether every matrix from `low` to `low + width` is a quasimetric: one high entry against two low ones."""
    detours = low[:, :, None] + low[None, :, :]
    for i in range(len(low)):  # a stop at an end is none
        detours[i, i, :] = detours[:, i, i] = np.inf
    return bool(((low + width) <= detours.min(axis=1) + 1e-9).all())


def slack(low: np.ndarray) -> np.ndarray:
    """The largest width for which `always_metric` holds, pair by pair."""
    detours = low[:, :, None] + low[None, :, :]
    for i in range(len(low)):
        detours[i, i, :] = detours[:, i, i] = np.inf
    width = detours.min(axis=1) - low
    np.fill_diagonal(width, 0)
    return width


@pytest.mark.parametrize("seed", range(20))
def test_freedom_is_at_most_the_round_trip(seed: int) -> None:
    random = np.random.default_rng(seed)
    edges = {"corridor": quasimetric(random) + 0.7 * (1 - np.eye(SIZE)), "snowflake": quasimetric(random) ** 0.5}
    for low in edges.values():
        width = slack(low)
        assert always_metric(low, width)
        assert (width >= 0).all()
        for x, y, z in ((x, y, z) for x in range(SIZE) for y in range(SIZE) for z in range(SIZE)):
            if len({x, y, z}) == 3:
                assert width[x, z] + width[y, z] <= low[x, y] + low[y, x] + 1e-9


def test_the_corridor_attains_the_bound() -> None:
    low = 1 - np.eye(SIZE)  # a base of 0 and a floor of 1
    width = slack(low)
    off = ~np.eye(SIZE, dtype=bool)
    assert (width[off] == 1).all()
    assert ((width[:, None, :] + width[None, :, :]) <= 2).all()
    assert (low + low.T)[off].max() == 2


def test_a_floor_that_is_a_quasimetric_or_an_ultrametric_fails() -> None:
    line = np.abs(np.subtract.outer([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]))
    ultrametric = np.array([[0, 0.1, 1], [0.1, 0, 1], [1, 1, 0]])
    for floor in (line, ultrametric):
        assert is_metric(floor)
        assert not always_metric(floor, floor)  # from C to 2 C above B = 0


@pytest.mark.parametrize("seed", range(5))
def test_a_floor_that_varies_is_part_of_a_constant_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    base, off = quasimetric(random), 1 - np.eye(SIZE)
    floor = random.uniform(1, 2, (SIZE, SIZE)) * off
    smallest = floor[off > 0].min()
    assert always_metric(base + floor, (2 * smallest - floor) * off)
    assert (floor[off > 0] >= smallest).all()  # so the constant corridor, from m to 2 m, contains it


def test_a_maximum_keeps_the_floor_and_a_minimum_is_no_metric() -> None:
    points = torch.rand(40, 2, generator=torch.Generator().manual_seed(0))
    corridor = tm.CorridorMetric(tm.FunctionDistance(zoo.scattered, 2), base=tm.Euclidean(2), floor=0.5)
    small = tm.NormInduced(tm.Euclidean(2))
    values, near = tm.all_pairs(corridor, points), tm.all_pairs(small, points)
    off = ~torch.eye(40, dtype=torch.bool)
    assert torch.maximum(values, near)[off].min() >= 0.5
    assert not is_metric(torch.minimum(values, 4 * near).double().numpy())


def test_the_maximum_of_a_lipschitz_function_and_its_metric_is_a_metric_and_no_more_than_that() -> None:
    points = torch.rand(30, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    metric = tm.all_pairs(tm.NormInduced(tm.Euclidean(2)), points)
    tolls = 0.3 + 0.2 * points[:, 0]
    low = (metric[:, :5] + torch.rand(5, 30, dtype=torch.float64)[None].amin(dim=2)).amin(dim=1)
    f = (low[:, None] + tolls[None]).clone()  # 1-Lipschitz in x
    assert ((f[:, None, :] - f[None, :, :]).abs() <= metric[:, :, None] + 1e-12).all()
    d = torch.maximum(f, metric).fill_diagonal_(0)
    assert violations(d.numpy())[0] <= 1e-9
    assert (f <= f.diagonal()[None] + metric + 1e-12).all()  # so that with f(z, z) = 0, nothing is above the metric


@pytest.mark.parametrize("seed", range(5))
def test_hubs_join_small_scales_by_any_metric_between_cells(seed: int) -> None:
    random = np.random.default_rng(seed)
    cells, size = np.repeat(np.arange(4), 5), 20
    hubs = 5 * np.arange(4)
    small, large = quasimetric(random, size) * 0.01, quasimetric(random, 4) + 1.0 * (1 - np.eye(4))
    distance = np.empty((size, size))
    for x in range(size):
        for z in range(size):
            h, k = hubs[cells[x]], hubs[cells[z]]
            through = small[x, h] + large[cells[x], cells[z]] + small[k, z]
            distance[x, z] = small[x, z] if cells[x] == cells[z] else through
    assert violations(distance)[0] <= 1e-9
    assert distance[0, 1] < 0.05  # far below the floor between cells


def test_differences_to_landmarks_are_a_quasimetric_of_any_function() -> None:
    points = torch.randn(60, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    marks = points[:8]
    for function in (zoo.jumping, zoo.scattered):
        to, back = tm.all_pairs(function, points, marks), tm.all_pairs(function, marks, points).T
        bound = tm.LandmarkBound(16, directed=True).double()
        assert tm.audit(bound, torch.cat([to, back], dim=1)).holds
