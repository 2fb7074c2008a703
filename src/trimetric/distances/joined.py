"""Several networks that read the same objects, as one: their points side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric._support import checks
from trimetric._support.described import Described
from trimetric.distances.base import Distance, ObjectDistance
from trimetric.distances.combine import WideMetric
from trimetric.distances.encoder_inputs import FeatureVectors, inputs_of
from trimetric.distances.norm_induced import as_distance
from trimetric.distances.siamese import Siamese
from trimetric.distances.symmetrized import SymmetrizedMetric
from trimetric.kernels.pairs import PairKernel, Projection
from trimetric.norms import Norm


class JoinedEncoder(Described):
    """The outputs of several encoders of the same objects, side by side.

    Args:
        encoders: modules from objects to points `(..., dim_i)`.

    Examples:
        >>> encoder = JoinedEncoder([nn.Identity(), nn.Linear(3, 5)])
        >>> encoder(torch.randn(4, 3)).shape
        torch.Size([4, 8])
    """

    def __init__(self, encoders: Iterable[nn.Module]) -> None:
        super().__init__()
        self.encoders = nn.ModuleList(checks.members("encoders", encoders, "torch.nn.Module"))

    @property
    def first_reader(self) -> nn.Module:
        """The encoder that tells what all of them read: the first with weights, as an Identity does not tell."""
        return next((own for own in self.encoders if next(own.parameters(), None) is not None), self.encoders[0])

    def forward(self, objects: Tensor) -> Tensor:
        return torch.cat([encoder(objects) for encoder in self.encoders], dim=-1)


class PartDistance(Distance):
    """A distance of some of the coordinates: those from `start`, as many as it reads.

    A quasimetric of a part of the coordinates is one of the points, except that points may differ in the others alone.

    Args:
        distance: any distance or norm.
        dim: size of the points.
        start: the first coordinate that it reads.

    Examples:
        >>> from trimetric import Euclidean
        >>> PartDistance(Euclidean(2), 5, start=3)(torch.zeros(5), torch.tensor([9.0, 9.0, 9.0, 3.0, 4.0]))
        tensor(5.)
    """

    def __init__(self, distance: Norm | Distance, dim: int, *, start: int) -> None:
        inner = as_distance("distance", distance)
        if isinstance(start, bool) or not isinstance(start, int) or not 0 <= start <= dim - inner.dim:
            raise ValueError(f"start: expected a number from 0 to {dim - inner.dim}, got {start!r}")
        super().__init__(dim, num_components=inner.num_components, pool=None, inner=inner)
        self.start = start
        self.axioms = inner.axioms.but(definite=inner.axioms.definite and dim == inner.dim)

    def _part(self, x: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch part"]:
        return x[..., self.start : self.start + self.inner.dim]

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        return self.inner.components(self._part(x), self._part(y))

    def row_components(self, points: Tensor, start: Tensor, end: Tensor) -> Float[Tensor, "pairs k"]:
        return self.inner.row_components(self._part(points).contiguous(), start, end)

    def calibrate(self, predictions: Float[Tensor, " n"], targets: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        return self.inner.calibrate(predictions, targets)

    def pair_kernel(self) -> PairKernel:
        inner = self.inner.pair_kernel()

        def project(x: Float[Tensor, "n dim"], center: Float[Tensor, " dim"]) -> Projection:
            return inner.project(self._part(x), self._part(center))

        # No fused kernel: it looks for pairs that are close in all coordinates, not in these alone.
        return inner._replace(project=project, fused=None)

    @property
    def definition_floats(self) -> int:
        return self.inner.definition_floats


def join(networks: Sequence[ObjectDistance]) -> tuple[nn.Module | None, list[Distance]]:
    """Put the points of several networks that read the same objects side by side.

    Args:
        networks: a `Siamese` or a distance between vectors each.

    Returns:
        The encoder of the joined points, None if the objects are the points; and each distance on these points.
        Networks that have the same encoder, or none, share their coordinates.
    """
    readers: list[nn.Module | None] = []
    for network in networks:
        own = network.encoder if isinstance(network, Siamese) else None
        if not any(own is known for known in readers):
            readers.append(own)
    if readers == [None]:
        checks.one_dim("networks", [network.head.dim for network in networks])
        return None, [network.head for network in networks]
    widths = [
        next(
            network.head.dim
            for network in networks
            if (network.encoder if isinstance(network, Siamese) else None) is reader
        )
        for reader in readers
    ]
    dim, heads = sum(widths), []
    for network in networks:
        own = network.encoder if isinstance(network, Siamese) else None
        place = next(i for i, reader in enumerate(readers) if reader is own)
        heads.append(network.head if len(readers) == 1 else PartDistance(network.head, dim, start=sum(widths[:place])))
    if len(readers) == 1:
        return readers[0], heads
    return JoinedEncoder([nn.Identity() if reader is None else reader for reader in readers]), heads


def ensemble(models: Sequence[ObjectDistance], *, symmetric: bool = False) -> ObjectDistance:
    """Average the distances of several models that read the same objects.

    A mean of quasimetrics is a quasimetric, so an ensemble promises whatever all of its members promise.  An ensemble
    of networks that promise nothing is a good teacher for `distil`, and a good f for `metrize`.

    Args:
        models: each a `Siamese` or a distance between vectors; they are not copied.
        symmetric: whether to average both directions too, so that d(x, y) = d(y, x).

    Returns:
        One model, which can be trained, saved and exported like any other.

    Examples:
        >>> import trimetric as tm
        >>> models = [tm.Siamese(tm.MLP(3, 8), tm.WideNorm(8)) for _ in range(2)]
        >>> both = tm.ensemble(models)
        >>> x, y = torch.randn(2, 5, 3)
        >>> torch.allclose(both(x, y), (models[0](x, y) + models[1](x, y)) / 2)
        True
        >>> both.axioms.triangle
        True
    """
    members = checks.members("models", models, "Siamese or Distance")
    for i, member in enumerate(members):
        checks.instance(f"models[{i}]", member, Siamese, Distance)
    checks.boolean("symmetric", symmetric)
    read = [inputs_of(member.reader) for member in members]
    widths = [own.width for own in read if isinstance(own, FeatureVectors)]
    if len(set(widths)) > 1:
        raise ValueError(f"models: expected models that read the same objects, got some of {widths} features")
    encoder, heads = join(members)
    mean: Distance = WideMetric(heads, pool="mean")
    if symmetric:
        with torch.no_grad():
            mean.raw_weight.fill_(0.5)  # type: ignore[union-attr]
        mean = SymmetrizedMetric(mean)
    return mean if encoder is None else Siamese(encoder, mean)
