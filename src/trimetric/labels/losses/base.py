"""What every loss from labels is: settings, and a function of distances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor


class LabelLoss(ABC):
    """A loss of distances from what is known about objects: classes, pairs or comparisons.

    A loss has settings and no state, so that it can be compared, copied and searched over.  Its inputs are computed
    distances, so it works with any head, symmetric or not.

    A subclass implements `of_matrix`, and the other two methods as far as they make sense for it.

    Examples:
        >>> import torch
        >>> from trimetric.labels import ContrastiveLoss
        >>> isinstance(ContrastiveLoss(margin=0.5), LabelLoss)
        True
    """

    uses_proxies: ClassVar[bool] = False
    """whether the columns of `of_matrix` are learned points, one for each class, instead of the objects of the batch"""

    @abstractmethod
    def of_matrix(
        self, distances: Float[Tensor, "n m"], same: Bool[Tensor, "n m"], different: Bool[Tensor, "n m"]
    ) -> Float[Tensor, ""]:
        """Compute the loss of a batch of labeled objects.

        Args:
            distances: from each object (the anchor) to each object of the batch, or to each proxy.
            same: True where both are of the same class; False from an object to itself.
            different: True where they are of different classes.
        """

    def of_pairs(self, distances: Float[Tensor, " n"], similar: Bool[Tensor, " n"]) -> Float[Tensor, ""]:  # noqa: ARG002
        """Compute the loss of pairs that are known to be similar or dissimilar.

        Args:
            distances: of the pairs.
            similar: which of the pairs are similar.
        """
        raise ValueError(f"loss: expected a loss of pairs, such as ContrastiveLoss, got {self!r}")

    def of_comparisons(self, near: Float[Tensor, " n"], far: Float[Tensor, " n"]) -> Float[Tensor, ""]:  # noqa: ARG002
        """Compute the loss of comparisons, such as triplets: which of two distances should be the shorter one.

        Args:
            near: the distances that should be shorter.
            far: the distances that should be longer.
        """
        raise ValueError(f"loss: expected a loss of comparisons, such as TripletLoss or NTXentLoss, got {self!r}")


def mean_where(values: Tensor, chosen: Tensor) -> Tensor:
    """The mean of the chosen values; 0, with a gradient of 0, where none is chosen.

    Args:
        values: any numbers.
        chosen: which of them count.

    Examples:
        >>> import torch
        >>> mean_where(torch.tensor([1.0, 3.0, 8.0]), torch.tensor([True, True, False])).item()
        2.0
    """
    return values.where(chosen, 0).sum() / chosen.sum().clamp_min(1)
