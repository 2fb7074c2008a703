"""The reductions of torchqmet: how components become one distance."""

from __future__ import annotations

import itertools
import math
from typing import Literal

from torch import Tensor, nn

from trimetric._support import checks
from trimetric.norms.activations import Max, MaxMean, Mean
from trimetric.norms.deep import NonNegativeLinear

ReductionName = Literal["sum", "max", "mean", "maxmean", "deep_linear_net_weighted_sum"]
"""the reductions that the documentation of torchqmet lists"""

START = 1 / (1 + math.e)
"""the weight of the maximum in a "maxmean" before training; the values that torchqmet documents fit sigmoid(-1)"""
HIDDEN = 64


class Sum(nn.Module):
    """The sum over the last axis.

    Examples:
        >>> import torch
        >>> Sum()(torch.tensor([1.0, 2.0]))
        tensor(3.)
    """

    def forward(self, components: Tensor) -> Tensor:
        """Add up the components.

        Args:
            components: on the last axis.
        """
        return components.sum(dim=-1)


class DeepLinearNetWeightedSum(nn.Module):
    r"""The sum of $w_i c_i$ with $w \ge 0$ the product of four non-negative matrices, of inner width 64.

    A product of matrices is trained instead of $w$ itself, which changes the training steps, but not the functions that
    can be represented.  The weights sum to about 1 before training.

    Args:
        input_num_components: number of components.

    Examples:
        >>> import torch
        >>> _ = torch.manual_seed(0)
        >>> bool((DeepLinearNetWeightedSum(8).weight >= 0).all())
        True
    """

    def __init__(self, input_num_components: int) -> None:
        super().__init__()
        self.input_num_components = checks.positive_int("input_num_components", input_num_components)
        sizes = (1, HIDDEN, HIDDEN, HIDDEN, input_num_components)
        self.alpha_net = nn.Sequential(*(NonNegativeLinear(*pair) for pair in itertools.pairwise(sizes)))

    @property
    def weight(self) -> Tensor:
        """The weights of the components."""
        one = next(self.alpha_net.parameters()).new_ones(1)
        return self.alpha_net(one) / self.input_num_components

    def forward(self, components: Tensor) -> Tensor:
        """Add up the weighted components.

        Args:
            components: on the last axis.
        """
        return (components * self.weight).sum(dim=-1)


class Discount(nn.Module):
    r"""The discount $\gamma^d$ of a reduced distance; not a distance: its triangle inequality is one of products.

    Args:
        reduction: the module that returns d.
        discount: the discount factor, between 0 and 1.

    Examples:
        >>> import torch
        >>> Discount(Sum(), 0.5)(torch.tensor([1.0, 2.0]))
        tensor(0.1250)
    """

    def __init__(self, reduction: nn.Module, discount: float) -> None:
        super().__init__()
        self.reduction = reduction
        self.discount = float(checks.finite_number("discount", discount, above=0, below=1))

    def forward(self, components: Tensor) -> Tensor:
        """Compute the discount from components.

        Args:
            components: on the last axis.
        """
        return self.discount ** self.reduction(components)


REDUCTIONS: tuple[ReductionName, ...] = ("sum", "max", "mean", "maxmean", "deep_linear_net_weighted_sum")


def make_reduction(name: ReductionName, num_components: int, discount: float | None) -> nn.Module:
    """Build a reduction by name.

    Args:
        name: one of `REDUCTIONS`.
        num_components: number of components.
        discount: the discount factor; None for distances.
    """
    checks.one_of("reduction", name, REDUCTIONS)
    if name == "deep_linear_net_weighted_sum":
        reduction: nn.Module = DeepLinearNetWeightedSum(num_components)
    else:
        reduction = MaxMean(START) if name == "maxmean" else {"sum": Sum, "max": Max, "mean": Mean}[name]()
    return reduction if discount is None else Discount(reduction, discount)
