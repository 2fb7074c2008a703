"""Numbers that are known up to bounds: where the real ones lie, and how far computed ones may be from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


class Unproven(Exception):  # noqa: N818 - it is no error: without a proof, an index measures
    """Some step of a computation has no rule, so nothing is proven about the result."""


@dataclass(frozen=True)
class Format:
    """The floating-point numbers in which something is computed.

    Attributes:
        unit: half the distance from 1 to the next number: the relative error of one rounding to nearest.
        tiny: the least normal number: the absolute error of one operation whose result is smaller.
        largest: above it, a result is infinite.
    """

    unit: float
    tiny: float
    largest: float

    @classmethod
    def of(cls, dtype: torch.dtype) -> Format:
        """The numbers of a dtype."""
        info = torch.finfo(dtype)
        return cls(info.eps / 2, info.tiny, info.max)


@dataclass(frozen=True)
class Enclosure:
    """Bounds that hold for every input of a box.

    Attributes:
        low: at most the real number, in float64.
        high: at least the real number.
        error: at least the distance of a computed number from the real one.
        given: whether it is an input, or a difference of inputs, which is rounded once.
    """

    low: Tensor
    high: Tensor
    error: Tensor
    given: bool = False

    @classmethod
    def exactly(cls, values: Tensor) -> Enclosure:
        """Numbers that are known and computed without error."""
        wide = values.detach().double()
        return cls(wide, wide, torch.zeros_like(wide))

    @property
    def size(self) -> Tensor:
        """The largest absolute value of the real number."""
        return torch.maximum(self.low.abs(), self.high.abs())

    @property
    def reach(self) -> Tensor:
        """The largest absolute value of the computed number."""
        return self.size + self.error

    def moved(self, view: Callable[[Tensor], Tensor]) -> Enclosure:
        """Apply something that only moves numbers."""
        return Enclosure(view(self.low), view(self.high), view(self.error), self.given)

    def split(self, view: Callable[[Tensor], tuple[Tensor, ...]]) -> list[Enclosure]:
        """The same for something that returns several tensors."""
        parts = zip(view(self.low), view(self.high), view(self.error), strict=True)
        return [Enclosure(low, high, error, self.given) for low, high, error in parts]


@dataclass(frozen=True)
class Truths:
    """Comparisons of numbers.

    Attributes:
        like: a tensor of their shape.
        certain: whether computed and real comparisons always agree.
        values: what they are, where that does not depend on the inputs.
    """

    like: Tensor
    certain: bool
    values: Tensor | None = None


@dataclass(frozen=True)
class Places:
    """Indices that depend on the inputs, the same ones in real and in computed numbers, along an axis."""

    axis: int


Known = Enclosure | Truths | Places


def spread(error: Tensor, *, by: float = 1.0) -> Tensor:
    """An error bound with the rounding of its own computation in float64."""
    return error * (by * (1 + 1e-9))
