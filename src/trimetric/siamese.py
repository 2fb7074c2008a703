"""One encoder for both ends of a distance."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from trimetric.architecture import Described
from trimetric.axioms import Axioms
from trimetric.distances import Distance, as_distance
from trimetric.norms import Norm


class Siamese(Described):
    r"""$d(\phi(x), \phi(y))$ for an encoder $\phi$ with output `(..., dim)` and a distance (or norm) on its image.

    The encoder may be any module; what the distance promises holds between the encoded objects, apart
    from definiteness, as $\phi$ may map two objects to one point, and homogeneity.
    Inputs of one shape are encoded in one call.
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
        if x is y:
            encoded = self.encoder(x)
            return self.distance(encoded, encoded)
        if x.shape == y.shape and x.ndim > 1:
            encoded = self.encoder(torch.cat([x, y]))
            return self.distance(encoded[: x.shape[0]], encoded[x.shape[0] :])
        return self.distance(self.encoder(x), self.encoder(y))
