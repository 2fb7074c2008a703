"""What a network reads, as far as its layers tell, and what is wrong with objects that it cannot read."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from trimetric.distances.base import Distance


@dataclass(frozen=True)
class ObjectNumbers:
    """The numbers of objects, which a table of points reads.

    Attributes:
        count: the number of objects in the table.
    """

    count: int


@dataclass(frozen=True)
class FeatureVectors:
    """Vectors of features.

    Attributes:
        width: the size of the last axis.
        dtype: that of the weights which read them.
    """

    width: int
    dtype: torch.dtype


def inputs_of(reader: nn.Module, *, guess: bool = False) -> ObjectNumbers | FeatureVectors | None:
    """Tell what an encoder, or a distance between vectors, reads.

    Args:
        reader: a module such as `ObjectDistance.reader`.
        guess: whether the first layer with weights counts where the first layer of all does not tell; it may be inside
            of a module that reads something else.

    Returns:
        What it reads, or None where that cannot be told.

    Examples:
        >>> inputs_of(nn.Sequential(nn.Linear(3, 8), nn.ReLU()))
        FeatureVectors(width=3, dtype=torch.float32)
        >>> inputs_of(nn.Embedding(10, 4))
        ObjectNumbers(count=10)
        >>> inputs_of(nn.Flatten()) is None
        True
    """
    layer: nn.Module = reader
    while (isinstance(layer, nn.Sequential) and len(layer)) or hasattr(layer, "first_reader"):
        layer = layer[0] if isinstance(layer, nn.Sequential) else layer.first_reader  # type: ignore[assignment]
    found = _read_by(layer)
    if found is not None or not guess:
        return found
    for part in reader.modules():
        found = _read_by(part)
        if found is not None:
            return found
        if next(part.children(), None) is None and next(part.parameters(), None) is not None:
            return None
    return None


def _read_by(layer: nn.Module) -> ObjectNumbers | FeatureVectors | None:
    if isinstance(layer, nn.Embedding):
        return ObjectNumbers(layer.num_embeddings)
    width = layer.dim if isinstance(layer, Distance) else getattr(layer, "in_features", None)
    if not isinstance(width, int):
        return None
    dtype = next((weight.dtype for weight in layer.parameters() if weight.is_floating_point()), torch.float32)
    return FeatureVectors(width, dtype)


def explain_unreadable(name: str, objects: Tensor, encoder: nn.Module) -> Exception | None:
    """Say why an encoder cannot read objects.

    Ask after it has failed, since an encoder may convert what it is given.

    Args:
        name: what the error calls the objects.
        objects: the objects.
        encoder: what failed to read them.

    Returns:
        The error to raise, or None where the reason cannot be told.  A `Distance` says itself what is wrong.
    """
    reads = None if isinstance(encoder, Distance) else inputs_of(encoder, guess=True)
    what = f"the encoder ({type(encoder).__name__})"
    if isinstance(reads, ObjectNumbers):
        if objects.dtype not in (torch.int64, torch.int32):
            return TypeError(
                f"{name}: expected numbers of objects in torch.int64, which {what} reads, got {objects.dtype}"
            )
        low, high = (int(objects.min()), int(objects.max())) if objects.numel() else (0, 0)
        if low < 0 or high >= reads.count:
            known = f"from 0 to {reads.count - 1}, which {what} knows"
            return ValueError(f"{name}: expected numbers of objects {known}, got {low if low < 0 else high}")
    if isinstance(reads, FeatureVectors):
        if objects.dtype != reads.dtype and not torch.is_autocast_enabled(objects.device.type):
            return TypeError(
                f"{name}: expected the dtype of the weights of {what}, {reads.dtype}, got {objects.dtype}; "
                f"convert one of them, such as {name}.to({reads.dtype})"
            )
        if objects.ndim == 0 or objects.shape[-1] != reads.width:
            shape = tuple(objects.shape)
            return ValueError(f"{name}: expected last axis {reads.width}, which {what} reads, got shape {shape}")
    return None


def example_objects(reader: nn.Module) -> Tensor | None:
    """Make two objects such as an encoder, or a distance between vectors, reads.

    Args:
        reader: a module such as `ObjectDistance.reader`.

    Returns:
        The objects, or None where it cannot be told what the module reads.
    """
    reads = inputs_of(reader, guess=True)
    if isinstance(reads, ObjectNumbers):
        return torch.arange(2)
    return None if reads is None else torch.randn(2, reads.width)
