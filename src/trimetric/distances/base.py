"""The base classes of distances, between objects of any kind and between points."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from trimetric._audit.axioms import Axioms
from trimetric._support import checks
from trimetric._support.described import Described
from trimetric.distances.batching import PAIRS_AT_ONCE, in_chunks
from trimetric.kernels.pairs import PairKernel
from trimetric.kernels.rows.fused import check_rows
from trimetric.norms.pooled import Pooled


class ObjectDistance(Described, ABC):
    r"""A distance between objects: $d(x, y) = \mathrm{head}(\mathrm{embed}(x), \mathrm{embed}(y))$.

    `Siamese` and `Distance` both have this interface, so callers need not distinguish them.  For a `Siamese`,
    the objects are the inputs of its encoder; for a `Distance` they are the points themselves.
    """

    axioms: Axioms

    @property
    @abstractmethod
    def head(self) -> Distance:
        """The distance between points."""

    @property
    @abstractmethod
    def reader(self) -> nn.Module:
        """The module that reads objects: the encoder, or the distance itself."""

    @property
    @abstractmethod
    def factors_through_points(self) -> bool:
        """Whether $d(x, y)$ is the head's distance of the two points.

        This is False if a subclass overrides `forward`: then callers must not embed the objects once and measure the
        distances of their points.
        """

    @abstractmethod
    def embed(self, objects: Tensor, *, name: str = "objects") -> Float[Tensor, "n dim"]:
        """Compute the points of objects.

        Args:
            objects: n objects along the first axis.
            name: what error messages call them.

        Returns:
            Their points in the space of `head`.
        """

    @abstractmethod
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Compute the distances of paired objects.

        Args:
            x: objects along the first axes.
            y: as many objects, or as many as broadcast.

        Returns:
            The distance from each object of `x` to the object of `y` in its place.
        """

    @abstractmethod
    def between_rows(
        self, objects: Tensor, start: Int[Tensor, " pairs"], end: Int[Tensor, " pairs"]
    ) -> Float[Tensor, " pairs"]:
        """Compute `self(objects[start], objects[end])`, up to rounding, with each object embedded once.

        Args:
            objects: a table of objects along the first axis.
            start: the row where each pair starts.
            end: the row where each pair ends.

        Returns:
            The distance of each pair.
        """

    @abstractmethod
    def embed_both(self, x: Tensor, y: Tensor | None) -> tuple[Tensor, Tensor]:
        """Compute the points of two tables of objects, with one point for equal objects.

        Args:
            x: objects along the first axis.
            y: more of them; None for those of `x`, whose points are then returned twice.

        Returns:
            The points of both.
        """

    def _paired_rows(self, objects: Tensor, start: Tensor, end: Tensor) -> Tensor:
        """The definition of `between_rows`."""
        return in_chunks(lambda x, y: self(objects[x], objects[y]), start, end, size=PAIRS_AT_ONCE)


class Distance(Pooled, ObjectDistance):
    r"""A map $(x, y) \mapsto d(x, y)$ from two broadcastable tensors `(..., dim)` to `(...)`.

    A subclass gives `components`; the distance pools them.

    Args:
        dim: the size of the last axis of points.
        num_components: the number of components.
        pool: how they are pooled; None for the pooling of `inner`.
        inner: the norm or distance that this one wraps.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> distance = tm.NormInduced(tm.Euclidean(2))
        >>> points = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
        >>> distance(points[0], points[1])
        tensor(5.)
        >>> distance.between_rows(points, torch.tensor([0, 1, 1]), torch.tensor([1, 0, 1]))
        tensor([5., 5., 0.])
    """

    @abstractmethod
    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch k"]:
        """Compute the distances that are pooled, on the last axis.

        Args:
            x: points.
            y: points whose leading axes broadcast with those of `x`.
        """

    def forward(self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]) -> Float[Tensor, "*#batch"]:
        """Compute the distances of paired points.

        Args:
            x: points.
            y: points whose leading axes broadcast with those of `x`.

        Returns:
            The distance from each point of `x` to the point of `y` in its place.
        """
        checks.same_dtype("x", checks.vectors("x", x, self.dim), self)
        if checks.vectors("y", y, self.dim).dtype != x.dtype:
            checks.same_dtype("y", y, self)
        checks.broadcastable(x, y)
        return self.pool(self.components(x, y))

    @property
    def head(self) -> Distance:
        """The distance itself: its objects are points."""
        return self

    @property
    def reader(self) -> nn.Module:
        """The distance itself."""
        return self

    @property
    def factors_through_points(self) -> bool:
        """Whether `forward` is that of this class, so that faster ways to the same values may replace it."""
        return type(self).forward is Distance.forward

    def embed(self, objects: Float[Tensor, "*n dim"], *, name: str = "objects") -> Float[Tensor, "*n dim"]:
        """Return the points as they are, once dtype and last axis are checked.

        Args:
            objects: the points.
            name: what error messages call them.
        """
        checks.same_dtype(name, checks.vectors(name, objects, self.dim), self)
        return objects

    def embed_both(self, x: Tensor, y: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return two tables of points as they are.

        Args:
            x: points.
            y: more of them; None for those of `x`.
        """
        return x, x if y is None else y

    def between_rows(
        self, objects: Float[Tensor, "n dim"], start: Int[Tensor, " pairs"], end: Int[Tensor, " pairs"]
    ) -> Float[Tensor, " pairs"]:
        """Compute `self(objects[start], objects[end])`, up to rounding; cheaper for fewer points than pairs.

        Args:
            objects: the points.
            start: the row where each pair starts.
            end: the row where each pair ends.

        Returns:
            The distance of each pair.
        """
        check_rows(len(objects), start, end)
        if not self.factors_through_points:
            return self._paired_rows(objects, start, end)
        points = self.embed(objects)
        return in_chunks(lambda x, y: self._between(points, x, y), start, end, size=PAIRS_AT_ONCE)

    def _between(self, points: Tensor, start: Tensor, end: Tensor) -> Tensor:
        return self.pool(self.row_components(points, start, end))

    def row_components(self, points: Tensor, start: Tensor, end: Tensor) -> Float[Tensor, "pairs k"]:
        """Compute the components for `between_rows`.

        By default those of the two ends.  A subclass may compute what needs one point only once per point, which pays
        where there are fewer points than pairs.

        Args:
            points: a table of points.
            start: the row where each pair starts.
            end: the row where each pair ends.
        """
        return self.components(F.embedding(start, points), F.embedding(end, points))

    @property
    def reads_differences(self) -> bool:
        """Whether the distance depends on y - x alone, and `difference_components` computes its components from it."""
        return False

    def difference_components(self, difference: Float[Tensor, "pairs dim"]) -> Float[Tensor, "pairs k"]:  # noqa: ARG002
        """Compute the components from the differences y - x.

        Args:
            difference: a row per pair.
        """
        raise TypeError(f"{type(self).__name__}: expected a distance that depends on differences alone")

    def calibrate(self, predictions: Float[Tensor, " n"], targets: Float[Tensor, " n"]) -> Float[Tensor, " n"]:  # noqa: ARG002
        """Set constants from data, once, before training.

        Args:
            predictions: what this distance predicts now.
            targets: what it should predict.

        Returns:
            What it predicts afterwards.  Most distances have no such constants.
        """
        return predictions

    def pair_kernel(self) -> PairKernel:
        return PairKernel(
            project=lambda x, center: x,  # noqa: ARG005
            pairs=lambda px, py: self.components(px.unsqueeze(1), py.unsqueeze(0)),
            floats=2 * self.definition_floats,
        )
