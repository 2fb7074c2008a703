"""Training from labels: what is learned, in which order, and resumed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import trimetric as tm
from trimetric._support.tensor_files import CheckpointError
from trimetric.labels import ProxyLoss, TripletLoss, fit_labels, fit_tuples
from trimetric.labels.data import PER_CLASS, LabeledObjects
from trimetric.models.heads import make_head


def blobs(count: int = 90, classes: int = 3) -> tuple[Tensor, Tensor]:
    """Classes that overlap in every feature but the first two."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(count) % classes
    angle = 2 * torch.pi * labels / classes
    centers = torch.stack([angle.cos(), angle.sin()], dim=1)
    noise = 3 * torch.randn(count, 4, generator=generator)
    return torch.cat([centers + 0.2 * torch.randn(count, 2, generator=generator), noise], dim=1), labels


def network(head: Any = "wide", **options: Any) -> tm.Siamese:
    torch.manual_seed(1)
    return tm.Siamese(tm.MLP(6, 4, widths=(16,)), tm.Calibrated(make_head(head, 4, **options)))


def recall(model: tm.Siamese, objects: Tensor, labels: Tensor) -> float:
    with torch.no_grad():
        nearest = tm.all_pairs(model, objects).fill_diagonal_(torch.inf).argmin(dim=1)
    return (labels[nearest] == labels).float().mean().item()


CONFIG = tm.TrainingConfig(epochs=25, batch_size=45, learning_rate=0.03)


@pytest.mark.parametrize("loss", ["triplet", "contrastive", "nt_xent", "multi_similarity", "proxy"])
@pytest.mark.parametrize(("head", "symmetric"), [("wide", False), ("interval", True)])
def test_every_loss_learns_by_every_kind_of_head(loss: Any, head: Any, symmetric: bool) -> None:
    objects, labels = blobs()
    model = network(head, symmetric=symmetric)
    before = recall(model, objects, labels)
    history = fit_labels(model, objects, labels, loss=loss, config=CONFIG, progress="silent")
    assert history.epochs[-1].loss < history.epochs[0].loss
    assert recall(model, objects, labels) > max(0.8, before)
    assert not model.training
    assert tm.audit(model, objects).holds


def test_the_distances_begin_at_1() -> None:
    objects, labels = blobs()
    model = network()
    config = tm.TrainingConfig(epochs=1, batch_size=90, learning_rate=1e-12)
    fit_labels(model, 100 * objects, labels, config=config, progress="silent")
    with torch.no_grad():
        distances = tm.all_pairs(model, 100 * objects)[~torch.eye(90, dtype=torch.bool)]
    assert distances.mean().item() == pytest.approx(1, rel=1e-4)


def test_an_epoch_has_every_object_once_and_classes_together() -> None:
    objects, labels = torch.zeros(100, 2), torch.arange(100) % 30
    data = LabeledObjects(objects, labels, TripletLoss())
    order = data.begin_epoch(5, 2)
    assert torch.equal(order.sort().values, torch.arange(100))
    assert torch.equal(order, data.begin_epoch(5, 2))
    assert not torch.equal(order, data.begin_epoch(5, 3))
    runs = torch.unique_consecutive(labels[order], return_counts=True)[1]
    assert int(runs.min()) >= 3  # classes of 3 or 4 objects come as one group
    many = LabeledObjects(torch.zeros(200, 2), torch.arange(200) % 2, TripletLoss()).begin_epoch(0, 0)
    groups = (many % 2).view(-1, PER_CLASS)
    assert (groups == groups[:, :1]).all()


@pytest.mark.parametrize("batch_size", [3, 4, 5, 6, 7])
@pytest.mark.parametrize("classes", [2, 3, 10])
def test_small_batches_have_several_classes_and_learn(batch_size: int, classes: int) -> None:
    objects, labels = blobs(60, classes)
    data = LabeledObjects(objects, labels, TripletLoss(), batch_size)
    order = data.begin_epoch(1, 0)
    assert torch.equal(order.sort().values, torch.arange(60))
    for batch in order.split(batch_size):
        kinds, counts = labels[batch].unique(return_counts=True)
        assert len(kinds) > 1 or len(batch) < batch_size
        assert int(counts.max()) > 1 or len(batch) < batch_size
    config = tm.TrainingConfig(epochs=1, batch_size=batch_size)
    assert fit_labels(network(), objects, labels, config=config, progress="silent").epochs[0].loss > 0


