"""A loss against learned representatives of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor

from trimetric._support import checks
from trimetric.labels.losses.base import LabelLoss, mean_where


@dataclass(frozen=True, kw_only=True)
class ProxyLoss(LabelLoss):
    r"""Proxy-NCA++ (Teh et al., 2020), with minus the distance as similarity: each class has a learned proxy $q_c$.

    $$\ell(x) = -\log \frac{e^{-d(x, q_{c(x)}) / T}}{\sum_c e^{-d(x, q_c) / T}}$$

    The loss is the mean over the objects of the batch.  Distances are measured from objects to proxies, which are
    points in the same space.  Proxies start as the mean points of their classes, are trained with the network, and are
    not needed afterwards.  There is no mining, and the time per object of a step grows with the number of classes
    instead of the size of the batch.

    Args:
        temperature: T, in units of distance.  Before training, distances are about 1.

    Examples:
        >>> import torch
        >>> loss = ProxyLoss(temperature=1.0)
        >>> same = torch.tensor([[True, False]])
        >>> loss.of_matrix(torch.ones(1, 2), same, ~same)  # log 2
        tensor(0.6931)
    """

    temperature: float = 0.2

    uses_proxies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.finite_number("temperature", self.temperature, above=0)

    def of_matrix(
        self,
        distances: Float[Tensor, "n classes"],
        same: Bool[Tensor, "n classes"],
        different: Bool[Tensor, "n classes"],  # noqa: ARG002
    ) -> Float[Tensor, ""]:
        """Compute the mean over objects.

        Args:
            distances: from each object to each proxy.
            same: which proxy belongs to the class of an object.
            different: the other proxies.
        """
        log_shares = (-distances / self.temperature).log_softmax(dim=1)
        return mean_where(-log_shares, same)
