"""Every head, hard points, both directions, both precisions: the answers are those of brute force."""

from __future__ import annotations

import pytest
import torch
import zoo
from search.brute_force import differences, every_distance
from search.points import hard_points

import trimetric as tm

HEADS = [name for name, make in zoo.DISTANCES.items() if make(zoo.DIM).axioms.triangle]


@pytest.mark.parametrize("name", HEADS)
def test_every_head_finds_what_brute_force_finds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, dtype, weights in (
        ("awkward", torch.float32, "fresh"),
        ("duplicates", torch.float32, "normal"),
        ("awkward", torch.float64, "signs"),
    ):
        head = zoo.reweight(zoo.DISTANCES[name](zoo.DIM).to(dtype), weights)
        points, queries = hard_points(kind, zoo.DIM, dtype)
        index = tm.search.Index(head, points, leaf_size=20, pivots=4)
        for direction in ("from", "to"):
            # Block by block, and pair by pair.
            monkeypatch.setattr("trimetric.search.passes.PAIRED_FLOATS", 0 if direction == "from" else 1 << 18)
            every = every_distance(head, queries, points, direction=direction)
            found = index.nearest(queries, k=7, direction=direction)
            assert differences(found.rows, found.distances, every, 7) == 0, (kind, dtype, weights, direction)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", ["awkward", "duplicates", "grid", "outliers", "shifted"])
@pytest.mark.parametrize("name", ["IntervalQuasimetric", "NormInduced(WideNorm)", "TollMetric-shared"])
def test_hard_points(name: str, kind: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    head = zoo.DISTANCES[name](zoo.DIM).to(dtype)
    points, queries = hard_points(kind, zoo.DIM, dtype)
    index = tm.search.Index(head, points, leaf_size=20, pivots=4)
    for direction in ("from", "to"):
        every = every_distance(head, queries, points, direction=direction)
        for k in (3, 79, 1000):
            found = index.nearest(queries, k=k, direction=direction)
            assert differences(found.rows, found.distances, every, k) == 0, (direction, k)
        radius = every.median()
        inside = index.within(queries, radius, direction=direction)
        unit = 0.0 if dtype == torch.float32 else 1e-12 * float(every.abs().max())
        for i, (ids, distances) in enumerate(inside):
            assert set((every[i] <= radius - unit).nonzero()[:, 0].tolist()) <= set(ids.tolist())
            assert set(ids.tolist()) <= set((every[i] <= radius + unit).nonzero()[:, 0].tolist())
            assert (distances.diff() >= 0).all()


def test_one_point_no_points_and_fewer_than_asked_for() -> None:
    distance, query = tm.NormInduced(tm.Euclidean(2)), torch.zeros(3, 2)
    one = tm.search.Index(distance, torch.ones(1, 2))
    assert one.nearest(query, k=5).ids.tolist() == [[0]] * 3
    none = tm.search.Index(distance, torch.empty(0, 2))
    assert none.nearest(query).ids.shape == (3, 0)
    assert none.within(query, 1.0).counts.tolist() == [0, 0, 0]
    assert one.nearest(torch.empty(0, 2)).ids.shape == (0, 1)


def test_many_queries_in_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimetric.search.searching.MOST_QUERIES", 17)
    points = torch.randn(150, 4)
    head = tm.IntervalQuasimetric(4)
    index = tm.search.Index(head, points, leaf_size=40)
    every = every_distance(head, points, points)
    found = index.nearest(points, k=4)
    assert differences(found.rows, found.distances, every, 4) == 0
    inside = index.within(points, 0.3)
    assert inside.counts.tolist() == (every <= 0.3).sum(dim=1).tolist()


@pytest.mark.parametrize("direction", ["from", "to"])
def test_pair_by_pair_and_block_by_block_find_the_same(direction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points, head = torch.randn(300, 3), tm.NormInduced(tm.WideNorm(3, components=4, width=4))
    index = tm.search.Index(head, points, leaf_size=16)
    index.delete(range(0, 300, 4))
    every = every_distance(head, points, points, direction=direction)
    every[:, ::4] = torch.inf
    for floats in (0, 1 << 14, 1 << 30):
        monkeypatch.setattr("trimetric.search.passes.PAIRED_FLOATS", floats)
        monkeypatch.setattr("trimetric.search.passes.PAIRED_AT_ONCE", 1000)
        found = index.nearest(points, k=6, direction=direction)
        assert differences(found.rows, found.distances, every, 6) == 0
        assert index.within(points, 0.4, direction=direction).counts.tolist() == (every <= 0.4).sum(dim=1).tolist()


def test_skips_what_bounds_exclude_and_counts_it() -> None:
    torch.manual_seed(0)
    points = torch.rand(3000, 2)
    index = tm.search.Index(tm.NormInduced(tm.WideNorm(2, components=4, width=4)), points, leaf_size=40)
    found = index.nearest(points[:30], k=5)
    assert found.skipped > 0.9 * 30 * 3000
    assert found.computed < 0.1 * 30 * 3000
    assert found.skipped + found.computed >= 30 * 3000


def test_compares_with_all_where_bounds_exclude_nothing() -> None:
    torch.manual_seed(0)
    points, head = torch.randn(500, 64), tm.NormInduced(tm.Euclidean(64))
    found = tm.search.Index(head, points, leaf_size=16).nearest(points[:40], k=3)
    assert found.skipped == 0
    assert differences(found.rows, found.distances, every_distance(head, points[:40], points), 3) == 0


def test_an_approximate_answer_keeps_its_promise_and_costs_less() -> None:
    torch.manual_seed(0)
    points, head = torch.randn(1000, 3), tm.NormInduced(tm.WideNorm(3, components=4, width=4))
    index = tm.search.Index(head, points, leaf_size=16)
    exact, loose = index.nearest(points[:30], k=5), index.nearest(points[:30], k=5, slack=0.5)
    assert (loose.distances <= 1.5 * exact.distances + 1e-6).all()
    assert loose.computed < exact.computed
    assert not torch.equal(loose.distances, exact.distances)
