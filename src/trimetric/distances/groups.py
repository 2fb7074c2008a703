"""The coordinates of an embedding in groups, one per component."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from trimetric._support import checks


class Groups:
    """`dim` coordinates in groups of equal width; zeros fill up the last group.

    Args:
        dim: number of coordinates.
        components: number of groups; None for groups of `width`.
        width: coordinates per group where `components` is None.

    Examples:
        >>> import torch
        >>> Groups(5, None, width=2).split(torch.arange(5.0)).tolist()
        [[0.0, 1.0], [2.0, 3.0], [4.0, 0.0]]
    """

    def __init__(self, dim: int, components: int | None, *, width: int) -> None:
        checks.positive_int("dim", dim)
        wanted = -(-dim // width) if components is None else checks.positive_int("components", components)
        self.width = -(-dim // wanted)
        self.padding = wanted * self.width - dim
        if self.padding >= self.width:
            raise ValueError(
                f"components: expected groups of {self.width} that all hold some of the {dim} coordinates, got {wanted}"
            )
        self.count = wanted

    def split(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k w"]:
        """Arrange the last axis in groups."""
        return self.pad(x).unflatten(-1, (self.count, self.width))

    def pad(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch k*w"]:
        """Fill up the last group with zeros."""
        return F.pad(x, (0, self.padding)) if self.padding else x
