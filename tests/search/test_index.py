"""An index grows, shrinks, is saved and loaded, and refuses what it cannot search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from search.brute_force import differences, every_distance
from torch import Tensor

import trimetric as tm
from trimetric._support.tensor_files import CheckpointError


def small_index(n: int = 300, **options: int) -> tuple[tm.search.Index, Tensor, tm.Distance]:
    points, head = torch.randn(n, 3), tm.IntervalQuasimetric(3)
    return tm.search.Index(head, points, **{"leaf_size": 16, "pivots": 4, **options}), points, head


def check(index: tm.search.Index, head: tm.Distance, points: Tensor, ids: Tensor, queries: Tensor) -> None:
    for direction in ("from", "to"):
        found = index.nearest(queries, k=6, direction=direction)
        every = every_distance(head, queries, points, direction=direction)
        places = torch.full((int(ids.max()) + 1,), -1)
        places[ids] = torch.arange(len(ids))
        assert differences(places[found.rows], found.distances, every, 6) == 0


def test_insert_and_delete_equal_a_fresh_index() -> None:
    index, points, head = small_index()
    ids = torch.arange(300)
    for step in range(12):
        new = torch.randn(1 + 9 * step, 3) * (1 + step)
        assert index.insert(new).tolist() == list(range(int(ids.max()) + 1, int(ids.max()) + 1 + len(new)))
        points, ids = torch.cat([points, new]), torch.cat([ids, torch.arange(len(new)) + int(ids.max()) + 1])
        gone = torch.randperm(len(ids) - 1)[: 20 * step]  # never the newest, by which the next ids are known
        index.delete(ids[gone])
        keep = torch.ones(len(ids), dtype=torch.bool)
        keep[gone] = False
        points, ids = points[keep], ids[keep]
        assert len(index) == len(ids)
        assert index.ids.tolist() == ids.tolist()
        check(index, head, points, ids, torch.randn(9, 3))


def test_delete_everything_and_begin_again() -> None:
    index, _, _ = small_index(5)
    index.delete(range(5))
    assert index.nearest(torch.zeros(1, 3)).ids.shape == (1, 0)
    assert index.insert(torch.ones(2, 3)).tolist() == [5, 6]
    assert index.nearest(torch.zeros(1, 3)).ids.tolist() == [[5, 6]]


@pytest.mark.parametrize("verify", [True, False])
def test_comes_back_from_its_file(tmp_path: Path, verify: bool) -> None:
    index = small_index()[0]
    index.insert(torch.randn(7, 3))
    index.delete([1, 2])
    again = tm.search.Index.load(index.save(tmp_path / "points.index"), verify=verify)
    queries = torch.randn(20, 3)
    for direction in ("from", "to"):
        one, other = (each.nearest(queries, k=5, direction=direction) for each in (index, again))
        assert torch.equal(one.ids, other.ids)
        assert torch.equal(one.distances, other.distances)
    assert again.guarantee == index.guarantee
    assert again.insert(torch.randn(2, 3)).tolist() == [307, 308]
    again.delete([307])
    assert len(again) == 306


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    file = small_index(40)[0].save(tmp_path / "points.index")
    content = bytearray(file.read_bytes())
    content[-100] ^= 1
    file.write_bytes(content)
    with pytest.raises(CheckpointError, match="checksum"):
        tm.search.Index.load(file)
    with pytest.raises(CheckpointError, match="no such file"):
        tm.search.Index.load(tmp_path / "nothing.index")
    tm.Model(tm.NormInduced(tm.Euclidean(2))).save(tmp_path / "model")
    with pytest.raises(CheckpointError, match="of format trimetric-index-1, got trimetric-model"):
        tm.search.Index.load(tmp_path / "model")


def test_a_function_cannot_be_saved(tmp_path: Path) -> None:
    index = tm.search.Index(lambda x, y: (x - y).abs().sum(-1), torch.randn(9, 2))
    with pytest.raises(TypeError, match="distance: expected one of Trimetric"):
        index.save(tmp_path / "points.index")


def test_a_function_is_audited_and_the_answer_says_so() -> None:
    points = torch.randn(200, 3)
    index = tm.search.Index(lambda x, y: (x - y).abs().sum(-1), points, leaf_size=16)
    found = index.nearest(points[:9], k=4)
    assert "rests on an audit" in found.guarantee
    exact = torch.cdist(points[:9], points, p=1).topk(4, largest=False)
    assert torch.equal(found.ids, exact.indices)


def test_what_breaks_the_triangle_inequality_is_refused_with_the_triple() -> None:
    points = torch.tensor([[0.0], [1.0], [2.0]])
    with pytest.raises(ValueError, match=r"points 0, 1 and 2|points 2, 1 and 0") as refused:
        tm.search.Index(lambda x, y: (x - y).square().sum(-1), points)
    assert "= 4 > 1 + 1 =" in str(refused.value)
    torch.manual_seed(0)
    with pytest.raises(ValueError, match="breaks it for the points"):
        tm.search.Index(tm.MLPDistance(4), torch.randn(100, 4))
    flat = tm.MLPDistance(4)
    for weight in flat.parameters():
        weight.data.zero_()
    with pytest.raises(ValueError, match='check="audit"'):
        tm.search.Index(flat, torch.randn(30, 4))
    assert "rests on an audit" in tm.search.Index(flat, torch.randn(30, 4), check="audit").guarantee


def test_a_siamese_and_its_tolls_find_the_object_itself() -> None:
    model = tm.Siamese(tm.MLP(5, 8, widths=(16,)), tm.recommended(8, symmetric=False, tolls=True))
    objects = torch.randn(100, 5)
    objects[50:] = objects[:50]
    index = tm.search.Index(model, objects, leaf_size=8)
    found = index.nearest(objects[40:60], k=2)
    assert (found.distances == 0).all()
    assert found.ids.tolist() == [[i % 50, i % 50 + 50] for i in range(40, 60)]


def test_a_model_is_searched_by_name() -> None:
    names = [f"place {i}" for i in range(60)]
    model = tm.Model(tm.NormInduced(tm.WideNorm(2, components=2, width=2)), names, torch.randn(60, 2))
    index = tm.search.Index(model, leaf_size=8)
    found = index.nearest(["place 7", "place 3"], k=3, direction="to")
    assert found.ids[:, 0].tolist() == ["place 7", "place 3"]
    every = model.all_pairs(None, ["place 7", "place 3"]).T
    assert torch.allclose(found.distances, every.topk(3, largest=False).values, rtol=1e-5)
    assert index.insert(torch.zeros(1, 2), names=["middle"]).tolist() == ["middle"]
    assert index.nearest(torch.zeros(1, 2), k=1).ids.tolist() == [["middle"]]
    index.delete(["middle"])
    with pytest.raises(ValueError, match="queries: 'middle' has been deleted"):
        index.nearest(["middle"])
    with pytest.raises(ValueError, match="names: expected names that are new"):
        index.insert(torch.zeros(1, 2), names=["place 1"])
    few = tm.search.Index(model, names[:5])
    assert few.nearest(["place 0"], k=99).ids.shape == (1, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda index: index.nearest(torch.randn(2, 4)), "queries: expected last axis 3"),
        (lambda index: index.nearest(torch.full((1, 3), torch.nan)), "queries: expected finite values"),
        (lambda index: index.nearest(torch.randn(2, 3), k=0), "k: expected a positive integer"),
        (lambda index: index.nearest(torch.randn(2, 3), direction="up"), "direction: expected one of"),
        (lambda index: index.nearest(torch.randn(2, 3), slack=-1), "slack: expected a finite number >= 0"),
        (lambda index: index.within(torch.randn(2, 3), torch.ones(3)), "radius: expected a number or one for each"),
        (lambda index: index.within(torch.randn(2, 3), float("nan")), "radius: expected a finite number"),
        (lambda index: index.delete([99]), "ids: expected ids of points of this index, got 99"),
        (lambda index: index.insert(torch.full((1, 3), torch.inf)), "points: expected finite values"),
        (lambda _: tm.search.Index(tm.IntervalQuasimetric(3)), "points: expected the points"),
        (
            lambda _: tm.search.Index(tm.IntervalQuasimetric(3), torch.full((2, 3), torch.nan)),
            "points: expected fin",
        ),
    ],
)
def test_what_is_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(small_index(9)[0])  # type: ignore[operator]


def test_arrays_are_taken_too() -> None:
    index = tm.search.Index(tm.NormInduced(tm.WideNorm(3)), np.random.default_rng(0).normal(size=(50, 3)))
    assert index.nearest(np.zeros((2, 3)), k=2).ids.shape == (2, 2)


def test_later_training_does_not_change_the_index() -> None:
    model = tm.Siamese(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.5)), tm.WideNorm(4)).train()
    objects = torch.randn(60, 3)
    index = tm.search.Index(model, objects, leaf_size=16)
    assert model.training
    before = index.nearest(objects[:9], k=3)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_()
    after = index.nearest(objects[:9], k=3)
    assert torch.equal(before.distances, after.distances)
    assert torch.equal(before.ids, after.ids)


def test_the_source_tensors_are_left_as_they_are() -> None:
    index, points, _ = small_index(50)
    before = points.clone()
    index.delete([0])
    index.insert(torch.zeros(1, 3))
    assert torch.equal(points, before)


def squared(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x - y).square().sum(-1)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_points_that_are_inserted_are_audited_too(first: int) -> None:
    points = 100 * torch.rand(600, 1, generator=torch.Generator().manual_seed(0))
    index = tm.search.Index(squared, points[:first])
    with pytest.raises(ValueError, match="expected one that keeps the triangle inequality, got squared, which breaks"):
        index.insert(points[first:])
    assert len(index) == first  # nothing has changed


def test_an_audit_is_repeated_when_it_rests_on_few_points() -> None:
    points = torch.rand(700, 2, generator=torch.Generator().manual_seed(0))
    index = tm.search.Index(lambda x, y: (x - y).abs().sum(-1), points[:0])
    assert "there are no points to audit it on" in index.guarantee
    index.insert(points[:50])
    assert "an audit of 125,000 triples of 50 points" in index.guarantee
    index.insert(points[50:])
    assert "an audit of 27,000,000 triples of 300 points" in index.guarantee
    whole = index.nearest(points[:20], k=3).distances
    wanted = torch.cdist(points[:20], points, p=1).sort(dim=1).values[:, :3]
    torch.testing.assert_close(whole, wanted)


def test_what_is_no_id_is_refused() -> None:
    index = tm.search.Index(tm.Euclidean(1), torch.tensor([[0.0], [1.0], [5.0]]))
    bad: list[Any] = [torch.tensor([True, False, False]), [True], [0.7], torch.tensor([1.0]), "a", ["a"]]
    for ids in bad:
        with pytest.raises(TypeError, match="ids: "):
            index.delete(ids)
    assert index.ids.tolist() == [0, 1, 2]
    index.delete([])
    assert index.within(torch.zeros(2, 1), [0.5, 1.0]).counts.tolist() == [1, 2]
    for radius in ("a", [0.5], [0.5, "a"]):
        with pytest.raises((ValueError, TypeError), match=r"radius"):
            index.within(torch.zeros(2, 1), radius)  # type: ignore[arg-type]
    model = tm.Model(tm.NormInduced(tm.Euclidean(1)), ["a", "b"], torch.tensor([[0.0], [5.0]]))
    named = tm.search.Index(model)
    named.delete(["a"])
    with pytest.raises(ValueError, match="queries: 'a' has been deleted from this index"):
        named.nearest(["a"])
    with pytest.raises(ValueError, match="distances of points: expected finite values"):
        tm.search.Index(tm.Euclidean(1).double(), torch.tensor([[0.0], [1e300]], dtype=torch.float64))
