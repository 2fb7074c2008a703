"""What a step of training sees: a batch of labeled objects, or of tuples."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod

import torch
from jaxtyping import Int
from torch import Tensor, nn

from trimetric.distances import ObjectDistance
from trimetric.distances.all_pairs import all_pairs
from trimetric.distances.batching import distinct_rows
from trimetric.labels.losses import LabelLoss
from trimetric.training.pairs import shuffle

PER_CLASS = 4
"""objects of a class that come together in a batch, so that each has positives there, however many classes there are"""


class LabelData(ABC):
    """Examples to learn from, without target distances.

    Args:
        objects: what the network reads, one row each.
        known: what is known about them; hashed for checkpoints.
        loss: of a batch.
    """

    def __init__(self, objects: Tensor, known: Tensor, loss: LabelLoss) -> None:
        self.objects, self.known, self.loss = objects, known, loss

    def __len__(self) -> int:
        return len(self.known)

    @abstractmethod
    def begin_epoch(self, seed: int, epoch: int) -> Tensor:
        """Draw the order of the examples in an epoch.

        Args:
            seed: of the run.
            epoch: the number of the epoch.

        Returns:
            The numbers of all examples.
        """

    @abstractmethod
    def loss_of(self, model: ObjectDistance, batch: Tensor, proxies: Tensor | None) -> Tensor:
        """Compute the loss of a batch.

        Args:
            model: the network.
            batch: numbers of examples.
            proxies: a point for each class, where the loss uses them.
        """

    @abstractmethod
    def typical_distances(self, model: ObjectDistance, count: int) -> Tensor:
        """Measure some distances, for the scale of the head.

        Args:
            model: the network.
            count: how many examples to measure.
        """

    def fingerprint(self) -> str:
        """Tells whether a checkpoint belongs to the same data."""
        digest = hashlib.sha256()
        for tensor in (self.objects, self.known):
            digest.update(f"{tuple(tensor.shape)} {tensor.dtype}".encode())
            digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()


class LabeledObjects(LabelData):
    """Objects with the numbers of their classes; a batch is compared all with all.

    Args:
        objects: what the network reads, one row each.
        classes: the class of each, from 0.
        loss: of a batch.
        batch_size: objects of a batch.  Below twice `PER_CLASS`, groups of a class are smaller, and the groups of each
            class are spread over the epoch, so that a batch has objects of several classes.
    """

    def __init__(
        self, objects: Tensor, classes: Int[Tensor, " n"], loss: LabelLoss, batch_size: int | None = None
    ) -> None:
        super().__init__(objects, classes, loss)
        self.count = int(classes.max()) + 1
        self.small_batches = batch_size is not None and batch_size < 2 * PER_CLASS and not loss.uses_proxies
        self.per_class = max(2, batch_size // 2) if batch_size is not None and self.small_batches else PER_CLASS

    def begin_epoch(self, seed: int, epoch: int) -> Tensor:
        """Draw the order of the objects: each once, in groups of one class."""
        generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
        order = torch.randperm(len(self), generator=generator)
        order = order[self.known.cpu()[order].argsort(stable=True)]
        sizes = self.known.cpu().bincount(minlength=self.count).tolist()
        classes = [members.split(self.per_class) for members in order.split(sizes)]
        groups = [group for own in classes for group in own]
        if self.small_batches:  # at random, batches would often have groups of a single class
            starts = torch.rand(len(classes), generator=generator)
            places = [(torch.arange(len(own)) + start) / len(own) for own, start in zip(classes, starts, strict=True)]
            chosen = torch.cat(places).argsort(stable=True)
        else:
            chosen = torch.randperm(len(groups), generator=generator)
        return torch.cat([groups[i] for i in chosen.tolist()])

    def loss_of(self, model: ObjectDistance, batch: Tensor, proxies: Tensor | None) -> Tensor:
        """Compute the loss of the distances among the objects of a batch, or from them to the proxies."""
        rows = batch.to(self.objects.device)
        points, classes = model.embed(self.objects[rows]), self.known[rows]
        if proxies is not None:
            same = classes[:, None] == torch.arange(self.count, device=classes.device)
            return self.loss.of_matrix(all_pairs(model.head, points, proxies), same, ~same)
        same = classes[:, None] == classes
        itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
        return self.loss.of_matrix(all_pairs(model.head, points), same & ~itself, ~same)

    def typical_distances(self, model: ObjectDistance, count: int) -> Tensor:
        """Measure the distances among objects of an epoch's beginning, except to themselves."""
        batch = self.begin_epoch(0, 0)[:count].to(self.objects.device)
        distances = all_pairs(model.head, model.embed(self.objects[batch]))
        return distances[~torch.eye(len(batch), dtype=torch.bool, device=distances.device)]

    @torch.no_grad()
    def start_of_proxies(self, model: ObjectDistance) -> nn.Parameter:
        """Compute the mean point of each class.

        Args:
            model: the network.
        """
        points = model.embed(self.objects)
        sums = points.new_zeros(self.count, points.shape[1]).index_add_(0, self.known, points)
        return nn.Parameter(sums / self.known.bincount(minlength=self.count)[:, None])


class Tuples(LabelData):
    """Pairs that are similar or not, or comparisons of two pairs.

    Args:
        objects: what the network reads, one row each.
        tuples: rows of the objects: two of each pair, three of each triplet or four of each quadruplet.
        similar: which pairs are similar; None for comparisons.
        loss: of a batch.
    """

    def __init__(self, objects: Tensor, tuples: Int[Tensor, "n t"], similar: Tensor | None, loss: LabelLoss) -> None:
        super().__init__(objects, tuples if similar is None else torch.cat([tuples, similar[:, None].long()], 1), loss)
        places = {2: ((0, 1),), 3: ((0, 1), (0, 2)), 4: ((0, 1), (2, 3))}[tuples.shape[1]]
        self.pairs = torch.stack([tuples[:, list(ends)] for ends in places], dim=1)
        """those that are measured, `(n, 1, 2)` or `(n, 2, 2)`"""
        self.similar = similar

    def begin_epoch(self, seed: int, epoch: int) -> Tensor:
        """Shuffle the tuples."""
        return shuffle(len(self), seed, epoch)

    def loss_of(self, model: ObjectDistance, batch: Tensor, proxies: Tensor | None) -> Tensor:  # noqa: ARG002
        """Compute the loss of the distances within tuples."""
        distances = self._distances(model, batch.to(self.pairs.device))
        if self.similar is not None:
            return self.loss.of_pairs(distances[:, 0], self.similar[batch.to(self.similar.device)])
        return self.loss.of_comparisons(distances[:, 0], distances[:, 1])

    def typical_distances(self, model: ObjectDistance, count: int) -> Tensor:
        """Measure the distances within the tuples of an epoch's beginning."""
        return self._distances(model, self.begin_epoch(0, 0)[:count].to(self.pairs.device)).flatten()

    def _distances(self, model: ObjectDistance, batch: Tensor) -> Tensor:
        pairs = self.pairs[batch]
        rows, start, end = distinct_rows(self.objects, *pairs.flatten(0, 1).unbind(1))
        return model.between_rows(rows, start, end).view(pairs.shape[:2])
