"""Every argument error of the package: names the argument, what was expected and what came."""

from __future__ import annotations

import math
import numbers
import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from trimetric._support.printable import shown


def positive_int(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name}: expected a positive integer, got {value!r}")
    return int(value)


def positive_ints(name: str, values: object) -> tuple[int, ...]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected a sequence of positive integers, got {values!r}")
    checked = tuple(positive_int(f"{name}[{i}]", value) for i, value in enumerate(values))
    if not checked:
        raise ValueError(f"{name}: expected at least one size, got an empty sequence")
    return checked


MAX_SEED = 1 << 43
"""so that a seed times a million, by which the epochs of a run are told apart, is still a seed of torch"""


def seed(name: str, value: object) -> int:
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not 0 <= int(value) <= MAX_SEED:  # type: ignore[arg-type]
        raise ValueError(f"{name}: expected an integer from 0 to {MAX_SEED}, got {value!r}")
    return int(value)  # type: ignore[arg-type]


def boolean(name: str, value: object) -> bool:
    """True or False: the text "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def path(name: str, value: object) -> Path:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name}: expected a path, got {type(value).__name__}")
    return Path(os.fspath(value))  # type: ignore[arg-type]


def finite_number(
    name: str,
    value: object,
    *,
    above: float | None = None,
    below: float | None = None,
    at_least: float | None = None,
) -> float:
    """A finite real number, strictly between `above` and `below` where they are given."""
    number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else None
    expected = "a finite number"
    if at_least is not None:
        expected += f" >= {at_least:g}"
    if above is not None:
        expected += f" above {above:g}"
    if below is not None:
        expected += f" and below {below:g}" if above is not None or at_least is not None else f" below {below:g}"
    if (
        number is None
        or not math.isfinite(number)
        or (at_least is not None and not number >= at_least)
        or (above is not None and not number > above)
        or (below is not None and not number < below)
    ):
        raise ValueError(f"{name}: expected {expected}, got {value!r}")
    return number


def share(name: str, value: object) -> float:
    """A part of a whole, from 0 to 1."""
    number = finite_number(name, value)
    if not 0 <= number <= 1:
        raise ValueError(f"{name}: expected a share from 0 to 1, got {value!r}")
    return number


def one_of(name: str, value: object, options: Collection[str]) -> None:
    if not isinstance(value, str) or value not in options:
        expected = ", ".join(repr(option) for option in options)
        raise ValueError(f"{name}: expected one of {expected}, got {value!r}")


def unmasked(name: str, value: object, *, hint: str) -> None:
    """No masked array: arrays made of one hold what lies under the mask."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected an array without a mask, got a masked array; {hint}")


def tensor(name: str, value: object) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, got {type(value).__name__}")
    return value


def floating_point(name: str, value: object) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: expected a floating-point torch.Tensor, got {type(value).__name__}")
    if not value.is_floating_point():
        raise TypeError(f"{name}: expected a floating-point tensor, got dtype {value.dtype}")
    return value


def as_tensor(name: str, value: object, like: object = None) -> Tensor:
    """A tensor as it is; a NumPy array as one, its floating-point numbers in the dtype of the weights of `like`.

    The rule of the package: functions that take data take arrays too, which come in float64 whatever the model is;
    modules that are called take tensors.
    """
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{name}: expected a torch.Tensor or a NumPy array, got {_kind(value)}")
    if value.dtype.kind not in "biuf":
        raise TypeError(f"{name}: expected an array of numbers, got dtype {value.dtype}")
    weights = like.parameters() if isinstance(like, nn.Module) else ()
    weight = next((parameter for parameter in weights if parameter.is_floating_point()), None)
    tensor = torch.from_numpy(value.copy())  # in the order of memory, and free of what becomes of the array
    if weight is None:
        return tensor
    return tensor.to(weight.device, weight.dtype if tensor.is_floating_point() else None)


