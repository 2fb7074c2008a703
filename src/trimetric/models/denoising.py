"""Features without their independent noise: each one predicted from the others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from trimetric._support import checks
from trimetric._support.described import Described
from trimetric.models.encoders import Standardize

MASKED = 0.2
"""share of the features that are hidden at a time"""
PREDICTABLE = 0.1
"""R^2 from which a feature is worth keeping, measured on objects that were not trained on"""
CERTAIN = 2.0
"""how many of its standard errors R^2 must be above 0, or it may be chance"""
HELD_OUT, MOST_HELD_OUT, FEWEST_HELD_OUT = 0.2, 1000, 10
"""share of the objects on which that is measured, and how many they are at most and at least"""


class Denoiser(Described):
    """A first layer for an encoder: returns features predicted from each other, followed by the original features.

    A network learns, without labels, to predict masked features from the others.  Noise that is independent from
    feature to feature cannot be predicted, so the predictions contain less of it.  A feature that the others do not
    predict is a distractor, and is left out.  `learn` does all of this.  Put the result in front of an
    encoder, as in `torch.nn.Sequential(denoiser, encoder)`; it is then saved with the model.

    Args:
        features: the number of features that it reads.
        kept: which of them it returns, twice: first the predictions, then the standardized originals.
        width: units of the two hidden layers.
        folds: parts in which the features are predicted, each from the others.
        rounds: how many such partitions the predictions average over.
        seed: of the partitions.

    Examples:
        >>> import trimetric as tm
        >>> generator = torch.Generator().manual_seed(0)
        >>> hidden = torch.randn(500, 1, generator=generator)
        >>> noisy = hidden + 0.5 * torch.randn(500, 6, generator=generator)
        >>> denoiser = tm.Denoiser.learn(noisy, steps=200, width=32)
        >>> denoiser(noisy).shape
        torch.Size([500, 12])
        >>> before, after = noisy[:, :1], denoiser(noisy)[:, :1]
        >>> float((after - hidden).square().mean()) < float((before - hidden).square().mean())
        True
    """

    masks: Tensor

    def __init__(
        self,
        features: int,
        kept: Sequence[int],
        *,
        width: int = 256,
        folds: int = 5,
        rounds: int = 2,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.in_features = checks.positive_int("features", features)
        checks.positive_int("folds", folds)
        if isinstance(kept, (str, bytes)) or not isinstance(kept, Iterable):
            raise TypeError(f"kept: expected a sequence of numbers of features, got {kept!r}")
        self.kept = tuple(kept)
        valid = all(type(i) is int and 0 <= i < features for i in self.kept)
        if not self.kept or not valid or len(set(self.kept)) < len(self.kept):
            raise ValueError(
                f"kept: expected different numbers of features from 0 to {features - 1}, got {self.kept[:5]!r}"
            )
        self.standardize = Standardize(features)
        self.network = nn.Sequential(
            nn.Linear(2 * features, checks.positive_int("width", width)),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, features),
        )
        generator = torch.Generator().manual_seed(checks.seed("seed", seed))
        parts = [
            torch.randperm(features, generator=generator) % folds for _ in range(checks.positive_int("rounds", rounds))
        ]
        masks = torch.stack([(part == fold).float() for part in parts for fold in range(folds)])
        self.register_buffer("masks", masks)

    def masked(self, x: Float[Tensor, "*batch features"], hidden: Float[Tensor, "*batch features"]) -> Tensor:
        """Predict standardized features, of which some are hidden.

        Args:
            x: the standardized features.
            hidden: 1 where a feature is hidden, otherwise 0.

        Returns:
            A prediction for every feature.
        """
        return self.network(torch.cat([x * (1 - hidden), hidden], dim=-1))

    def predict(self, x: Float[Tensor, "*batch features"]) -> Float[Tensor, "*batch features"]:
        """Predict each standardized feature from the others.

        Args:
            x: the features as they come.
        """
        standard = self.standardize(x)
        times = self.masks.sum(dim=0)
        total = torch.zeros_like(standard)
        for mask in self.masks:
            total = total + mask * self.masked(standard, mask.expand_as(standard))
        return total / times

    def forward(self, x: Float[Tensor, "*batch features"]) -> Float[Tensor, "*batch twice"]:
        """Compute predictions and originals of the features that are kept.

        Args:
            x: the features as they come.
        """
        kept = list(self.kept)
        return torch.cat([self.predict(x)[..., kept], self.standardize(x)[..., kept]], dim=-1)

    @classmethod
    def learn(
        cls,
        objects: Float[Tensor, "n features"],
        *,
        steps: int = 2000,
        batch_size: int = 512,
        width: int = 256,
        learning_rate: float = 2e-3,
        seed: int = 0,
    ) -> Denoiser:
        """Train a denoiser on the features of objects, without labels.

        A fifth of the objects (10 to 1000 of them) is not trained on, and decides which features can be predicted.

        Args:
            objects: their features; include all objects whose distances you will need, if they are known.
            steps: of AdamW, with a rate that decays to 0 along a cosine.
            batch_size: objects per step.
            width: units of the hidden layers.
            learning_rate: at the start.
            seed: of weights, batches and masks.

        Returns:
            The denoiser, ready for use, without gradients.

        Raises:
            ValueError: if no feature can be predicted from the others, or if there are fewer than 20 objects.
        """
        rows = checks.floating_point("objects", checks.as_tensor("objects", objects))
        checks.finite("objects", checks.matrix("objects", rows))
        if len(rows) < 2 * FEWEST_HELD_OUT:
            raise ValueError(f"objects: expected at least {2 * FEWEST_HELD_OUT}, got {len(rows)}")
        checks.positive_int("steps", steps)
        checks.positive_int("batch_size", batch_size)
        checks.finite_number("learning_rate", learning_rate, above=0)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(checks.seed("seed", seed))
            first = cls(rows.shape[1], range(rows.shape[1]), width=width, seed=seed).to(rows)
        first.standardize.measure(rows)
        standard = first.standardize(rows)
        generator = torch.Generator().manual_seed(seed)
        held_out = max(FEWEST_HELD_OUT, min(MOST_HELD_OUT, int(HELD_OUT * len(rows))))
        order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed + 1)).to(rows.device)
        seen, new = order[held_out:], rows[order[:held_out]]
        optimizer = torch.optim.AdamW(first.network.parameters(), lr=learning_rate, weight_decay=0.01, fused=True)
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate * 0.5 * (1 + math.cos(math.pi * step / steps))
            x = standard[seen[torch.randint(len(seen), (batch_size,), generator=generator)]]
            hidden = (torch.rand(x.shape, generator=generator) < MASKED).to(x)
            optimizer.zero_grad()
            loss = (F.mse_loss(first.masked(x, hidden), x, reduction="none") * hidden).sum() / hidden.sum()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            wanted = first.standardize(new)
            gains = wanted.square() - (first.predict(new) - wanted).square()
            variance = wanted.square().mean(dim=0).clamp(min=1e-12)
            explained = gains.mean(dim=0) / variance
            error = gains.std(dim=0) / variance / math.sqrt(held_out)
        kept = ((explained > PREDICTABLE) & (explained > CERTAIN * error)).nonzero().flatten().tolist()
        if not kept:
            raise ValueError(
                "objects: expected features that tell something about each other, got none that the others predict "
                f"(on {held_out} objects held out, the best has R^2 {float(explained.max()):.2f})"
            )
        with torch.random.fork_rng(devices=[]):
            found = cls(rows.shape[1], kept, width=width, seed=seed).to(rows)
        found.load_state_dict(first.state_dict())
        return found.requires_grad_(False).eval()
