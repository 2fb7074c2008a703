"""Mine semi-hard triplets among all pairs of a batch of 1800, and train on them with a learned quasimetric.

Mining triplets needs the distance of every pair of the batch.  Here `trimetric.all_pairs` computes these 3.2 million
distances, with gradients, for the miner and the loss of pytorch-metric-learning.

    python examples/semihard_triplets.py
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
import tyro
from pytorch_metric_learning.losses import TripletMarginLoss
from pytorch_metric_learning.miners import BatchEasyHardMiner
from torch import Tensor, nn

import trimetric as tm
from trimetric.integrations.pytorch_metric_learning import TriangleDistance

FEATURES, LATENT, EMBEDDING = 32, 6, 16


@dataclass(frozen=True, kw_only=True)
class Config:
    """Settings of the example."""

    steps: int = 15
    """batches to train on"""
    classes: int = 300
    """number of classes in a batch, and of others to test on"""
    per_class: int = 6
    """objects of each class; the batch has classes * per_class"""
    learning_rate: float = 1e-2
    """learning rate of Adam"""
    seed: int = 0
    """seed of everything random"""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What `main` prints.

    Attributes:
        recall_before, recall_after: recall@1 on unseen classes, before and after training.
        step_seconds: time of a training step.
        all_pairs_seconds, broadcast_seconds: time of all pairs by `all_pairs`, and by broadcasting.
    """

    recall_before: float
    recall_after: float
    step_seconds: float
    all_pairs_seconds: float
    broadcast_seconds: float


class Clusters:
    """Classes are points of a small latent space, mapped to `FEATURES` features beside as many of noise.

    Args:
        generator: source of all random numbers.
    """

    def __init__(self, generator: torch.Generator) -> None:
        self.generator = generator
        self.into = torch.randn(LATENT, FEATURES, generator=generator)

    def sample(self, centers: Tensor, per_class: int) -> tuple[Tensor, Tensor]:
        """Draw objects of some classes.

        Args:
            centers: the classes, as `centers` draws them.
            per_class: objects of each class.

        Returns:
            Features and labels of the objects.
        """
        labels = torch.arange(len(centers)).repeat_interleave(per_class)
        latent = centers[labels] + 0.15 * torch.randn(len(labels), LATENT, generator=self.generator)
        noise = 2 * torch.randn(len(labels), FEATURES, generator=self.generator)
        return torch.cat([torch.sin(latent @ self.into), noise], dim=1), labels

    def centers(self, classes: int) -> Tensor:
        """Draw classes: points of the latent space."""
        return torch.randn(classes, LATENT, generator=self.generator)


@torch.no_grad()
def recall_at_1(distance: TriangleDistance, embeddings: Tensor, labels: Tensor) -> float:
    """Measure the share of objects whose nearest other object is of their class.

    Args:
        distance: the learned distance.
        embeddings: embeddings `(n, dim)`.
        labels: class of each object `(n,)`.

    Returns:
        The recall, from 0 to 1.
    """
    matrix = distance(embeddings).fill_diagonal_(torch.inf)
    return (labels[matrix.argmin(dim=1)] == labels).float().mean().item()


@torch.no_grad()
def seconds(matrix: TriangleDistance, embeddings: Tensor) -> tuple[float, float]:
    """Time all pairs, and the broadcast definition in strips of rows that fit in memory.

    Args:
        matrix: the learned distance.
        embeddings: embeddings `(n, dim)`.

    Returns:
        Seconds of both.
    """
    start = time.perf_counter()
    fast = matrix(embeddings)
    middle = time.perf_counter()
    slow = torch.cat([matrix.distance(rows.unsqueeze(1), embeddings) for rows in embeddings.split(100)])
    end = time.perf_counter()
    torch.testing.assert_close(fast, slow, rtol=1e-4, atol=1e-4)
    return middle - start, end - middle


def run(config: Config) -> Outcome:
    """Train on batches of new classes, and measure on others.

    Args:
        config: settings.

    Returns:
        What was measured.
    """
    torch.manual_seed(config.seed)
    data = Clusters(torch.Generator().manual_seed(config.seed))
    encoder = nn.Sequential(nn.Linear(2 * FEATURES, 128), nn.ReLU(), nn.Linear(128, EMBEDDING))
    distance = TriangleDistance(tm.WideNorm(EMBEDDING, components=8, width=8))
    miner = BatchEasyHardMiner(pos_strategy="hard", neg_strategy="semihard", distance=distance)
    loss = TripletMarginLoss(margin=0.5, distance=distance)
    optimizer = torch.optim.Adam([*encoder.parameters(), *loss.parameters()], lr=config.learning_rate)

    test, test_labels = data.sample(data.centers(config.classes), config.per_class)
    with torch.no_grad():
        before = recall_at_1(distance, encoder(test), test_labels)
    train_centers = data.centers(10 * config.classes)
    start = time.perf_counter()
    for _ in range(config.steps):
        chosen = torch.randperm(len(train_centers), generator=data.generator)[: config.classes]
        objects, labels = data.sample(train_centers[chosen], config.per_class)
        embeddings = encoder(objects)
        optimizer.zero_grad()
        loss(embeddings, labels, miner(embeddings, labels)).backward()
        optimizer.step()
    step_seconds = (time.perf_counter() - start) / config.steps
    with torch.no_grad():
        embeddings = encoder(test)
    after = recall_at_1(distance, embeddings, test_labels)
    fast, slow = seconds(distance, embeddings)
    return Outcome(
        recall_before=before,
        recall_after=after,
        step_seconds=step_seconds,
        all_pairs_seconds=fast,
        broadcast_seconds=slow,
    )


def main(config: Config) -> None:
    """Run the example and print what was measured."""
    outcome = run(config)
    size = config.classes * config.per_class
    print(f"batch of {size}: {size**2:,} distances, {outcome.step_seconds:.2f} s per step with mining and gradients")
    print(f"all pairs, forward: {outcome.all_pairs_seconds:.3f} s; by broadcasting: {outcome.broadcast_seconds:.3f} s")
    print(f"recall@1 on unseen classes: {outcome.recall_before:.3f} -> {outcome.recall_after:.3f}")


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
