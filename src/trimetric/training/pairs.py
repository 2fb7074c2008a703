"""Pairs of objects with target distances, and how a model predicts them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from trimetric._support import checks
from trimetric.distances import ObjectDistance
from trimetric.distances.batching import PAIRS_AT_ONCE, distinct_rows, in_chunks
from trimetric.kernels.rows.distinct import RowNumbers, numbers_in_machine_code

ArrayOrTensor = Tensor | np.ndarray
# Either indices (n, 2) into objects, or the two ends themselves.
Pairs = ArrayOrTensor | tuple[ArrayOrTensor, ArrayOrTensor]
Predictor = Callable[[Tensor], Tensor]


class TrainingData(Protocol):
    """What a training run asks of its data."""

    def __len__(self) -> int: ...

    def begin_epoch(self, seed: int, epoch: int) -> Tensor:
        """The row numbers of an epoch, in the order of its batches; they depend on seed and epoch alone."""
        ...

    def fingerprint(self) -> str:
        """Tells whether a checkpoint belongs to the same data."""
        ...


class PairData:
    """Pairs with targets, and how a model predicts a batch of them.

    Args:
        pairs: indices `(n, 2)` of any integer dtype, or a sequence of the two ends.  Here and below NumPy arrays are
            taken too, in the dtype of the weights of `model`.
        targets: the n distances.
        objects: what indices point at.
        names: of the first two arguments, for messages.
        model: what will predict them.
    """

    def __init__(
        self,
        pairs: Pairs,
        targets: ArrayOrTensor,
        objects: ArrayOrTensor | None,
        names: tuple[str, str] = ("pairs", "targets"),
        model: nn.Module | None = None,
    ) -> None:
        of_pairs, of_targets = names
        self.targets = _distances(of_targets, checks.as_tensor(of_targets, targets, model))
        self.objects = None if objects is None else checks.as_tensor("objects", objects, model)
        self.pairs: Tensor | tuple[Tensor, Tensor]
        if isinstance(pairs, (Tensor, np.ndarray)):
            self.pairs = _indices(of_pairs, checks.as_tensor(of_pairs, pairs), self.objects)
            count = len(self.pairs)
        else:
            self.pairs = _ends(of_pairs, pairs, model)
            count = len(self.pairs[0])
            if self.objects is not None:
                raise ValueError(
                    f"objects: expected None, as {of_pairs} are the two ends themselves and not indices, got "
                    f"{len(self.objects)} objects"
                )
        if len(self.targets) != count:
            raise ValueError(f"{of_targets}: expected {count}, one for each of {of_pairs}, got {len(self.targets)}")

    weights: Tensor | None = None
    """how much each pair counts in the loss; None if all count the same"""

    def __len__(self) -> int:
        return len(self.targets)

    def begin_epoch(self, seed: int, epoch: int) -> Tensor:
        """Draw the order of the pairs in an epoch.

        Args:
            seed: of the run.
            epoch: the number of the epoch.

        Returns:
            The row numbers of all pairs.
        """
        return shuffle(len(self), seed, epoch)

    def predict(self, model: ObjectDistance, batch: Tensor) -> Tensor:
        """Predict the distances of the pairs of these row numbers; with indices each object is encoded once."""
        return self.predictor(model)(batch)

    def predictor(self, model: ObjectDistance, wrap: Callable[[Callable], Callable] | None = None) -> Predictor:
        """Make the function from row numbers to predicted distances.

        Args:
            model: what predicts them.
            wrap: put around the network, such as `CompiledOrEager`.

        Returns:
            The function.  Without gradients it works in chunks, so that row numbers of all pairs may be given at once.
        """
        wrap = wrap or (lambda function: function)
        if isinstance(self.pairs, Tensor):
            between, rows_of = wrap(model.between_rows), self._rows_of(self.pairs)
            return lambda batch: between(*rows_of(batch))
        (x, y), network = self.pairs, wrap(model)
        return lambda batch: in_chunks(lambda rows: network(x[rows], y[rows]), batch, size=PAIRS_AT_ONCE)

    def _rows_of(self, pairs: Tensor) -> Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]:
        """The function from row numbers to the distinct objects of these pairs, and the two ends of each."""
        objects, numbers = self.objects, RowNumbers(pairs)

        def rows_of(batch: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            if not numbers_in_machine_code(pairs):
                return distinct_rows(objects, *pairs[batch].unbind(1))
            rows, start, end = numbers.of_batch(batch)
            return rows if objects is None else objects.index_select(0, rows), start, end

        return rows_of

    def fingerprint(self) -> str:
        """Tells whether a checkpoint belongs to the same data."""
        digest = hashlib.sha256()
        ends = self.pairs if isinstance(self.pairs, tuple) else (self.pairs,)
        for tensor in (*ends, self.targets, *(() if self.objects is None else (self.objects,))):
            digest.update(f"{tuple(tensor.shape)} {tensor.dtype}".encode())
            digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()


def shuffle(count: int, seed: int, epoch: int) -> Tensor:
    """Draw the order of the pairs in an epoch.

    Args:
        count: the number of pairs.
        seed: of the run.
        epoch: the number of the epoch.

    Returns:
        The row numbers from 0 to `count - 1`, in random order.
    """
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed * 1_000_003 + epoch))


def _distances(name: str, targets: Tensor) -> Tensor:
    checks.floating_point(name, targets)
    if targets.ndim != 1 or len(targets) == 0:
        raise ValueError(f"{name}: expected a vector of at least one distance, got shape {tuple(targets.shape)}")
    if torch.isnan(targets).any() or (targets < 0).any():
        raise ValueError(f"{name}: expected distances >= 0, got NaN or negative ones")
    return targets


def _indices(name: str, pairs: Tensor, objects: Tensor | None) -> Tensor:
    whole = not (pairs.is_floating_point() or pairs.is_complex() or pairs.dtype == torch.bool)
    if not whole or pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(
            f"{name}: expected indices of shape (n, 2) and dtype torch.int64, or a tuple of the two ends, "
            f"got shape {tuple(pairs.shape)} and dtype {pairs.dtype}"
        )
    pairs = pairs.long()
    last = None if objects is None else len(objects) - 1
    low, high = (int(pairs.min()), int(pairs.max())) if len(pairs) else (0, 0)
    if low < 0 or (last is not None and high > last):
        expected = "indices >= 0" if last is None else f"indices from 0 to {last}, the last of objects"
        raise ValueError(f"{name}: expected {expected}, got {low if low < 0 else high}")
    return pairs


def _ends(name: str, pairs: object, model: nn.Module | None) -> tuple[Tensor, Tensor]:
    if not isinstance(pairs, (tuple, list)) or len(pairs) != 2:
        got = f"{len(pairs)} items" if isinstance(pairs, (tuple, list)) else type(pairs).__name__
        raise TypeError(f"{name}: expected indices of shape (n, 2), or a tuple of the two ends, got {got}")
    x, y = (checks.as_tensor(f"{name}[{i}]", end, model) for i, end in enumerate(pairs))
    if x.ndim == 0 or y.ndim == 0 or len(x) != len(y):
        raise ValueError(
            f"{name}: expected two ends of as many rows each, got shapes {tuple(x.shape)} and {tuple(y.shape)}"
        )
    return x, y
