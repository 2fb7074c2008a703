"""How a module was built, as plain data: what a saved model keeps instead of code."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
from torch import Tensor, nn

_CLASSES: dict[str, type[nn.Module]] = {}

# Layers of torch for encoders, with the arguments to build them by; each is also the name of an attribute.
_LAYERS: dict[type[nn.Module], tuple[str, ...]] = {
    nn.Linear: ("in_features", "out_features", "bias"),
    nn.Embedding: ("num_embeddings", "embedding_dim"),
    nn.Conv2d: ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups", "bias"),
    nn.MaxPool2d: ("kernel_size", "stride", "padding"),
    nn.AvgPool2d: ("kernel_size", "stride", "padding"),
    nn.BatchNorm1d: ("num_features", "eps", "momentum"),
    nn.BatchNorm2d: ("num_features", "eps", "momentum"),
    nn.LayerNorm: ("normalized_shape", "eps"),
    nn.Dropout: ("p",),
    nn.Flatten: ("start_dim", "end_dim"),
    nn.Identity: (),
    nn.ReLU: (),
    nn.LeakyReLU: ("negative_slope",),
    nn.ELU: ("alpha",),
    nn.GELU: ("approximate",),
    nn.SiLU: (),
    nn.Tanh: (),
    nn.Sigmoid: (),
    nn.Softplus: ("beta", "threshold"),
}
_CLASSES.update({f"torch.nn.{layer.__name__}": layer for layer in (*_LAYERS, nn.Sequential)})


class Described(nn.Module):
    """A module that remembers the arguments it was built by.

    Subclasses can be saved in a `Model`; one that is defined outside of the package can be loaded by programs that
    import it.
    """

    _built_by: tuple[list[Any], dict[str, Any]]

    def __new__(cls, *arguments: Any, **named: Any) -> Any:
        module = super().__new__(cls)
        # An iterator is used up by __init__, and cannot be copied.
        kept = [_Unknown(value) if isinstance(value, Iterator) else value for value in (*arguments, *named.values())]
        by_name = dict(zip(named, kept[len(arguments) :], strict=True))
        object.__setattr__(module, "_built_by", (kept[: len(arguments)], by_name))
        return module

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        _CLASSES[_name_of(cls)] = cls


class _Unknown:
    def __init__(self, value: object) -> None:
        self.kind = type(value).__name__


def describe(module: nn.Module) -> dict[str, Any]:
    """The class and the arguments of a module, as JSON can hold them; `build` is the inverse, up to weights."""
    kind = type(module)
    if isinstance(module, Described):
        arguments, named = module._built_by
        bound = inspect.signature(kind).bind(*arguments, **named).arguments
    elif kind in _LAYERS:
        bound = {name: getattr(module, name) for name in _LAYERS[kind]}
        if "bias" in bound:
            bound["bias"] = bound["bias"] is not None
    elif kind is nn.Sequential:
        bound = {"layers": list(module)}  # type: ignore[call-overload]
    else:
        known = ", ".join(sorted({layer.__name__ for layer in _LAYERS}))
        raise TypeError(
            f"{kind.__name__}: expected a module of Trimetric, a subclass of trimetric.architecture.Described, or "
            f"one of torch.nn's Sequential, {known}"
        )
    return {"class": _name_of(kind), "arguments": {k: _plain(f"{kind.__name__}.{k}", v) for k, v in bound.items()}}


def build(description: object) -> nn.Module:
    """A fresh module from what `describe` gave.  Only classes that are known by name are ever called."""
    if not isinstance(description, dict) or set(description) != {"class", "arguments"}:
        raise ValueError(f"architecture: expected a class and its arguments, got {description!r:.80}")
    name, arguments = description["class"], description["arguments"]
    if name not in _CLASSES:
        raise ValueError(
            f"architecture: {name!r:.80} is no class that this program knows; import what defines it first"
        )
    if not isinstance(arguments, dict):
        raise ValueError(f"architecture: expected the arguments of {name} by name, got {arguments!r:.80}")
    values = {key: _revived(value) for key, value in arguments.items()}
    try:
        return nn.Sequential(*values["layers"]) if name == "torch.nn.Sequential" else _CLASSES[name](**values)
    except (TypeError, KeyError) as error:
        raise ValueError(f"architecture: {name} cannot be built: {error}") from None


def _name_of(kind: type) -> str:
    if kind.__module__.startswith("trimetric."):
        return kind.__name__
    return (
        f"torch.nn.{kind.__name__}"
        if kind.__module__.startswith("torch.nn.")
        else f"{kind.__module__}.{kind.__qualname__}"
    )


def _plain(name: str, value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, nn.Module):
        return describe(value)
    if isinstance(value, (list, tuple, nn.ModuleList)):
        return [_plain(f"{name}[{i}]", item) for i, item in enumerate(value)]
    if isinstance(value, (np.ndarray, np.generic, Tensor)):
        return value.tolist()
    kind = value.kind if isinstance(value, _Unknown) else type(value).__name__
    raise TypeError(f"{name}: expected numbers, text, sequences or modules in what is to be saved, got {kind}")


def _revived(value: Any) -> Any:
    if isinstance(value, dict):
        return build(value)
    return [_revived(item) for item in value] if isinstance(value, list) else value
