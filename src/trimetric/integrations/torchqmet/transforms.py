"""The transforms of torchqmet: functions of components that are applied before these are reduced."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from torch import nn

from trimetric._support import checks
from trimetric.norms.activations import ConcaveUnits

TransformName = Literal["concave_activation"]
"""the transforms that the documentation of torchqmet lists"""


class ConcaveActivation(ConcaveUnits):
    r"""A minimum of lines for each component: concave, non-decreasing and 0 at 0, so a quasimetric stays one.

    Args:
        input_num_components: number of components.
        num_units_per_input: number of lines of each.

    Examples:
        >>> import torch
        >>> ConcaveActivation(3)(torch.ones(2, 3)).shape
        torch.Size([2, 3])
    """

    def __init__(self, input_num_components: int, num_units_per_input: int = 5) -> None:
        checks.positive_int("input_num_components", input_num_components)
        super().__init__(input_num_components, num_units_per_input)
        self.input_num_components = self.output_num_components = input_num_components


def make_transforms(names: Collection[str], num_components: int) -> nn.Sequential:
    """Build transforms by name.

    Args:
        names: in the order in which they are applied; "concave_activation" is the only one.
        num_components: number of components.
    """
    if isinstance(names, str):
        raise TypeError(f"transforms: expected a sequence of names, such as (), got the text {names!r}")
    for name in names:
        checks.one_of("transforms", name, ("concave_activation",))
    return nn.Sequential(*(ConcaveActivation(num_components) for _ in names))
