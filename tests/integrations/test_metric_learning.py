"""The adapter for pytorch-metric-learning: its losses and miners train our heads, in the stated direction."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import trimetric as tm

pytest.importorskip("pytorch_metric_learning", reason="needs the extra `metric-learning`")

from pytorch_metric_learning import losses, miners
from pytorch_metric_learning.distances import LpDistance
from pytorch_metric_learning.reducers import MeanReducer
from pytorch_metric_learning.utils.inference import CustomKNN

from trimetric.integrations.pytorch_metric_learning import TriangleDistance

DIM = 6

HEADS: dict[str, Callable[[], tm.Norm | tm.Distance]] = {
    "wide": lambda: tm.WideNorm(DIM, components=4, width=4),
    "neural-deep": lambda: tm.NeuralMetric(tm.DeepNorm(DIM, widths=(8, 8))),
    "mahalanobis": lambda: tm.Mahalanobis(DIM),
}
# Their default reducer averages what is not 0, a number that can rise while every term falls: average all.
LOSSES: dict[str, Callable[[TriangleDistance], nn.Module]] = {
    "triplet": lambda d: losses.TripletMarginLoss(margin=0.5, reducer=MeanReducer(), distance=d),
    "triplet-swap": lambda d: losses.TripletMarginLoss(margin=0.5, swap=True, reducer=MeanReducer(), distance=d),
    "contrastive": lambda d: losses.ContrastiveLoss(pos_margin=0, neg_margin=2, reducer=MeanReducer(), distance=d),
    "nt-xent": lambda d: losses.NTXentLoss(temperature=0.5, distance=d),
    "supcon": lambda d: losses.SupConLoss(temperature=0.5, distance=d),
    "multi-similarity": lambda d: losses.MultiSimilarityLoss(alpha=2, beta=10, base=1, distance=d),
    "margin": lambda d: losses.MarginLoss(margin=0.2, beta=1.2, learn_beta=True, distance=d),
}
MINERS: dict[str, Callable[[TriangleDistance], nn.Module]] = {
    "semihard": lambda d: miners.TripletMarginMiner(margin=0.5, type_of_triplets="semihard", distance=d),
    "batch-semihard": lambda d: miners.BatchEasyHardMiner(pos_strategy="hard", neg_strategy="semihard", distance=d),
    "batch-hard": lambda d: miners.BatchHardMiner(distance=d),
    "multi-similarity": lambda d: miners.MultiSimilarityMiner(epsilon=0.1, distance=d),
    "pair-margin": lambda d: miners.PairMarginMiner(pos_margin=0.2, neg_margin=1.5, distance=d),
}


def batch(n: int = 48, classes: int = 8) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(n) % classes
    return torch.randn(classes, 10, generator=generator)[labels] + torch.randn(n, 10, generator=generator), labels


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_trains_encoder_and_head(loss: str, head: str) -> None:
    objects, labels = batch()
    encoder = nn.Linear(10, DIM)
    distance = TriangleDistance(HEADS[head]())
    measure = LOSSES[loss](distance)
    parameters = [*encoder.parameters(), *measure.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=0.01)
    start = {name: value.detach().clone() for name, value in distance.named_parameters()}
    values = []
    for _ in range(25):
        optimizer.zero_grad()
        value = measure(encoder(objects), labels)
        value.backward()
        assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in parameters)
        optimizer.step()
        values.append(value.item())
    assert values[-1] < 0.8 * values[0]
    assert any(not torch.equal(value, start[name]) for name, value in distance.named_parameters())
    assert tm.audit(distance.distance, encoder(objects).detach()).holds


@pytest.mark.parametrize("miner", MINERS)
@pytest.mark.parametrize("head", HEADS)
def test_miners_find_what_the_distances_say(miner: str, head: str) -> None:
    torch.manual_seed(1)
    embeddings, labels = torch.randn(40, DIM), torch.arange(40) % 5
    distance = TriangleDistance(HEADS[head]())
    with torch.no_grad():
        matrix = distance.distance(embeddings[:, None], embeddings[None])
    found = MINERS[miner](distance)(embeddings, labels)
    assert len(found[0]) > 0
    positives = matrix[found[0], found[1]]
    negatives = matrix[found[-2] if len(found) == 4 else found[0], found[-1]]
    if "semihard" in miner:
        assert (negatives > positives).all()
    if miner == "semihard":
        assert (negatives <= positives + 0.5).all()
        margins = matrix[:, None, :] - matrix[:, :, None]  # anchor, positive, negative
        same = labels[:, None] == labels
        valid = (same & ~torch.eye(40, dtype=torch.bool))[:, :, None] & ~same[:, None, :]
        assert len(found[0]) == int((valid & (margins > 0) & (margins <= 0.5)).sum())
    if miner == "batch-hard":
        hardest = matrix.masked_fill(labels[:, None] != labels, -1).amax(dim=1)
        torch.testing.assert_close(positives, hardest[found[0]], rtol=1e-4, atol=1e-5)
    if miner == "pair-margin":
        assert (positives > 0.2 - 1e-4).all()
        assert (negatives < 1.5 + 1e-4).all()


@pytest.mark.parametrize("head", HEADS)
def test_the_matrix_goes_from_query_to_reference(head: str) -> None:
    distance = TriangleDistance(HEADS[head]())
    query, reference = torch.randn(5, DIM), torch.randn(7, DIM)
    expected = distance.distance(query[:, None], reference[None])
    torch.testing.assert_close(distance(query, reference), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(distance.pairwise_distance(query, reference[:5]), expected[:, :5].diagonal())
    assert distance(query).diagonal().eq(0).all()
    if head == "wide":
        assert not torch.allclose(expected.mT, distance(reference, query), atol=1e-2)


def test_it_is_their_euclidean_distance_with_our_euclidean_norm() -> None:
    ours, theirs = TriangleDistance(tm.Euclidean(DIM)), LpDistance(normalize_embeddings=False)
    assert (ours.normalize_embeddings, ours.power, ours.is_inverted) == (False, 1, False)
    embeddings, labels = torch.randn(30, DIM), torch.arange(30) % 5
    # Off the diagonal, where torch.cdist is up to 1e-3 instead of 0.
    others = ~torch.eye(30, dtype=torch.bool)
    torch.testing.assert_close(ours(embeddings)[others], theirs(embeddings)[others], rtol=1e-4, atol=1e-5)
    for name, make in LOSSES.items():
        values = [make(d)(embeddings, labels).item() for d in (ours, theirs)]
        assert values[0] == pytest.approx(values[1], rel=1e-4), name


def test_the_head_belongs_to_the_loss() -> None:
    head = tm.WideNorm(DIM)
    distance = TriangleDistance(head)
    loss = losses.TripletMarginLoss(distance=distance)
    assert {id(p) for p in loss.parameters()} == {id(p) for p in head.parameters()}
    loss.to(torch.float64)
    assert next(head.parameters()).dtype == torch.float64
    embeddings = torch.randn(12, DIM, dtype=torch.float64)
    assert distance(embeddings).dtype == torch.float64
    again = copy.deepcopy(loss)
    again.load_state_dict(loss.state_dict())
    labels = torch.arange(12) % 3
    assert torch.equal(again(embeddings, labels), loss(embeddings, labels))


@pytest.mark.parametrize("head", HEADS)
def test_under_autocast_the_head_keeps_its_precision(head: str) -> None:
    objects, labels = batch()
    encoder, distance = nn.Linear(10, DIM), TriangleDistance(HEADS[head]())
    loss, miner = losses.TripletMarginLoss(margin=5, distance=distance), miners.BatchHardMiner(distance=distance)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        embeddings = encoder(objects)
        value = loss(embeddings, labels, miner(embeddings, labels))
        matrix = distance(embeddings)
        paired = distance.pairwise_distance(embeddings, embeddings.flip(0))
    assert embeddings.dtype == torch.bfloat16
    assert matrix.dtype == paired.dtype == torch.float32
    expected = distance.distance(embeddings[:, None].float(), embeddings[None].float())
    torch.testing.assert_close(matrix, expected, rtol=1e-4, atol=1e-5)
    value.backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in encoder.parameters())


def test_retrieval_and_cross_batch_memory() -> None:
    distance = TriangleDistance(tm.WideNorm(DIM))
    query, reference = torch.randn(9, DIM), torch.randn(40, DIM)
    for batch_size in (None, 4):
        with torch.no_grad():
            found, indices = CustomKNN(distance, batch_size=batch_size)(query, 3, reference)
            expected = tm.all_pairs(distance.distance, query, reference).topk(3, largest=False)
        assert torch.equal(indices, expected.indices)
        torch.testing.assert_close(found, expected.values, rtol=1e-4, atol=1e-5)
    memory = losses.CrossBatchMemory(losses.ContrastiveLoss(neg_margin=3, distance=distance), DIM, memory_size=32)
    for _ in range(3):
        embeddings = torch.randn(8, DIM, requires_grad=True)
        memory(embeddings, torch.arange(8) % 4).backward()
        assert embeddings.grad is not None
        assert torch.isfinite(embeddings.grad).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TriangleDistance(LpDistance()), "distance: expected a Norm or a Distance, got LpDistance"),
        (lambda: TriangleDistance(tm.WideNorm(4), max_memory="lots"), "max_memory: expected bytes"),
        (lambda: TriangleDistance(tm.WideNorm(4))(torch.randn(3, 5)), r"x: expected last axis 4, got shape \(3, 5\)"),
    ],
)
def test_messages(call: Callable[[], Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_the_example() -> None:
    from examples import semihard_triplets

    outcome = semihard_triplets.run(semihard_triplets.Config(steps=20, classes=40, learning_rate=0.01))
    assert outcome.recall_after > 5 * outcome.recall_before
    assert outcome.recall_after > 0.4
    assert outcome.all_pairs_seconds > 0
