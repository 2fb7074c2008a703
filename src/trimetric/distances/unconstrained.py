"""References that promise nothing: a plain network and a convex one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from trimetric._audit.axioms import NOTHING
from trimetric._support import checks
from trimetric.distances.base import Distance
from trimetric.kernels.rows.layers import run_layers
from trimetric.norms.activations import make_activation
from trimetric.norms.deep import NonNegativeLinear

MLPInputs = Literal["difference", "concatenation", "both_differences"]


class MLPDistance(Distance):
    """A fully connected ReLU network of two points.  **It promises nothing**, not even a non-negative value.

    It sees `y - x` (`inputs="difference"`), `x :: y` (`"concatenation"`), or `y - x :: x - y`
    (`"both_differences"`).  With `output="softplus"` its value is at least non-negative.

    Args:
        dim: size of the last axis.
        widths: units of the hidden layers.
        inputs: what the network sees: "difference", "concatenation" or "both_differences".
        output: "linear", or "softplus" for non-negative values.

    Examples:
        >>> MLPDistance(8)(torch.randn(5, 8), torch.randn(5, 8)).shape
        torch.Size([5])
    """

    axioms = NOTHING

    def __init__(
        self,
        dim: int,
        *,
        widths: Iterable[int] = (128, 128, 128),
        inputs: MLPInputs = "difference",
        output: Literal["linear", "softplus"] = "linear",
    ) -> None:
        sizes = checks.positive_ints("widths", widths)
        checks.one_of("inputs", inputs, ("difference", "concatenation", "both_differences"))
        checks.one_of("output", output, ("linear", "softplus"))
        super().__init__(dim, num_components=1, pool="mean")
        self.widths, self.inputs = sizes, inputs
        if output == "softplus":
            self.axioms = NOTHING.but(nonnegative=True)
        first = self.dim if inputs == "difference" else 2 * self.dim
        layers: list[nn.Module] = []
        for fan_in, fan_out in itertools.pairwise((first, *sizes)):
            layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
        layers.append(nn.Linear(sizes[-1], 1))
        if output == "softplus":
            layers.append(nn.Softplus())
        self.network = nn.Sequential(*layers)

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch 1"]:
        if self.inputs == "concatenation":
            return run_layers(self.network, torch.cat(torch.broadcast_tensors(x, y), dim=-1))
        difference = y - x
        if self.inputs == "both_differences":
            difference = torch.cat([difference, -difference], dim=-1)
        return run_layers(self.network, difference)

    @property
    def definition_floats(self) -> int:
        return 2 * self.dim + 2 * sum(self.widths)


class ConvexNetwork(Distance):
    r"""$f(y - x)$ for an input-convex network $f$ (ICNN).

    With $h_i = g_i(W_i h_{i-1} + U_i x + b_i)$, $W_i \ge 0$, and an affine end, $f$ is convex for every value of
    the parameters.  **As a distance it promises nothing**: it is neither homogeneous nor zero at 0, so it
    need not be subadditive.  With `activation="maxrelu"` it is the max-ICNN of Theorem 1, dense in the
    convex functions.

    Args:
        dim: size of the last axis.
        widths: units of the hidden layers.
        activation: "relu" or "maxrelu", which needs even widths.

    Examples:
        >>> ConvexNetwork(8)(torch.randn(5, 8), torch.randn(5, 8)).shape
        torch.Size([5])
    """

    axioms = NOTHING

    def __init__(
        self,
        dim: int,
        *,
        widths: Iterable[int] = (128, 128, 128),
        activation: Literal["relu", "maxrelu"] = "relu",
    ) -> None:
        sizes = checks.positive_ints("widths", widths)
        checks.one_of("activation", activation, ("relu", "maxrelu"))
        super().__init__(dim, num_components=1, pool="mean")
        self.widths = sizes
        rows = (*sizes, 1)
        self.skip = nn.Parameter(torch.randn(sum(rows), self.dim) / math.sqrt(self.dim))
        self.bias = nn.Parameter(torch.zeros(sum(rows)))
        self.hidden = nn.ModuleList(NonNegativeLinear(*pair) for pair in itertools.pairwise(rows))
        self.activations = nn.ModuleList(make_activation(activation, width) for width in sizes)

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch 1"]:
        unit, *rest = F.linear(y - x, self.skip, self.bias).split((*self.widths, 1), dim=-1)
        for linear, activation, skip in zip(self.hidden, self.activations, rest, strict=True):
            unit = linear(activation(unit)) + skip
        return unit

    @property
    def definition_floats(self) -> int:
        return 2 * self.dim + 3 * sum(self.widths)
