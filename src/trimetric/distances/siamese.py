"""One encoder for both ends of a distance."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from trimetric._support import checks
from trimetric._support.described import Described
from trimetric.axioms import Axioms
from trimetric.distances import Distance, as_distance
from trimetric.distances.encoder_inputs import unreadable
from trimetric.kernels.equal_rows import first_equal_row
from trimetric.norms import Norm


class Siamese(Described):
    r"""$d(\phi(x), \phi(y))$ for an encoder $\phi$ with output `(..., dim)` and a distance (or norm) on its image.

    The encoder may be any module; what the distance promises holds between the encoded objects, apart
    from definiteness, as $\phi$ may map two objects to one point, and homogeneity.
    Inputs of one shape are encoded in one call.  Equal objects get one embedding, even where the encoder
    rounds them differently at different places in a batch: $d(x, x) = 0$ then holds also under a `TollMetric`.
    """

    def __init__(self, encoder: nn.Module, distance: Norm | Distance) -> None:
        super().__init__()
        if not isinstance(encoder, nn.Module):
            raise TypeError(f"encoder: expected a torch.nn.Module, got {type(encoder).__name__}")
        self.encoder = encoder
        self.distance = as_distance("distance", distance)

    @property
    def axioms(self) -> Axioms:
        return self.distance.axioms.but(definite=False, homogeneous=False, translation_invariant=False, monotone=False)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        checks.tensor("x", x)
        checks.tensor("y", y)
        if x is y:
            encoded = self.encoded("x", x)
            return self.distance(encoded, encoded)
        if x.shape == y.shape and x.dtype == y.dtype and x.ndim > 1:
            encoded = self.encoded("x", torch.cat([x, y]), shown=x)
            start, end = encoded[: x.shape[0]], encoded[x.shape[0] :]
        else:
            start, end = self.encoded("x", x), self.encoded("y", y)
        checks.broadcastable(start, end)
        if _is_batch_of(start, x) and _is_batch_of(end, y) and x.ndim - start.ndim == y.ndim - end.ndim:
            axes = x.ndim - start.ndim + 1  # of one object
            equal = (x == y).flatten(-axes).all(dim=-1) if axes else x == y
            end = torch.where(equal.unsqueeze(-1), _with_gradient_of(end, start), end)
        return self.distance(start, end)

    def encoded(self, name: str, objects: Tensor, *, shown: Tensor | None = None) -> Tensor:
        """What the encoder makes of objects; where it cannot read them, an error that says so of `name`."""
        if torch.compiler.is_compiling():
            return self.encoder(objects)
        try:
            return self.encoder(objects)
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            reason = unreadable(name, objects if shown is None else shown, self.encoder)
            if reason is None:
                raise
            raise reason from error

    def encode_rows(self, x: Tensor, y: Tensor | None) -> tuple[Tensor, Tensor]:
        """The embeddings of the objects along the first axes, each encoded once, and equal ones with one embedding."""
        if y is None or y is x:
            encoded = self.encoded("x", x)
            encoded = _with_gradient_of(encoded, encoded[first_equal_row(x)])
            return encoded, encoded
        if x.shape[1:] != y.shape[1:] or x.dtype != y.dtype:
            return self.encoded("x", x), self.encoded("y", y)
        encoded = torch.cat([self.encoded("x", x), self.encoded("y", y)])
        encoded = _with_gradient_of(encoded, encoded[first_equal_row(torch.cat([x, y]))])
        return encoded[: len(x)], encoded[len(x) :]


def _is_batch_of(encoded: Tensor, objects: Tensor) -> bool:
    return objects.shape[: encoded.ndim - 1] == encoded.shape[:-1]


def _with_gradient_of(encoded: Tensor, value: Tensor) -> Tensor:
    """`value`, exactly, as far as numbers go; `encoded` as far as gradients go."""
    return value.detach() + (encoded - encoded.detach())
