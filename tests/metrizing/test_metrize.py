"""Functions that become metrics, by a corridor and by distillation."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from metrizing.trips import SHORT, minutes, places, student, truth

import trimetric as tm
from trimetric.training.drawn_pairs import BATCHES, DrawnPairs, answers
from trimetric.training.pairs import PairData


def test_a_function_becomes_a_metric_that_equals_it_almost_everywhere() -> None:
    objects = places()
    config = tm.DistillationConfig(steps=300, batch_size=256)
    pairs = torch.randint(60, (500, 2), generator=torch.Generator().manual_seed(1))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    targets = truth(objects[pairs[:, 0]], objects[pairs[:, 1]])
    result = tm.metrize(minutes, objects, pairs=pairs, targets=targets, config=config, progress="silent")
    report = result.report
    assert report.audit_of_f.triangle_defect > 10
    assert report.audit.holds
    assert tm.audit(result.distance, places(150)).triangle_defect == 0  # also between other objects
    assert report.clamped < 0.2
    assert report.errors_of_f is not None
    assert report.errors is not None
    assert report.errors.mse < 0.1 * report.errors_of_f.mse  # what breaks triangles is wrong, and was clamped
    assert report.errors.pairs == len(pairs) // 2
    start, end = pairs[1::2].unbind(1)
    values = result.distance.between_rows(objects, start, end).detach()
    assert report.errors.mse == pytest.approx(float((values - targets[1::2]).double().square().mean()), rel=1e-4)
    assert result.distance.head.floor == report.floor
    assert not report.warnings
    assert "MSE of targets" in str(report)
    assert report.to_dict()["floor"] == report.floor


def test_warns_where_f_is_a_metric_already_where_much_is_clamped_and_where_the_floor_is_large() -> None:
    objects = places()
    base = tm.NormInduced(tm.Euclidean(2))

    def told(f: object, floor: float) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            report = tm.metrize(f, objects, base=base, train_base=False, floor=floor).report  # type: ignore[arg-type]
        assert [str(warning.message) for warning in caught] == [f"metrize: {text}" for text in report.warnings]
        return list(report.warnings)

    (known,) = told(tm.NormInduced(tm.Euclidean(2)), 0.0)
    assert "f keeps the triangle inequality on all 216,000 triples that were measured and promises it" in known
    (clamped,) = told(lambda x, y: 2 + 100 * (y - x).square().sum(-1), 0.01)
    assert "of the pairs were clamped: the base does not follow f; on 60 objects every metric changes it by " in clamped
    clamped, _ = told(lambda x, y: torch.where((97 * x[:, 0] + 31 * y[:, 1]) % 1 < 0.5, 3.0, 30.0), 10.0)
    assert "of the pairs were clamped: f is far from every metric; on 60 objects every metric changes it by " in clamped
    clamped, below = told(lambda x, y: 1 + (y - x).norm(dim=-1) ** 3, 1.2)
    assert "of the pairs were below the floor of 1.2" in below
    (known,) = told(lambda x, y: 1.5 + (y - x).norm(dim=-1), 1.0)
    assert "only f(x, x) has to be set to 0; it may need no corridor" in known


def test_the_nearest_metric_stands_beside_the_learned_one() -> None:
    objects = places(30)
    config = tm.DistillationConfig(steps=300, batch_size=256)
    for symmetric in (False, True):
        result = tm.metrize(minutes, objects, symmetric=symmetric, config=config, progress="silent", warn=False)
        changes, matrix = result.report.changes, tm.all_pairs(tm.FunctionDistance(minutes, 2), objects).double()
        assert changes is not None
        matrix = (matrix + matrix.mT) / 2 if symmetric else matrix
        apart = ~torch.eye(30, dtype=torch.bool)
        exact = tm.nearness.nearest_metric(matrix.fill_diagonal_(0).numpy(), symmetric=symmetric, tolerance=1e-6).matrix
        least = (torch.from_numpy(exact) - matrix)[apart].square().mean()
        assert changes.least == pytest.approx(float(least), rel=2e-3)
        assert changes.least <= changes.own < 5 * changes.least
        own = tm.all_pairs(result.distance, objects).detach()
        assert changes.own == pytest.approx(float((own - matrix)[apart].square().mean()), rel=1e-4)
        assert f"nearest metric:  mean squared change {changes.least:.4g} on 30 objects" in str(result.report)
        assert result.report.to_dict()["changes"] == changes._asdict()
    negative = tm.metrize(lambda x, y: (y - x).sum(-1) + 1, objects, train_base=False, floor=1.0, warn=False)
    assert negative.report.changes is None


def test_objects_without_features_are_followed_closely() -> None:
    random = torch.Generator().manual_seed(0)
    values = 1 + 5 * torch.rand(40, 40, generator=random)
    values = torch.where(torch.rand(40, 40, generator=random) < 0.9, values, 2 * values)
    pairs = (~torch.eye(40, dtype=torch.bool)).nonzero()
    result = tm.metrize_scores(pairs, values[pairs[:, 0], pairs[:, 1]], progress="silent")
    assert result.changes is not None
    assert result.changes.least <= result.changes.own < 4 * result.changes.least
    assert result.changes.own == pytest.approx(result.mean_squared_change, rel=1e-4)
    some = pairs[torch.randperm(len(pairs), generator=random)[:400]]
    partial = tm.metrize_scores(some, values[some[:, 0], some[:, 1]], objects=40, progress="silent")
    assert partial.changes is not None
    assert partial.changes.least < result.changes.least  # fewer triangles can break
    assert partial.changes.own == pytest.approx(partial.mean_squared_change, rel=1e-4)


def test_between_equal_objects_f_need_not_be_a_number() -> None:
    objects = places(20).repeat(2, 1)  # some rows are equal

    def undefined(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.where((x == y).all(-1), torch.nan, minutes(x, y))

    report = tm.metrize(undefined, objects, config=SHORT, progress="silent", warn=False).report
    assert report.audit.holds
    assert report.audit_of_f.triangle_defect > 0
    tm.distil(undefined, student(), objects, config=SHORT, progress="silent")


def test_a_given_floor_leaves_all_targets_for_the_errors() -> None:
    objects = places(10)
    pairs = torch.tensor([[0, 1], [2, 3], [4, 5]])
    targets = truth(objects[pairs[:, 0]], objects[pairs[:, 1]])
    result = tm.metrize(truth, objects, pairs=pairs, targets=targets, train_base=False, floor=10.0, warn=False)
    errors, predicted = result.report.errors, result.distance.between_rows(objects, *pairs.unbind(1))
    assert errors is not None
    assert errors.pairs == 3
    assert errors.mse == pytest.approx(float((predicted - targets).square().mean()), rel=1e-5)


def test_equal_rows_have_no_part_in_the_report() -> None:
    """Four copies of each object: their distance is 0, whatever f says, and not that of the corridor."""
    objects = places(10).repeat(4, 1)
    result = tm.metrize(minutes, objects, train_base=False, floor=10.0, warn=False)
    pairs = (objects[:, None] != objects).any(-1).nonzero()
    changes = result.distance.between_rows(objects, *pairs.unbind(1)) - tm.FunctionDistance(minutes, 2).between_rows(
        objects, *pairs.unbind(1)
    )
    assert result.report.pairs < 10_000
    assert result.report.mean_squared_change == pytest.approx(float(changes.square().mean()), rel=0.1)


def test_a_function_that_changes_its_mind_is_reported() -> None:
    def moody(x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
        return 1 + 3 * torch.rand(len(x))

    result = tm.metrize(moody, places(20), symmetric=True, train_base=False, warn=False)
    assert list(result.report.audit.broken) == ["symmetric"]
    assert result.report.warnings[0].startswith("the distance breaks what it promises: symmetric; f must give the same")


def test_a_function_is_asked_for_its_objects_only() -> None:
    objects = places()

    def picky(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for end in (x, y):
            assert (end[:, None] == objects[None]).all(dim=-1).any(dim=1).all()
        return minutes(x, y)

    base = tm.Calibrated(tm.WideNorm(2, components=4, width=4))
    assert tm.metrize(picky, objects, base=base, config=SHORT, progress="silent", warn=False).report.audit.holds


def test_without_a_base_values_are_kept_within_a_factor_of_two() -> None:
    objects = places()
    torch.manual_seed(0)
    encoder = tm.MLP(2, 4)
    network = tm.Siamese(encoder, tm.MLPDistance(4, widths=(16,), output="softplus"))
    for f, kind in ((minutes, tm.CorridorMetric), (network, tm.Siamese)):
        result = tm.metrize(f, objects, train_base=False, warn=False)
        assert isinstance(result.distance, kind)
        assert result.base is None
        assert result.history is None
        assert result.report.audit.holds
        matrix = tm.all_pairs(result.distance, objects).detach()
        apart = matrix[~torch.eye(60, dtype=torch.bool)]
        assert apart.max() <= 2 * apart.min() * (1 + 1e-6)


def test_equal_objects_do_not_count_in_the_errors() -> None:
    objects = places()
    pairs = torch.tensor([[0, 1], [2, 3], [4, 4], [5, 6], [7, 8], [9, 9]])
    targets = truth(objects[pairs[:, 0]], objects[pairs[:, 1]])
    result = tm.metrize(truth, objects, pairs=pairs, targets=targets, train_base=False, warn=False)
    assert result.report.errors is not None
    assert result.report.errors.pairs == 2


def test_symmetric_and_several_functions() -> None:
    objects = places()
    torch.manual_seed(0)
    members = [tm.Siamese(tm.MLP(2, 4), tm.MLPDistance(4, widths=(8,), output="softplus")) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fresh networks are nearly constant, hence metrics
        result = tm.metrize(members, objects, symmetric=True, config=SHORT, progress="silent")
    assert result.distance.axioms.symmetric
    assert result.report.audit.holds
    x, y = objects[:30], objects[30:]
    mean = torch.stack([member(x, y) + member(y, x) for member in members]).sum(dim=0) / 4
    assert result.base is not None
    base = result.base(x, y)
    expected = torch.minimum(torch.maximum(mean, base + result.report.floor), base + 2 * result.report.floor)
    torch.testing.assert_close(result.distance(x, y), expected)


def test_scores_of_a_pair_agree() -> None:
    def metrized(pairs: list[tuple[int, int]], scores: list[float], *, symmetric: bool = False) -> tm.MetrizedScores:
        ends, given = torch.tensor(pairs), torch.tensor(scores)
        return tm.metrize_scores(ends, given, symmetric=symmetric, config=SHORT, progress="silent")

    with pytest.raises(ValueError, match="scores: expected one score for the pair 0, 1, got 1 in row 0 and 5 in row 3"):
        metrized([(0, 1), (1, 2), (0, 2), (0, 1)], [1.0, 1.0, 2.0, 5.0])
    with pytest.raises(
        ValueError, match="scores: expected the same score from 1 to 0 as back, got 1 in row 0 and 3 in"
    ):
        metrized([(0, 1), (1, 0), (0, 2)], [1.0, 3.0, 2.0], symmetric=True)
    with pytest.raises(ValueError, match="scores: expected values of at least 0, got -1 in row 1"):
        metrized([(0, 1), (1, 2)], [2.0, -1.0])
    with pytest.raises(ValueError, match="pairs: expected two different objects in some row"):
        metrized([(0, 0), (1, 1)], [0.0, 0.0])
    again = metrized([(0, 1), (1, 2), (0, 2), (0, 1)], [1.0, 1.0, 2.0, 1.0])
    assert again.distances[0] == again.distances[3]
    both = metrized([(0, 1), (1, 0), (0, 2)], [1.0, 1.0, 2.0], symmetric=True)
    assert both.distances[0] == both.distances[1]


def test_scores_of_an_object_and_itself() -> None:
    pairs = torch.tensor([[0, 1], [1, 2], [0, 2], [1, 1]])
    expected = "scores: expected 0 from an object to itself, got 1000 in row 3"
    with pytest.raises(ValueError, match=expected):
        tm.metrize_scores(pairs, torch.tensor([1.0, 1.0, 2.0, 1000.0]), config=SHORT, progress="silent")
    scores = torch.tensor([1.0, 1.0, 2.0, 0.0])
    with_itself = tm.metrize_scores(pairs, scores, config=SHORT, progress="silent")
    without = tm.metrize_scores(pairs[:3], scores[:3], config=SHORT, progress="silent")
    assert with_itself.floor == without.floor
    assert with_itself.distances.tolist() == [*without.distances.tolist(), 0.0]


def test_numbers_of_objects_are_objects_too() -> None:
    torch.manual_seed(0)
    network = tm.Siamese(torch.nn.Embedding(20, 4), tm.MLPDistance(4, widths=(8,), output="softplus"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = tm.metrize(network, torch.arange(20), config=SHORT, progress="silent")
    assert tm.audit(result.distance, torch.arange(20)).holds
    tm.Model(result.distance, [str(i) for i in range(20)])


def test_distillation_learns_a_function_and_mixes_in_labeled_pairs() -> None:
    objects = places()
    pupil = student()
    pairs = torch.cartesian_prod(torch.arange(60), torch.arange(60))
    lengths = torch.where(pairs[:, 0] == pairs[:, 1], 0, truth(objects[pairs[:, 0]], objects[pairs[:, 1]]))
    config = tm.DistillationConfig(steps=300, batch_size=256, labeled=32)
    history = tm.distil(
        minutes,
        pupil,
        objects,
        pairs=pairs,
        targets=lengths,
        validation=(pairs, lengths),
        config=config,
        progress="silent",
    )
    assert history.epochs[-1].validation_mse is not None
    assert history.epochs[-1].validation_mse < 0.3 * lengths.var()
    assert tm.audit(pupil, objects).holds


@pytest.mark.parametrize("labeled", [False, True])
def test_a_resumed_run_ends_with_the_same_weights(labeled: bool, tmp_path: Path) -> None:
    objects, file = places(), tmp_path / "run.checkpoint"
    pairs = torch.tensor([[0, 1], [2, 3], [4, 5]])
    extra: dict[str, Any] = {"pairs": pairs, "targets": torch.tensor([1.0, 2.0, 3.0])} if labeled else {}
    config = tm.DistillationConfig(steps=150, batch_size=32, checkpoint_seconds=0.0)
    config = replace(config, labeled=4) if labeled else config

    def stop(epoch: tm.Epoch) -> None:
        if epoch.epoch == 1:
            raise InterruptedError

    whole, resumed = student(), student()
    teachers = [minutes, lambda x, y: minutes(y, x)]
    tm.distil(teachers, whole, objects, config=config, progress="silent", **extra)
    with pytest.raises(InterruptedError):
        tm.distil(
            teachers, resumed, objects, config=config, callbacks=[stop], checkpoint=file, progress="silent", **extra
        )
    resumed = student(seed=9)
    tm.distil(teachers, resumed, objects, config=config, checkpoint=file, progress="silent", **extra)
    for mine, its in zip(whole.state_dict().values(), resumed.state_dict().values(), strict=True):
        assert torch.equal(mine, its)
    with pytest.raises(Exception, match="the training data, or what is learned from them, differ"):
        tm.distil(teachers[:1], student(), objects, config=config, checkpoint=file, progress="silent", **extra)


def test_pairs_are_fresh_in_every_step_and_the_same_for_a_seed() -> None:
    objects = places(500)
    asked = [
        answers(tm.FunctionDistance(minutes, 2), objects),
        answers(tm.FunctionDistance(minutes, 2), objects, reverse=True),
    ]
    known = PairData(torch.tensor([[0, 1], [2, 3], [4, 5]]), torch.tensor([10.0, 20.0, 30.0]), objects)
    data = DrawnPairs(asked, objects, unlabeled=100, labeled=known, labeled_pairs=2, labeled_weight=3.0, shift=-1.0)
    order = data.begin_epoch(7, 0)
    assert torch.equal(order, torch.arange(BATCHES * 102))
    first, targets = data.pairs.clone().view(BATCHES, 102, 2), data.targets.clone().view(BATCHES, 102)  # type: ignore[union-attr]
    drawn = first[:, :100].flatten(0, 1)
    assert len(drawn.unique(dim=0)) > 0.97 * len(drawn)
    assert first[0, :100].unique().numel() <= 50  # few objects to embed in a step
    forward = minutes(objects[first[0, :100, 0]], objects[first[0, :100, 1]]) - 1
    backward = minutes(objects[first[1, :100, 1]], objects[first[1, :100, 0]]) - 1
    differ = first[:, :100, 0] != first[:, :100, 1]
    torch.testing.assert_close(targets[0, :100][differ[0]], forward[differ[0]])
    torch.testing.assert_close(targets[1, :100][differ[1]], backward[differ[1]])
    counts = targets[:, 100:].flatten().unique(return_counts=True)
    assert counts[0].tolist() == [9, 19, 29]
    assert counts[1].max() - counts[1].min() <= 1  # an endless sequence of shuffles
    assert data.weights is not None
    weights = data.weights.view(BATCHES, 102)[0]
    assert float(weights[:100].sum()) == pytest.approx(102)
    assert float(weights[100:].sum()) == pytest.approx(3 * 102)
    data.begin_epoch(7, 1)
    assert not torch.equal(data.pairs.view(BATCHES, 102, 2)[:, :100], first[:, :100])  # type: ignore[union-attr]
    data.begin_epoch(7, 0)
    assert torch.equal(data.pairs.view(BATCHES, 102, 2), first)  # type: ignore[union-attr]
    assert torch.equal(data.targets.view(BATCHES, 102), targets)
