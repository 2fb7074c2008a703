"""Proven bounds of rounding errors: no computed distance exceeds them, and no neighbor is lost where float32 fails."""

from __future__ import annotations

import copy

import pytest
import torch
import zoo
from search.brute_force import differences, every_distance

import trimetric as tm
from trimetric.distances.all_pairs import all_pairs
from trimetric.search.enclosures import Unproven
from trimetric.search.error_bounds import distance_error

HEADS = [name for name, make in zoo.DISTANCES.items() if make(zoo.DIM).axioms.triangle]
# Quadrature, and functions that jump or that nobody knows.
WITHOUT_PROOF = {
    "PoissonQuasimetric-gaussian",
    "CorridorMetric",
    "CorridorMetric-random",
    "CorridorMetric-network",
}


def spread_points(kind: str, n: int = 60) -> torch.Tensor:
    points = zoo.awkward_points(n, zoo.DIM, torch.float32)
    if kind == "shifted":
        return points + 1000
    return points * 1e-12 if kind == "tiny" else points


def largest_error(head: tm.Distance, points: torch.Tensor) -> float:
    """Of blocks, fast paths and pairs in float32, against float64."""
    wide = copy.deepcopy(head).double()
    with torch.no_grad():
        exact = wide(points.double().unsqueeze(1), points.double())
        computed = [head(points.unsqueeze(1), points), all_pairs(head, points), all_pairs(head, points, points.clone())]
        many = all_pairs(head, points.repeat(20, 1), points.clone())  # large enough for fused kernels
        computed += list(many.split(len(points)))
    return max(float((values - exact).abs().max()) for values in computed)


@pytest.mark.parametrize("name", HEADS)
def test_no_error_exceeds_its_bound(name: str) -> None:
    cases = {"fresh": "awkward", "normal": "shifted", "signs": "tiny", "mixed-scales": "awkward"}
    for weights, kind in cases.items():
        torch.manual_seed(0)
        head = zoo.reweight(zoo.DISTANCES[name](zoo.DIM), weights).eval().requires_grad_(False)
        points = spread_points(kind)
        wide = copy.deepcopy(head).double()
        if name in WITHOUT_PROOF:
            with pytest.raises(Unproven):
                distance_error(wide, points.amin(0), points.amax(0), torch.float32)
        else:
            bound = distance_error(wide, points.amin(0), points.amax(0), torch.float32)
            assert largest_error(head, points) <= bound, (weights, kind)


@pytest.mark.parametrize("name", ["NeuralMetric", "IntervalQuasimetric", "NormInduced(WideNorm)", "HubMetric"])
def test_a_bound_is_about_as_small_as_rounding(name: str) -> None:
    torch.manual_seed(0)
    head = zoo.DISTANCES[name](zoo.DIM).double()
    points = spread_points("awkward")
    narrow, wide = (distance_error(head, points.amin(0), points.amax(0), t) for t in (torch.float32, torch.float64))
    assert narrow < 1e-3 * float(every_distance(head, points, points).max())
    assert wide == pytest.approx(narrow * 2.0**-29, rel=0.01)


def test_what_has_no_rule_is_not_proven() -> None:
    class Odd(tm.Distance):
        def __init__(self) -> None:
            super().__init__(2, num_components=1, pool="mean")

        def components(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return (x - y).abs().sum(-1, keepdim=True).atan()

    class Branches(Odd):
        def components(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            distance = (x - y).abs().sum(-1, keepdim=True)
            return distance if bool((distance < 1).all()) else 2 * distance

    class Elsewhere(Odd):
        def components(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.from_numpy((x - y).abs().sum(-1, keepdim=True).numpy() * 1.0)

    for distance in (Odd(), Branches(), Elsewhere()):
        with pytest.raises(Unproven):
            distance_error(distance.double(), torch.zeros(2), torch.ones(2), torch.float32)
    with pytest.raises(Unproven, match="overflow"):
        distance_error(tm.NormInduced(tm.Euclidean(2)).double(), torch.zeros(2), torch.full((2,), 1e30), torch.float32)
    with pytest.raises(Unproven, match="overflow"):
        distance_error(tm.NormInduced(tm.Euclidean(2)).double(), torch.zeros(2), torch.full((2,), 1e38), torch.float32)


def cancelling(seed: int, n: int = 2000, far: int = 30) -> tuple[tm.Distance, torch.Tensor, torch.Tensor]:
    """A projection on which two large numbers cancel, and few points for which that matters."""
    generator = torch.Generator().manual_seed(seed)
    head = tm.NormInduced(tm.Mahalanobis(3, rank=1))
    head.inner.weight.data = torch.tensor([[1e4, -1e4, 1.0]])
    points = torch.rand(n, 3, generator=generator) * torch.tensor([1e-3, 1e-3, 1.0])
    place = 1000 * torch.rand(far, 1, generator=generator)
    points[:far] = torch.cat([place, place, 0.5 + 0.001 * torch.rand(far, 1, generator=generator)], dim=1)
    order = torch.randperm(n, generator=generator)
    points = points[order]
    return head, points, points[points[:, 0] > 0.01]


@pytest.mark.parametrize("seed", range(4))
def test_float32_that_is_worth_nothing_loses_no_neighbor(seed: int) -> None:
    head, points, queries = cancelling(seed)
    if seed == 3:
        points = torch.cat([queries, points])  # the first points are those for which float32 is far off
    for some in (points, points.double()):
        asked = queries.to(some.dtype)
        distance = copy.deepcopy(head).to(some.dtype)
        index = tm.search.Index(distance, some, leaf_size=64)
        for direction in ("from", "to"):
            every = every_distance(distance, asked, some, direction=direction)
            found = index.nearest(asked, k=10, direction=direction)
            assert differences(found.rows, found.distances, every, 10) == 0


def test_queries_far_outside_widen_the_proof() -> None:
    torch.manual_seed(0)
    head, points = tm.NormInduced(tm.WideNorm(4, components=3, width=3)), torch.rand(500, 4)
    index = tm.search.Index(head, points, leaf_size=32)
    assert index.store.rounding.proven
    for queries in (points[:5], points[:5] + 1e4, -1e6 * points[:5]):
        every = every_distance(head, queries, points)
        found = index.nearest(queries, k=6)
        assert differences(found.rows, found.distances, every, 6) == 0


def test_the_guarantee_says_whether_rounding_is_proven() -> None:
    points = torch.rand(50, 6)
    assert "rounding is proven" in tm.search.Index(zoo.DISTANCES["IntervalQuasimetric"](6), points).guarantee
    assert "rounding is measured" in tm.search.Index(zoo.DISTANCES["CorridorMetric-random"](6), points).guarantee
