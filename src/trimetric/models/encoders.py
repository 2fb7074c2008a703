"""Encoders of feature vectors that a saved model can describe.  Any other module can be an encoder as well."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from trimetric._support import checks
from trimetric._support.described import Described
from trimetric.kernels.rows.fused import has_hooks
from trimetric.kernels.rows.layers import layer_differences, run_layers

ActivationName = Literal["relu", "gelu", "silu", "tanh"]
_ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "gelu": nn.GELU, "silu": nn.SiLU, "tanh": nn.Tanh}


class Standardize(Described):
    """`(x - mean) / scale` for each feature, with buffers that `measure` sets from data.

    Args:
        features: the number of features.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, features: int) -> None:
        super().__init__()
        self.features = checks.positive_int("features", features)
        self.register_buffer("mean", torch.zeros(self.features))
        self.register_buffer("scale", torch.ones(self.features))

    @torch.no_grad()
    def measure(self, x: Float[Tensor, "n features"]) -> None:
        """Set mean and scale to those of the rows of `x`; the scale of a constant feature stays 1.

        Args:
            x: the features of n objects.
        """
        checks.finite("x", checks.vectors("x", x, self.features))
        rows = x.reshape(-1, self.features)
        spread = rows.std(dim=0, correction=0)
        self.mean.copy_(rows.mean(dim=0))
        self.scale.copy_(torch.where(spread > 0, spread, 1.0))

    def forward(self, x: Float[Tensor, "*batch features"]) -> Float[Tensor, "*batch features"]:
        return (checks.vectors("x", x, self.features) - self.mean) / self.scale


class MLP(Described):
    """A multilayer perceptron on standardized features.

    Call `standardize.measure(features)` before training to standardize the features; until then they pass unchanged.

    Args:
        in_features: the number of features of an object.
        out_features: the dimension of its point.
        widths: the sizes of the hidden layers.
        activation: "relu", "gelu", "silu" or "tanh".
        waves: the number of frequencies per feature: the network also reads sin and cos of 1, 2, 4, ... times the
            feature, so that it can distinguish places that are close together, such as the two sides of a wall.
        layer_norm: whether each hidden layer is normalized after its activation.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> encoder = tm.MLP(3, 8, widths=(16,))
        >>> encoder.standardize.measure(torch.randn(100, 3))
        >>> encoder(torch.randn(5, 3)).shape
        torch.Size([5, 8])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        widths: Sequence[int] = (128, 128),
        activation: ActivationName = "relu",
        waves: int = 0,
        layer_norm: bool = False,
    ) -> None:
        super().__init__()
        checks.boolean("layer_norm", layer_norm)
        checks.one_of("activation", activation, _ACTIVATIONS)
        self.waves = 0 if isinstance(waves, int) and waves == 0 else checks.positive_int("waves", waves)
        hidden = () if isinstance(widths, Sequence) and not widths else checks.positive_ints("widths", widths)
        sizes = (checks.positive_int("in_features", in_features) * (1 + 2 * self.waves), *hidden)
        self.standardize = Standardize(in_features)
        layers: list[nn.Module] = []
        for before, after in itertools.pairwise(sizes):
            layers += [nn.Linear(before, after), _ACTIVATIONS[activation]()]
            if layer_norm:
                layers.append(nn.LayerNorm(after))
        self.layers = nn.Sequential(*layers, nn.Linear(sizes[-1], checks.positive_int("out_features", out_features)))

    @property
    def in_features(self) -> int:
        """The number of features that it reads."""
        return self.standardize.features

    def forward(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Compute the points of objects.

        Args:
            x: their features.
        """
        checks.same_dtype("x", checks.vectors("x", x, self.standardize.features), self)
        return run_layers(self.layers, self._inputs(x))

    def differences_of_rows(
        self, x: Float[Tensor, "n in"], start: Int[Tensor, " pairs"], end: Int[Tensor, " pairs"]
    ) -> Float[Tensor, "pairs out"] | None:
        """Compute `self(x)[end] - self(x)[start]` with the last layer on the differences.

        Args:
            x: the features of objects.
            start: the row where each pair starts.
            end: the row where each pair ends.

        Returns:
            The differences; None if that is not possible or does not pay.
        """
        readable = x.ndim == 2 and x.shape[1] == self.in_features and x.dtype == self.standardize.mean.dtype
        if not readable or type(self).forward is not MLP.forward or has_hooks(self, self.standardize):
            return None
        return layer_differences(self.layers, self._inputs(x), start, end)

    def _inputs(self, x: Tensor) -> Tensor:
        """What the first layer reads."""
        x = self.standardize(x)
        if not self.waves:
            return x
        angles = [2.0**octave * x for octave in range(self.waves)]
        return torch.cat([x, *(wave for angle in angles for wave in (angle.sin(), angle.cos()))], dim=-1)