class Bare(tm.labels.LabelLoss):
    """A loss without a repr of its own."""

    def __init__(self, margin: Any) -> None:
        self.margin = margin

    def of_matrix(self, distances: Tensor, same: Tensor, different: Tensor) -> Tensor:
        near, far = distances[same].sum(), (1 - distances[different]).relu().sum()
        return (near + far) / len(distances)


def test_a_loss_without_a_repr_resumes_by_its_attributes(tmp_path: Path) -> None:
    def learn(margin: Any, file: Path | None = tmp_path / "run.checkpoint") -> Tensor:
        model = network()
        fit_labels(model, OBJECTS, LABELS, loss=Bare(margin), config=CONFIG, checkpoint=file, progress="silent")
        return torch.cat([p.detach().flatten() for p in model.parameters()])

    assert torch.equal(learn(1.0), learn(1.0))
    with pytest.raises(CheckpointError, match="differ"):
        learn(2.0)
    with pytest.raises(ValueError, match="checkpoint: expected None with Bare"):
        learn(object())
    learn(object(), None)


def test_proxies_begin_as_the_means_of_their_classes_and_learn() -> None:
    objects, labels = blobs()
    data = LabeledObjects(objects, labels, ProxyLoss())
    model = network()
    start = data.start_of_proxies(model)
    with torch.no_grad():
        expected = torch.stack([model.embed(objects[labels == c]).mean(dim=0) for c in range(3)])
    torch.testing.assert_close(start.detach(), expected)
    data.loss_of(model, torch.arange(20), start).backward()
    assert start.grad is not None
    assert bool(start.grad.any())


