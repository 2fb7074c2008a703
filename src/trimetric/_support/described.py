"""How a module was built, as plain data: what a saved model keeps instead of code."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
from torch import Tensor, nn

from trimetric._support.printable import printable, shown

_CLASSES: dict[str, type[nn.Module]] = {}

# Layers of torch for encoders.  Their arguments are read from their signatures, so that none can be forgotten.
_LAYERS: tuple[type[nn.Module], ...] = (
    nn.Linear,
    nn.Embedding,
    nn.Conv2d,
    nn.MaxPool2d,
    nn.AvgPool2d,
    nn.BatchNorm1d,
    nn.BatchNorm2d,
    nn.LayerNorm,
    nn.Dropout,
    nn.Flatten,
    nn.Identity,
    nn.ReLU,
    nn.LeakyReLU,
    nn.ELU,
    nn.GELU,
    nn.SiLU,
    nn.Tanh,
    nn.Sigmoid,
    nn.Softplus,
)
_CLASSES.update({f"torch.nn.{layer.__name__}": layer for layer in (*_LAYERS, nn.Sequential)})

# Arguments that are no part of the function: where and in which type the weights are is known from the weights, which
# are also what `_weight` gives an Embedding; `_freeze` is about training alone.
_NO_PART = ("device", "dtype", "_weight", "_freeze")
DEEPEST = 50  # modules in each other


class Described(nn.Module):
    """A module that remembers the arguments that it was created with.

    Subclasses can be saved in a `Model`.  A subclass that is defined outside this package can be loaded by any program
    that imports it.

    Examples:
        >>> class Doubled(Described):
        ...     def __init__(self, dim: int) -> None:
        ...         super().__init__()
        ...         self.linear = nn.Linear(dim, 2 * dim)
        >>> describe(Doubled(3))["arguments"]
        {'dim': 3}
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
        bound = _layer_arguments(module)
    elif kind is nn.Sequential:
        bound = {"layers": list(module)}  # type: ignore[call-overload]
    else:
        known = ", ".join(sorted(layer.__name__ for layer in _LAYERS))
        raise TypeError(
            f"{kind.__name__}: expected a module of Trimetric, a subclass of trimetric.Described, or "
            f"one of torch.nn's Sequential, {known}"
        )
    return {"class": _name_of(kind), "arguments": {k: _plain(f"{kind.__name__}.{k}", v) for k, v in bound.items()}}


def _layer_arguments(layer: nn.Module) -> dict[str, Any]:
    """The arguments to build a layer of torch by: the needed ones, and of the others those that are not the default.

    An argument that is no attribute of the layer cannot be told, so the layer is refused.
    """
    kind = type(layer)
    bound: dict[str, Any] = {}
    for name, parameter in inspect.signature(kind).parameters.items():
        if name in _NO_PART or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name == "bias" and "bias" in layer._parameters:
            # Without a weight there is nothing to shift either, whatever was asked for.
            value = layer.bias is not None or getattr(layer, "weight", None) is None
        elif name in vars(layer):
            value = vars(layer)[name]
        else:
            raise TypeError(
                f"{kind.__name__}.{name}: expected an argument that can be told from the layer, got one that this "
                "version of Trimetric does not know; a layer that has it cannot be saved"
            )
        if parameter.default is parameter.empty or value != parameter.default:
            bound[name] = value
    return bound


def layer_differences(one: nn.Module, other: nn.Module) -> list[str]:
    """Where the layers of torch in two modules of one architecture do not compute the same, in words."""
    found = []
    theirs = dict(other.named_modules())
    for name, layer in one.named_modules():
        if type(layer) not in _LAYERS:
            continue
        mine = _layer_arguments(layer)
        its = _layer_arguments(theirs[name]) if type(theirs.get(name)) is type(layer) else {}
        found += [
            f"{name or 'network'}.{key} was {mine.get(key)!r} and comes back as {its.get(key)!r}"
            for key in sorted(mine.keys() | its.keys())
            if _plain(key, mine.get(key)) != _plain(key, its.get(key))
        ]
    return found


def build(description: object, *, _depth: int = 0) -> nn.Module:
    """A fresh module from what `describe` gave.  Only classes that are known by name are ever called."""
    if not isinstance(description, dict) or set(description) != {"class", "arguments"}:
        raise ValueError(f"architecture: expected a class and its arguments, got {shown(description)}")
    if _depth > DEEPEST:
        raise ValueError(f"architecture: expected at most {DEEPEST} modules in each other, got more")
    name, arguments = description["class"], description["arguments"]
    if not isinstance(name, str) or name not in _CLASSES:
        raise ValueError(
            f"architecture: {shown(name)} is no class that this program knows; import what defines it first"
        )
    if not isinstance(arguments, dict):
        raise ValueError(f"architecture: expected the arguments of {name} by name, got {shown(arguments)}")
    values = {key: _revived(value, _depth + 1) for key, value in arguments.items()}
    try:
        if name == "torch.nn.Sequential":
            return nn.Sequential(*values["layers"])
        return _CLASSES[name](**values)
    except Exception as error:  # whatever a constructor says to nonsense
        told = printable(" ".join(str(error).split()), limit=200)
        raise ValueError(f"architecture: {name} cannot be built: {told}") from None


def _name_of(kind: type) -> str:
    if kind.__module__.startswith("trimetric.integrations."):
        return ".".join([*kind.__module__.split(".")[:3], kind.__name__])  # torchqmet too has a WideNorm
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


def _revived(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        return build(value, _depth=depth)
    return [_revived(item, depth) for item in value] if isinstance(value, list) else value
