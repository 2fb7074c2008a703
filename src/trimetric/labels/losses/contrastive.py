"""The contrastive loss."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor

from trimetric._support import checks
from trimetric.labels.losses.base import LabelLoss, mean_where


@dataclass(frozen=True, kw_only=True)
class ContrastiveLoss(LabelLoss):
    r"""The contrastive loss (Hadsell et al., 2006): similar objects at distance 0, others at least a margin $m$ apart.

    $$\frac{1}{|P|} \sum_{(x, y) \in P} d(x, y)^2 + \frac{1}{|N|} \sum_{(x, y) \in N} \max(0,\; m - d(x, y))^2$$

    $P$ and $N$ are the ordered pairs of the same class and of different classes.  Each set has its own mean, because
    with many classes there are far more pairs in $N$.

    Args:
        margin: how far apart dissimilar objects should be.  Before training, distances are about 1.

    Examples:
        >>> import torch
        >>> loss = ContrastiveLoss(margin=2.0)
        >>> loss.of_pairs(torch.tensor([0.5, 1.0, 3.0]), torch.tensor([True, False, False]))
        tensor(0.7500)
    """

    margin: float = 1.0

    def __post_init__(self) -> None:
        checks.finite_number("margin", self.margin, above=0)

    def of_matrix(
        self, distances: Float[Tensor, "n m"], same: Bool[Tensor, "n m"], different: Bool[Tensor, "n m"]
    ) -> Float[Tensor, ""]:
        """Compute the loss of all pairs of a batch.

        Args:
            distances: as for `LabelLoss`.
            same: as for `LabelLoss`.
            different: as for `LabelLoss`.
        """
        apart = (self.margin - distances).relu().square()
        return mean_where(distances.square(), same) + mean_where(apart, different)

    def of_pairs(self, distances: Float[Tensor, " n"], similar: Bool[Tensor, " n"]) -> Float[Tensor, ""]:
        """Compute the loss of pairs that are known to be similar or dissimilar.

        Args:
            distances: of the pairs.
            similar: which of the pairs are similar.
        """
        return self.of_matrix(distances[None], similar[None], ~similar[None])