@pytest.mark.parametrize("loss", ["triplet", "proxy"])
def test_an_interrupted_run_resumes_bit_by_bit(loss: Any, tmp_path: Path) -> None:
    objects, labels = blobs()
    config = tm.TrainingConfig(epochs=4, batch_size=32, checkpoint_seconds=0)
    whole, resumed = network(), network()
    fit_labels(whole, objects, labels, loss=loss, config=config, progress="silent")

    class InterruptedError(Exception):
        pass

    calls = 0

    def interrupt(*_: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 7:
            raise InterruptedError

    hook = resumed.encoder.register_forward_pre_hook(interrupt)
    with pytest.raises(InterruptedError):
        fit_labels(resumed, objects, labels, loss=loss, config=config, checkpoint=tmp_path / "run", progress="silent")
    hook.remove()
    again = network()
    fit_labels(again, objects, labels, loss=loss, config=config, checkpoint=tmp_path / "run", progress="silent")
    for name, value in whole.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name
    with pytest.raises(CheckpointError, match=r"(?s)belongs to another run.*the custom loss differs"):
        fit_labels(
            network(), objects, labels, loss=TripletLoss(margin=2), config=config, checkpoint=tmp_path / "run",
            progress="silent",
        )  # fmt: skip


def uphill(x: Tensor, y: Tensor) -> Tensor:
    change = y - x
    return (change.relu() + 3 * (-change).relu()).sum(dim=-1)


@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("loss", ["triplet", "nt_xent"])
def test_comparisons_teach_a_direction(size: int, loss: Any) -> None:
    generator = torch.Generator().manual_seed(0)
    objects = torch.rand(100, 2, generator=generator)
    tuples = torch.randint(100, (3000, size), generator=generator)
    first, second = (tuples[:, :2], tuples[:, [0, 2]]) if size == 3 else (tuples[:, :2], tuples[:, 2:])
    swap = uphill(*objects[first].unbind(1)) > uphill(*objects[second].unbind(1))
    parts = [torch.where(swap[:, None], second, first), torch.where(swap[:, None], first, second)]
    ordered = torch.cat([parts[0], parts[1][:, 1:]] if size == 3 else parts, dim=1)
    torch.manual_seed(0)
    model = tm.Siamese(tm.MLP(2, 8, widths=(16,)), tm.Calibrated(tm.WideNorm(8)))
    config = tm.TrainingConfig(epochs=10, batch_size=100, learning_rate=0.01)
    fit_tuples(model, ordered, objects=objects, loss=loss, config=config, progress="silent")
    start, end = torch.randint(100, (2, 400), generator=generator)
    with torch.no_grad():
        there, back = model.between_rows(objects, start, end), model.between_rows(objects, end, start)
    truth = uphill(objects[start], objects[end]) - uphill(objects[end], objects[start])
    clear = truth.abs() > 0.2
    assert ((there - back)[clear].sign() == truth[clear].sign()).float().mean() > 0.95


def test_pairs_teach_what_is_similar() -> None:
    objects, labels = blobs()
    pairs = torch.randint(90, (600, 2), generator=torch.Generator().manual_seed(0))
    similar = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    model = network()
    fit_tuples(model, pairs, similar, objects=objects, config=CONFIG, progress="silent")
    assert recall(model, objects, labels) > 0.8


OBJECTS, LABELS = blobs()
LINE = torch.arange(90)


def labels_with(**changed: Any) -> Callable[[], Any]:
    given = {"model": network(), "objects": OBJECTS, "labels": LABELS, "progress": "silent"} | changed
    return lambda: fit_labels(**given)


def tuples_with(tuples: Any, similar: Any = None, **changed: Any) -> Callable[[], Any]:
    return lambda: fit_tuples(network(), tuples, similar, **({"objects": OBJECTS, "progress": "silent"} | changed))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (labels_with(labels=LABELS.float()), "labels: expected 90 integers, .*float32"),
        (labels_with(labels=LABELS[:5]), r"labels: expected 90 integers, one for each object, got shape \(5,\)"),
        (labels_with(labels=0 * LABELS), "labels: expected at least 2 classes, got 1"),
        (labels_with(labels=LINE), "labels: expected a class with at least 2 objects, got 90 classes of one each"),
        (labels_with(objects=OBJECTS[:, :5]), r"expected last axis 6|objects: expected"),
        (labels_with(objects=OBJECTS * torch.nan), "objects: expected finite"),
        (labels_with(model=nn.Linear(2, 2)), "model: expected a Siamese"),
        (labels_with(loss="angular"), "loss: expected one of"),
        (labels_with(config=tm.TrainingConfig(batch_size=1)), "config: expected batch_size >= 3, .* got 1"),
        (labels_with(config=tm.TrainingConfig(batch_size=2)), "config: expected batch_size >= 3, .* got 2"),
        (labels_with(config=tm.TrainingConfig(loss="huber")), "config: expected loss='squared', as it has no effect"),
        (labels_with(config=tm.TrainingConfig(patience=3)), "config: expected patience=None, as it has no effect"),
        (tuples_with(LINE), r"tuples: expected indices of shape \(n, 2\) for pairs, .*got shape \(90,\)"),
        (tuples_with(LINE.view(-1, 2)), "similar: expected which of the pairs are similar, got None"),
        (tuples_with(LINE.view(-1, 2), LINE[:45]), "similar: expected 45 booleans"),
        (
            tuples_with(LINE.view(-1, 2), LINE[:45] >= 0),
            "similar: expected similar and dissimilar pairs, got 45 .*are all s",
        ),
        (
            tuples_with(LINE.view(-1, 2), LINE[:45] < 0),
            "similar: expected similar and dissimilar pairs, .* all dissimilar",
        ),
        (tuples_with(LINE.view(-1, 3), loss=""), "loss: expected one of 'triplet'"),
        (tuples_with(LINE.view(-1, 3), loss=0), "loss: expected a LabelLoss or a name"),
        (tuples_with(LINE.view(-1, 3), LINE[:30] > 3), "similar: expected None with tuples of 3"),
        (tuples_with(LINE.view(-1, 3) + 1), "tuples: expected rows of the 90 objects, got 1 to 90"),
        (tuples_with(LINE.view(-1, 3), loss="proxy"), "loss: expected a loss of comparisons.*got ProxyLoss"),
        (tuples_with(LINE.view(-1, 2), LINE[:45] > 3, loss="triplet"), "loss: expected a loss of pairs.*got TripletLo"),
    ],
)
def test_messages(call: Callable[[], Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()