def _kind(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _first_matrix(module: nn.Module) -> Tensor | None:
    """As from `parameters()` and `buffers()`, which take longer than a distance of one pair."""
    for tensors in (module._parameters, module._buffers):
        for tensor in tensors.values():
            if tensor is not None and tensor.ndim > 1 and tensor.is_floating_point():
                return tensor
    for child in module._modules.values():
        if child is not None and (found := _first_matrix(child)) is not None:
            return found
    return None


def first_parameter(module: nn.Module) -> nn.Parameter | None:
    """As from `parameters()`, which takes longer than a distance of one pair."""
    for parameter in module._parameters.values():
        if parameter is not None:
            return parameter
    for child in module._modules.values():
        if child is not None and (found := first_parameter(child)) is not None:
            return found
    return None


def any_training(module: nn.Module) -> bool:
    """Whether a module or a part of it is in training mode."""
    return module.training or any(any_training(child) for child in module._modules.values() if child is not None)


def same_dtype(name: str, value: Tensor, module: nn.Module) -> None:
    """That of the matrices of a module, which a product needs (but under autocast).  Static, as `vectors` is."""
    weight = _first_matrix(module)
    if weight is None or weight.dtype == value.dtype or torch.is_autocast_enabled(value.device.type):
        return
    raise TypeError(
        f"{name}: expected the dtype of the weights of {type(module).__name__}, {weight.dtype}, got {value.dtype}; "
        f"convert one of them, such as {name}.to({weight.dtype})"
    )


def vectors(name: str, value: object, dim: int) -> Tensor:
    """A floating-point tensor whose last axis is `dim`.  Static, so that it compiles and vmaps."""
    tensor = floating_point(name, value)
    if tensor.ndim == 0 or tensor.shape[-1] != dim:
        raise ValueError(f"{name}: expected last axis {dim}, got shape {tuple(tensor.shape)}")
    return tensor


def broadcastable(x: Tensor, y: Tensor) -> None:
    """`x` and `y` must have compatible batch axes (all but the last)."""
    for a, b in zip(reversed(x.shape[:-1]), reversed(y.shape[:-1]), strict=False):
        if a != b and a != 1 and b != 1:
            raise ValueError(
                "y: expected batch axes that broadcast with those of x, "
                f"got shapes {tuple(x.shape)} and {tuple(y.shape)}"
            )


def functions(name: str, value: object) -> list[Any]:
    """A sequence of functions, which may be empty."""
    if callable(value) or isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{name}: expected a sequence of functions, such as [function], got {_kind(value)}")
    items = list(value)
    for i, item in enumerate(items):
        if not callable(item):
            raise TypeError(f"{name}[{i}]: expected a function, got {_kind(item)}")
    return items


def matrix(name: str, value: Tensor) -> Tensor:
    if value.ndim != 2:
        raise ValueError(f"{name}: expected a matrix (points, dim), got shape {tuple(value.shape)}")
    return value


def finite(name: str, value: Tensor) -> Tensor:
    """No NaN and no infinity.  Reads the data: for set-up and reports, never for a forward pass."""
    bad = int((~torch.isfinite(value)).sum())
    if bad:
        raise ValueError(f"{name}: expected finite values, got {bad} NaN or infinite of {value.numel()}")
    return value


def members(name: str, value: object, of: str) -> list[Any]:
    """A non-empty sequence of modules."""
    if isinstance(value, nn.Module) or not isinstance(value, Iterable):
        raise TypeError(f"{name}: expected a sequence of {of}, got {type(value).__name__}")
    items = list(value)
    if not items:
        raise ValueError(f"{name}: expected at least one {of}, got an empty sequence")
    return items


def one_dim(name: str, dims: list[int]) -> int:
    if len(set(dims)) > 1:
        raise ValueError(f"{name}: expected one dim for all, got {dims}")
    return dims[0]


def instance(name: str, value: object, *kinds: type, hint: str = "") -> None:
    if not isinstance(value, kinds):
        expected = " or ".join(f"{'an' if kind.__name__[0] in 'AEIO' else 'a'} {kind.__name__}" for kind in kinds)
        raise TypeError(f"{name}: expected {expected}, got {_kind(value)}" + (f"; {hint}" if hint else ""))


_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def byte_count(name: str, value: object) -> int:
    """Bytes from an integer or from text such as `"256MiB"`."""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", value)
        if match and match[2].upper() in _UNITS:
            value = int(float(match[1]) * _UNITS[match[2].upper()])
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f'{name}: expected bytes as a positive integer or text like "256MiB", got {value!r}')
    return int(value)


def names(name: str, values: object) -> list[str]:
    """Names of objects: text that files can hold."""
    if isinstance(values, (str, bytes, dict)) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected a sequence of texts, got {shown(values)}")
    texts = list(values)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(
                f"{name}[{place}]: expected text, got {shown(text)}; [str(i) for i in {name}] makes names of numbers"
            )
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name}: expected text that UTF-8 can hold, got halves of surrogate pairs") from None
    return texts
