"""Pairs of objects with target distances, and how a model predicts them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from trimetric import checks
from trimetric.siamese import Siamese

# Either indices (n, 2) into objects, or the two ends themselves.
Pairs = Tensor | tuple[Tensor, Tensor]
Predictor = Callable[[Tensor], Tensor]


class PairData:
    """Pairs with targets, and how a model predicts a batch of them."""

    def __init__(self, pairs: Pairs, targets: Tensor, objects: Tensor | None) -> None:
        checks.floating_point("targets", targets)
        if targets.ndim != 1 or len(targets) == 0:
            raise ValueError(f"targets: expected a vector of at least one distance, got shape {tuple(targets.shape)}")
        if torch.isnan(targets).any() or (targets < 0).any():
            raise ValueError("targets: expected distances >= 0, got NaN or negative ones")
        if isinstance(pairs, Tensor):
            if pairs.dtype != torch.long or pairs.shape != (len(targets), 2):
                raise ValueError(
                    f"pairs: expected indices of shape ({len(targets)}, 2) and dtype torch.int64, "
                    f"got shape {tuple(pairs.shape)} and dtype {pairs.dtype}"
                )
            if objects is not None and (pairs.min() < 0 or pairs.max() >= len(objects)):
                raise ValueError(f"pairs: expected indices from 0 to {len(objects) - 1}, got {int(pairs.max())}")
        elif len(pairs) != 2 or any(len(end) != len(targets) for end in pairs):
            raise ValueError(f"pairs: expected two tensors of {len(targets)} rows each, as many as targets")
        self.pairs, self.targets, self.objects = pairs, targets, objects

    def __len__(self) -> int:
        return len(self.targets)

    def predict(self, model: nn.Module, batch: Tensor) -> Tensor:
        """The distances that a model gives the pairs of these row numbers."""
        return self.predictor(model)(batch)

    def predict_all(self, model: nn.Module, batch_size: int) -> Tensor:
        """The distances of all pairs, so many at a time; each object that they have is encoded once."""
        batches = torch.arange(len(self)).split(batch_size)
        if not isinstance(self.pairs, Tensor) or not isinstance(model, Siamese):
            return torch.cat([self.predict(model, batch) for batch in batches])
        ids, ends = torch.unique(self.pairs, return_inverse=True)
        points = PairData(ends, self.targets, model.encoder(ids if self.objects is None else self.objects[ids]))
        return torch.cat([points.predict(model.distance, batch) for batch in batches])

    def predictor(self, model: nn.Module, wrap: Callable[[Callable], Callable] | None = None) -> Predictor:
        """The function from row numbers to predicted distances.  `wrap` is put around each part that is a network."""
        wrap = wrap or (lambda function: function)
        if not isinstance(self.pairs, Tensor):
            x, y = self.pairs
            network = wrap(model)
            return lambda batch: network(x[batch], y[batch])
        encoder = wrap(model.encoder) if isinstance(model, Siamese) else None
        head: Any = model.distance if isinstance(model, Siamese) else model

        def between(rows: Tensor, start: Tensor, end: Tensor) -> Tensor:
            if len(rows) < len(start):
                return head.between_rows(rows, start, end)
            return head(rows[start], rows[end])

        distance = wrap(between)

        def predicted(batch: Tensor) -> Tensor:
            ids, ends = torch.unique(self.pairs[batch], return_inverse=True)
            rows = ids if self.objects is None else self.objects[ids]
            rows = rows if encoder is None else encoder(rows)
            return distance(rows, ends[:, 0], ends[:, 1])

        return predicted

    def fingerprint(self) -> str:
        """Tells whether a checkpoint belongs to the same data."""
        digest = hashlib.sha256()
        ends = self.pairs if isinstance(self.pairs, tuple) else (self.pairs,)
        for tensor in (*ends, self.targets, *(() if self.objects is None else (self.objects,))):
            digest.update(f"{tuple(tensor.shape)} {tensor.dtype}".encode())
            digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()
