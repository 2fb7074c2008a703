"""Each loss from labels is what its formula says, pair by pair, in slow Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from trimetric.labels import (
    ContrastiveLoss,
    LabelLoss,
    MultiSimilarityLoss,
    NTXentLoss,
    ProxyLoss,
    TripletLoss,
    make_label_loss,
)

Numbers = list[list[float]]


def pairs(labels: list[int], *, same: bool) -> Iterator[tuple[int, int]]:
    for i, one in enumerate(labels):
        for j, other in enumerate(labels):
            if i != j and (one == other) == same:
                yield i, j


def semihard(d: Numbers, labels: list[int], margin: float) -> float:
    terms = []
    for a, p in pairs(labels, same=True):
        negatives = [d[a][n] for i, n in pairs(labels, same=False) if i == a]
        if negatives:
            farther = [value for value in negatives if value > d[a][p]]
            far = min(farther) if farther else max(negatives)
            terms.append(max(0.0, d[a][p] - far + margin))
    return sum(terms) / len(terms)


def hard(d: Numbers, labels: list[int], margin: float) -> float:
    terms = []
    for a in range(len(labels)):
        positives = [d[a][p] for i, p in pairs(labels, same=True) if i == a]
        negatives = [d[a][n] for i, n in pairs(labels, same=False) if i == a]
        if positives and negatives:
            terms.append(max(0.0, max(positives) - min(negatives) + margin))
    return sum(terms) / len(terms)


def contrastive(d: Numbers, labels: list[int], margin: float) -> float:
    pull = [d[i][j] ** 2 for i, j in pairs(labels, same=True)]
    push = [max(0.0, margin - d[i][j]) ** 2 for i, j in pairs(labels, same=False)]
    return sum(pull) / len(pull) + sum(push) / len(push)


def nt_xent(d: Numbers, labels: list[int], temperature: float) -> float:
    terms = []
    for a, p in pairs(labels, same=True):
        others = sum(math.exp(-d[a][n] / temperature) for i, n in pairs(labels, same=False) if i == a)
        here = math.exp(-d[a][p] / temperature)
        if others:
            terms.append(-math.log(here / (here + others)))
    return sum(terms) / len(terms)


def multi_similarity(d: Numbers, labels: list[int], alpha: float, beta: float, base: float, epsilon: float) -> float:
    total = 0.0
    for a in range(len(labels)):
        positives = [d[a][p] for i, p in pairs(labels, same=True) if i == a]
        negatives = [d[a][n] for i, n in pairs(labels, same=False) if i == a]
        nearest, farthest = min(negatives, default=math.inf), max(positives, default=-math.inf)
        pull = sum(math.exp(alpha * (x - base)) for x in positives if x > nearest - epsilon)
        push = sum(math.exp(-beta * (x - base)) for x in negatives if x < farthest + epsilon)
        total += math.log(1 + pull) / alpha + math.log(1 + push) / beta
    return total / len(labels)


CASES: dict[str, tuple[LabelLoss, Callable[[Numbers, list[int]], float]]] = {
    "semihard": (TripletLoss(margin=0.3), lambda d, y: semihard(d, y, 0.3)),
    "hard": (TripletLoss(margin=0.3, mining="hard"), lambda d, y: hard(d, y, 0.3)),
    "contrastive": (ContrastiveLoss(margin=1.2), lambda d, y: contrastive(d, y, 1.2)),
    "nt_xent": (NTXentLoss(temperature=0.4), lambda d, y: nt_xent(d, y, 0.4)),
    "multi_similarity": (
        MultiSimilarityLoss(alpha=2, beta=8, base=0.6, epsilon=0.2),
        lambda d, y: multi_similarity(d, y, 2, 8, 0.6, 0.2),
    ),
}


def masks(labels: Tensor) -> tuple[Tensor, Tensor]:
    same = labels[:, None] == labels
    return same & ~torch.eye(len(labels), dtype=torch.bool), ~same


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(5))
def test_a_loss_is_its_formula(name: str, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(4, (12,), generator=generator)
    labels[-1] = 9  # a class of one object: an anchor without positives
    distances = torch.rand(12, 12, generator=generator, dtype=torch.float64)  # not symmetric
    loss, slow = CASES[name]
    expected = slow(distances.tolist(), labels.tolist())
    assert loss.of_matrix(distances, *masks(labels)).item() == pytest.approx(expected, rel=1e-9)


def test_the_loss_of_proxies_is_its_formula() -> None:
    distances, labels = torch.rand(7, 3, dtype=torch.float64), torch.tensor([0, 2, 1, 1, 0, 2, 2])
    same = labels[:, None] == torch.arange(3)
    terms = []
    for row, label in zip(distances.tolist(), labels.tolist(), strict=True):
        shares = [math.exp(-value / 0.5) for value in row]
        terms.append(-math.log(shares[label] / sum(shares)))
    found = ProxyLoss(temperature=0.5).of_matrix(distances, same, ~same).item()
    assert found == pytest.approx(sum(terms) / len(terms), rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_right_and_finite(name: str) -> None:
    generator = torch.Generator().manual_seed(3)
    labels = torch.tensor([0, 0, 0, 1, 1, 2])
    distances = torch.rand(6, 6, generator=generator, dtype=torch.float64, requires_grad=True)
    loss = CASES[name][0]
    assert torch.autograd.gradcheck(lambda d: loss.of_matrix(d, *masks(labels)), distances)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2], [0]])
def test_a_batch_without_positives_or_negatives_gives_finite_numbers(name: str, labels: list[int]) -> None:
    distances = torch.rand(len(labels), len(labels), requires_grad=True)
    value = CASES[name][0].of_matrix(distances, *masks(torch.tensor(labels)))
    value.backward()
    assert torch.isfinite(value)
    assert distances.grad is not None
    assert torch.isfinite(distances.grad).all()


def test_pairs_and_comparisons() -> None:
    near, far = torch.tensor([0.2, 1.0, 0.5]), torch.tensor([0.9, 0.8, 0.6])
    triplet = sum(max(0.0, a - b + 0.3) for a, b in zip(near.tolist(), far.tolist(), strict=True)) / 3
    assert TripletLoss(margin=0.3).of_comparisons(near, far).item() == pytest.approx(triplet, rel=1e-5)
    terms = [-math.log(math.exp(-a) / (math.exp(-a) + math.exp(-b))) for a, b in zip(near, far, strict=True)]
    assert NTXentLoss(temperature=1).of_comparisons(near, far).item() == pytest.approx(sum(terms) / 3, rel=1e-5)
    similar = torch.tensor([True, False, True])
    expected = (0.2**2 + 0.5**2) / 2 + (1.5 - 1.0) ** 2
    assert ContrastiveLoss(margin=1.5).of_pairs(near, similar).item() == pytest.approx(expected, rel=1e-5)


ONE = torch.ones(1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TripletLoss(margin=0), "margin: expected"),
        (lambda: TripletLoss(mining="easy"), "mining: expected one of 'semihard', 'hard', got 'easy'"),
        (lambda: NTXentLoss(temperature=-1), "temperature: expected"),
        (lambda: MultiSimilarityLoss(alpha=0), "alpha: expected"),
        (lambda: make_label_loss("angular"), "loss: expected one of 'triplet', .*got 'angular'"),
        (lambda: make_label_loss(3), "loss: expected a LabelLoss or a name, such as 'triplet', got int"),
        (
            lambda: ProxyLoss().of_pairs(ONE, ONE > 0),
            "loss: expected a loss of pairs, such as Contr.*got Prox",
        ),
        (lambda: ContrastiveLoss().of_comparisons(ONE, ONE), "loss: expected a loss of comparisons, .*got Contrastive"),
        (lambda: TripletLoss(mining="hard").of_comparisons(ONE, ONE), "mining: expected the default with comparisons"),
    ],
)
def test_messages(call: Callable[[], Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()
