"""What an encoder reads, as far as its first layer tells, and what is wrong with objects that it cannot read."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def weighted_layer(encoder: nn.Module) -> nn.Embedding | nn.Linear | None:
    """The first layer with weights, where it is one that tells what it reads."""
    for layer in encoder.modules():
        if isinstance(layer, (nn.Embedding, nn.Linear)):
            return layer
        if next(layer.children(), None) is None and next(layer.parameters(), None) is not None:
            return None
    return None


def unreadable(name: str, objects: Tensor, encoder: nn.Module) -> Exception | None:
    """Why the first layer cannot read these objects; asked after an encoder has failed, since it may convert them."""
    layer = weighted_layer(encoder)
    what = f"the encoder ({type(encoder).__name__})"
    if isinstance(layer, nn.Embedding):
        if objects.dtype not in (torch.int64, torch.int32):
            return TypeError(
                f"{name}: expected numbers of objects in torch.int64, which {what} reads, got {objects.dtype}"
            )
        low, high = (int(objects.min()), int(objects.max())) if objects.numel() else (0, 0)
        if low < 0 or high >= layer.num_embeddings:
            known = f"from 0 to {layer.num_embeddings - 1}, which {what} knows"
            return ValueError(f"{name}: expected numbers of objects {known}, got {low if low < 0 else high}")
    if isinstance(layer, nn.Linear):
        dtype = layer.weight.dtype
        if objects.dtype != dtype and not torch.is_autocast_enabled(objects.device.type):
            return TypeError(
                f"{name}: expected the dtype of the weights of {what}, {dtype}, got {objects.dtype}; "
                f"convert one of them, such as {name}.to({dtype})"
            )
        if objects.ndim == 0 or objects.shape[-1] != layer.in_features:
            shape = tuple(objects.shape)
            return ValueError(f"{name}: expected last axis {layer.in_features}, which {what} reads, got shape {shape}")
    return None


def example_objects(encoder: nn.Module) -> Tensor | None:
    """Two objects such as the encoder reads."""
    layer = weighted_layer(encoder)
    if isinstance(layer, nn.Embedding):
        return torch.arange(2)
    return None if layer is None else torch.randn(2, layer.in_features)
