"""The normalized temperature-scaled cross entropy."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from trimetric._support import checks
from trimetric.labels.losses.base import LabelLoss, mean_where


@dataclass(frozen=True, kw_only=True)
class NTXentLoss(LabelLoss):
    r"""NT-Xent (Chen et al., 2020), with minus the distance as similarity: pick the positive among all negatives.

    $$\ell(a, p) = -\log \frac{e^{-d(a, p) / T}}{e^{-d(a, p) / T} + \sum_n e^{-d(a, n) / T}}$$

    The loss is the mean over all anchors and positives; the sum is over all $n$ of other classes in the batch.  For a
    triplet there is one $n$; for a quadruplet $(a, b, c, d)$ the two distances are $d(a, b)$ and $d(c, d)$.

    Args:
        temperature: T, in units of distance.  Before training, distances are about 1.

    Examples:
        >>> loss = NTXentLoss(temperature=1.0)
        >>> loss.of_comparisons(torch.tensor([1.0]), torch.tensor([1.0]))  # log 2
        tensor(0.6931)
    """

    temperature: float = 0.2

    def __post_init__(self) -> None:
        checks.finite_number("temperature", self.temperature, above=0)

    def of_matrix(
        self, distances: Float[Tensor, "n m"], same: Bool[Tensor, "n m"], different: Bool[Tensor, "n m"]
    ) -> Float[Tensor, ""]:
        """Compute the mean over anchors and positives; anchors without a negative do not count.

        Args:
            distances: as for `LabelLoss`.
            same: as for `LabelLoss`.
            different: as for `LabelLoss`.
        """
        logits = -distances / self.temperature
        possible = different.any(dim=1, keepdim=True)
        # In rows without a negative, which do not count, any finite numbers will do.
        negatives = logits.masked_fill(~different & possible, -torch.inf).logsumexp(dim=1, keepdim=True)
        return mean_where(F.softplus(negatives - logits), same & possible)

    def of_comparisons(self, near: Float[Tensor, " n"], far: Float[Tensor, " n"]) -> Float[Tensor, ""]:
        """Compute the mean of the losses of comparisons.

        Args:
            near: the distances that should be shorter.
            far: the distances that should be longer.
        """
        return F.softplus((near - far) / self.temperature).mean()
