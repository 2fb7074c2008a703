"""Neural Metrics: concave functions of the components of a norm or distance."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from trimetric.distances.base import Distance
from trimetric.distances.norm_induced import as_distance
from trimetric.distances.transformed import TransformedDistance
from trimetric.kernels.fused import FusedPairs
from trimetric.norms import Norm
from trimetric.norms.activations import ConcaveUnits, PoolName


class NeuralMetric(TransformedDistance):
    r"""The pooled $f_i(d_i(x, y))$ with learned concave $f_i$, for the components $d_i$ of a norm or of any distance.

    Each $f_i$ is concave and non-decreasing with $f_i(0) = 0$, hence subadditive, so $f_i \circ d_i$ is a quasimetric
    (Proposition 7), and so is a mean or maximum of them (Proposition 8).  The result is no longer homogeneous: it
    can saturate, as $\min(1, \|y - x\|)$ does.  By default, components are pooled as in `norm`.
    (Section 3.1 of the paper only covers norms.)

    Args:
        norm: a norm or a distance.
        concave_units: number of lines whose minimum is $f_i$.
        pool: how the components are pooled; None takes the pooling of `norm`.

    Examples:
        >>> import torch
        >>> from trimetric import WideNorm
        >>> distance = NeuralMetric(WideNorm(8))
        >>> distance(torch.randn(5, 8), torch.randn(5, 8)).shape
        torch.Size([5])
    """

    def __init__(self, norm: Norm | Distance, *, concave_units: int = 5, pool: PoolName | None = None) -> None:
        inner = as_distance("norm", norm)
        super().__init__(inner.dim, num_components=inner.num_components, pool=pool, inner=inner)
        self.concave = ConcaveUnits(inner.num_components, concave_units)
        # Slopes may become 0, so definiteness is not kept; N5 speaks of norms.
        self.axioms = inner.axioms.but(definite=False, homogeneous=False, monotone=False)

    @property
    def has_fused_rows(self) -> bool:
        return self.inner.has_fused_rows

    def transform(self, components: Float[Tensor, "*batch k"]) -> Float[Tensor, "*batch k"]:
        return self.concave(components)

    def fuse(self, fused: FusedPairs) -> FusedPairs:
        return fused.below_lines(self.concave.slope, self.concave.offset)
