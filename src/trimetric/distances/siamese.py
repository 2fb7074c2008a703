"""One encoder for both ends of a distance."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from trimetric._audit.axioms import Axioms
from trimetric._support import checks
from trimetric.distances.base import Distance, ObjectDistance
from trimetric.distances.batching import OBJECTS_AT_ONCE, distinct_rows, in_chunks
from trimetric.distances.encoder_inputs import explain_unreadable
from trimetric.distances.norm_induced import as_distance
from trimetric.kernels.equal_rows import first_equal_row
from trimetric.kernels.rows.fused import check_rows
from trimetric.kernels.rows.layers import layer_differences, run_layers
from trimetric.norms import Norm


class Siamese(ObjectDistance):
    r"""$d(\phi(x), \phi(y))$ for an encoder $\phi$ with output `(..., dim)` and a distance (or norm) on its image.

    The encoder may be any module.  The promises of the distance hold between the encoded objects, except for
    homogeneity and definiteness, because $\phi$ may map two objects to one point.
    Inputs of the same shape are encoded in one call.  Equal objects get the same embedding, even if the encoder
    rounds them differently at different positions in a batch, so $d(x, x) = 0$ holds under a `TollMetric` too.

    Args:
        encoder: a module from objects to points `(..., dim)`.
        distance: the distance between points; a norm is converted to the distance that it induces.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> _ = torch.manual_seed(0)
        >>> model = tm.Siamese(tm.MLP(3, 8), tm.WideNorm(8))
        >>> objects = torch.randn(5, 3)
        >>> model.embed(objects).shape
        torch.Size([5, 8])
        >>> model(objects[:2], objects[:2]).tolist()
        [0.0, 0.0]
    """

    def __init__(self, encoder: nn.Module, distance: Norm | Distance) -> None:
        super().__init__()
        if not isinstance(encoder, nn.Module):
            raise TypeError(f"encoder: expected a torch.nn.Module, got {type(encoder).__name__}")
        self.encoder = encoder
        self.distance = as_distance("distance", distance)

    @property
    def axioms(self) -> Axioms:  # type: ignore[override]
        """What the distance promises, of objects instead of points."""
        return self.distance.axioms.but(definite=False, homogeneous=False, translation_invariant=False, monotone=False)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Compute the distances of paired objects.

        Args:
            x: objects along the first axes, or one object.
            y: the same number of objects, or a number that broadcasts.

        Returns:
            The distance from each object of `x` to the object of `y` in its place.
        """
        checks.tensor("x", x)
        checks.tensor("y", y)
        if x is y:
            encoded = self._encode("x", x)
            return self.distance(encoded, encoded)
        if x.shape == y.shape and x.dtype == y.dtype and x.ndim > 1:
            encoded = self._encode("x", torch.cat([x, y]), shown=x)
            start, end = encoded[: x.shape[0]], encoded[x.shape[0] :]
        else:
            start, end = self._encode("x", x), self._encode("y", y)
        checks.broadcastable(start, end)
        if _is_batch_of(start, x) and _is_batch_of(end, y) and x.ndim - start.ndim == y.ndim - end.ndim:
            axes = x.ndim - start.ndim + 1  # of one object
            equal = (x == y).flatten(-axes).all(dim=-1) if axes else x == y
            end = torch.where(equal.unsqueeze(-1), _with_gradient_of(end, start), end)
        return self.distance(start, end)

    @property
    def head(self) -> Distance:
        """The distance between encoded objects."""
        return self.distance

    @property
    def reader(self) -> nn.Module:
        """The encoder."""
        return self.encoder

    @property
    def factors_through_points(self) -> bool:
        """Whether `forward` is that of this class: a subclass that overrides it is asked for each pair."""
        return type(self).forward is Siamese.forward

    def embed(self, objects: Tensor, *, name: str = "objects") -> Tensor:
        """Encode objects; in chunks where no gradient is recorded.

        Args:
            objects: n objects along the first axis.
            name: what error messages call them.

        Returns:
            Their points `(n, dim)`.
        """
        checks.tensor(name, objects)
        if objects.ndim == 0:
            raise ValueError(f"{name}: expected objects along the first axis, got shape ()")
        return in_chunks(lambda part: self._encode(name, part), objects, size=OBJECTS_AT_ONCE)

    def between_rows(self, objects: Tensor, start: Tensor, end: Tensor) -> Tensor:
        """Compute `self(objects[start], objects[end])`, up to rounding, with each object encoded once.

        Args:
            objects: a table of objects along the first axis.
            start: the row where each pair starts.
            end: the row where each pair ends.

        Returns:
            The distance of each pair.
        """
        check_rows(len(objects), start, end)
        if not self.factors_through_points:
            return self._paired_rows(objects, start, end)
        if len(objects) > 2 * len(start):  # some of them are in no pair
            objects, start, end = distinct_rows(objects, start, end)
        difference = self._differences(objects, start, end)
        if difference is not None:
            return self.head.pool(self.head.difference_components(self.head.embed(difference)))
        return self.head.between_rows(self.embed(objects), start, end)

    def _differences(self, objects: Tensor, start: Tensor, end: Tensor) -> Tensor | None:
        """What is all that some heads read, where the encoder has a faster way to it than its points."""
        head, encoder = self.head, self.encoder
        if torch.compiler.is_compiling() or not (head.reads_differences and head.factors_through_points):
            return None
        if hasattr(encoder, "differences_of_rows"):  # a PairedEncoder; to ask by isinstance takes 20 us
            return encoder.differences_of_rows(objects, start, end)  # type: ignore[operator]
        return layer_differences(encoder, objects, start, end)

    def embed_both(self, x: Tensor, y: Tensor | None) -> tuple[Tensor, Tensor]:
        """Encode two tables of objects, with one point for equal objects.

        Args:
            x: objects along the first axis.
            y: more of them; None for those of `x`.

        Returns:
            The points of both.
        """
        if y is None or y is x:
            encoded = self.embed(x, name="x")
            encoded = _with_gradient_of(encoded, encoded[first_equal_row(x)])
            return encoded, encoded
        start, end = self.embed(x, name="x"), self.embed(y, name="y")
        if x.shape[1:] != y.shape[1:] or x.dtype != y.dtype:
            return start, end
        encoded = torch.cat([start, end])
        encoded = _with_gradient_of(encoded, encoded[first_equal_row(torch.cat([x, y]))])
        return encoded[: len(x)], encoded[len(x) :]

    def _encode(self, name: str, objects: Tensor, *, shown: Tensor | None = None) -> Tensor:
        """What the encoder makes of objects; where it cannot read them, an error that says so of `name`."""
        if torch.compiler.is_compiling():
            return self.encoder(objects)
        try:
            return run_layers(self.encoder, objects)
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            reason = explain_unreadable(name, objects if shown is None else shown, self.encoder)
            if reason is None:
                raise
            raise reason from error


def _is_batch_of(encoded: Tensor, objects: Tensor) -> bool:
    return objects.shape[: encoded.ndim - 1] == encoded.shape[:-1]


def _with_gradient_of(encoded: Tensor, value: Tensor) -> Tensor:
    """`value`, exactly, as far as numbers go; `encoded` as far as gradients go."""
    return value.detach() + (encoded - encoded.detach())
