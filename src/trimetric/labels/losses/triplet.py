"""The triplet loss, with mining."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from trimetric._support import checks
from trimetric.labels.losses.base import LabelLoss, mean_where

Mining = Literal["semihard", "hard"]


@dataclass(frozen=True, kw_only=True)
class TripletLoss(LabelLoss):
    r"""The triplet loss: an object $a$ should be nearer to $p$ of its class than to $n$ of another, by a margin $m$.

    $$\ell(a, p, n) = \max(0,\; d(a, p) - d(a, n) + m)$$

    With class labels, `mining` selects the triplets of the batch:

    - `"semihard"` (Schroff et al., 2015): every anchor and positive, with the nearest negative that is farther than the
      positive or, if there is none, with the farthest negative.  The loss is the mean over these pairs.
    - `"hard"` (Hermans et al., 2017): every anchor, with its farthest positive and its nearest negative.  The loss is
      the mean over anchors.

    Given triplets are used directly, without mining.  So are quadruplets $(a, b, c, d)$, with $d(a, b)$ and $d(c, d)$
    as the two distances.

    Args:
        margin: how much farther the negative should be.  Before training, distances are about 1.
        mining: "semihard" or "hard".

    Examples:
        >>> loss = TripletLoss(margin=0.5)
        >>> loss.of_comparisons(torch.tensor([1.0, 1.0]), torch.tensor([1.25, 3.0]))
        tensor(0.1250)
    """

    margin: float = 0.5
    mining: Mining = "semihard"

    def __post_init__(self) -> None:
        checks.finite_number("margin", self.margin, above=0)
        checks.one_of("mining", self.mining, ("semihard", "hard"))

    def of_matrix(
        self, distances: Float[Tensor, "n m"], same: Bool[Tensor, "n m"], different: Bool[Tensor, "n m"]
    ) -> Float[Tensor, ""]:
        """Compute the mean over the mined triplets; anchors without a positive or a negative do not count.

        Args:
            distances: as for `LabelLoss`.
            same: as for `LabelLoss`.
            different: as for `LabelLoss`.
        """
        if self.mining == "hard":
            near = distances.masked_fill(~same, -torch.inf).amax(dim=1)
            far = distances.masked_fill(~different, torch.inf).amin(dim=1)
            counts = same.any(dim=1) & different.any(dim=1)
            return mean_where((near - far + self.margin).relu(), counts)
        with torch.no_grad():
            chosen = nearest_farther(distances, different)
        losses = (distances - distances.gather(1, chosen) + self.margin).relu()
        return mean_where(losses, same & different.any(dim=1, keepdim=True))

    def of_comparisons(self, near: Float[Tensor, " n"], far: Float[Tensor, " n"]) -> Float[Tensor, ""]:
        """Compute the mean of the losses of comparisons.

        Args:
            near: the distances that should be shorter.
            far: the distances that should be longer.
        """
        if self.mining != "semihard":
            raise ValueError(
                f"mining: expected the default with comparisons, which are all used as they are, got {self.mining!r}"
            )
        return (near - far + self.margin).relu().mean()


def nearest_farther(distances: Tensor, different: Tensor) -> Tensor:
    """For each entry of the matrix, the column of the nearest negative of its row that is farther than the entry.

    It takes one sort and one binary search per entry, and so $O(n^2)$ memory instead of $O(n^3)$ for all triplets.

    Args:
        distances: `(n, m)`.
        different: which entries are negatives.

    Returns:
        Columns `(n, m)`: where no negative is farther, that of the farthest; arbitrary in rows without negatives.

    Examples:
        >>> distances = torch.tensor([[0.0, 1.0, 0.5, 2.0, 3.0]])
        >>> nearest_farther(distances, torch.tensor([[False, False, True, True, True]]))
        tensor([[2, 3, 3, 4, 4]])
    """
    order = distances.masked_fill(~different, torch.inf).sort(dim=1)
    place = torch.searchsorted(order.values, distances.contiguous(), right=True)
    last = different.sum(dim=1, keepdim=True) - 1
    return order.indices.gather(1, torch.minimum(place, last).clamp_min(0))
