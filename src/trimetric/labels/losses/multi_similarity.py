"""The multi-similarity loss, with its miner."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from trimetric._support import checks
from trimetric.labels.losses.base import LabelLoss


@dataclass(frozen=True, kw_only=True)
class MultiSimilarityLoss(LabelLoss):
    r"""The multi-similarity loss (Wang et al., 2019), with minus the distance as similarity.

    $$\frac{1}{n} \sum_a \frac{1}{\alpha} \log\Bigl(1 + \sum_{p \in P_a} e^{\alpha (d(a, p) - \lambda)}\Bigr) +
    \frac{1}{\beta} \log\Bigl(1 + \sum_{n \in N_a} e^{-\beta (d(a, n) - \lambda)}\Bigr)$$

    $P_a$ has the positives that are not nearer than the nearest negative by more than $\epsilon$, and $N_a$ the
    negatives that are not farther than the farthest positive by more than $\epsilon$: the others are learned already.

    Args:
        alpha: weight of far positives, one over a distance.
        beta: weight of near negatives, one over a distance.
        base: the distance $\lambda$ that separates positives from negatives.  Before training, distances are about 1.
        epsilon: of the miner.

    Examples:
        >>> loss = MultiSimilarityLoss(alpha=1.0, beta=1.0, base=1.0)
        >>> same = torch.tensor([[False, True, False]])
        >>> loss.of_matrix(torch.ones(1, 3), same, torch.tensor([[False, False, True]]))  # 2 log 2
        tensor(1.3863)
    """

    alpha: float = 2.0
    beta: float = 10.0
    base: float = 0.5
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        checks.finite_number("alpha", self.alpha, above=0)
        checks.finite_number("beta", self.beta, above=0)
        checks.finite_number("base", self.base, at_least=0)
        checks.finite_number("epsilon", self.epsilon, at_least=0)

    def of_matrix(
        self, distances: Float[Tensor, "n m"], same: Bool[Tensor, "n m"], different: Bool[Tensor, "n m"]
    ) -> Float[Tensor, ""]:
        """Compute the mean over anchors.

        Args:
            distances: as for `LabelLoss`.
            same: as for `LabelLoss`.
            different: as for `LabelLoss`.
        """
        with torch.no_grad():
            nearest = distances.masked_fill(~different, torch.inf).amin(dim=1, keepdim=True)
            farthest = distances.masked_fill(~same, -torch.inf).amax(dim=1, keepdim=True)
            positives = same & (distances > nearest - self.epsilon)
            negatives = different & (distances < farthest + self.epsilon)
        pull = _log_one_plus_sum(self.alpha * (distances - self.base), positives) / self.alpha
        push = _log_one_plus_sum(-self.beta * (distances - self.base), negatives) / self.beta
        return (pull + push).mean()


def _log_one_plus_sum(exponents: Tensor, chosen: Tensor) -> Tensor:
    """log(1 + the sum of e^x over the chosen x of each row)."""
    return F.pad(exponents.masked_fill(~chosen, -torch.inf), (1, 0)).logsumexp(dim=1)
