"""What an index is given: objects, names, directions and radii, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from trimetric._support import checks
from trimetric.models.model import Model
from trimetric.search.subject import Searched

Direction = Literal["from", "to"]


def given_objects(distance: Searched, points: Any) -> tuple[list[str] | None, Tensor]:
    """The names and the objects of the points."""
    if isinstance(distance, Model):
        if isinstance(points, (Tensor, np.ndarray)):
            raise TypeError("points: expected names of objects of the model, or None for all of them, got numbers")
        names = list(distance.ids or ()) if points is None else checks.names("points", points)
        if len(set(names)) < len(names):
            raise ValueError(f"points: expected different names, got {len(names) - len(set(names))} repeated")
        return names, distance.objects(names).cpu()
    if points is None:
        raise ValueError("points: expected the points to search among, got None")
    return None, as_objects("points", points, distance)


def is_outgoing(direction: object) -> bool:
    checks.one_of("direction", direction, ("from", "to"))
    return direction == "from"


def radii(radius: Any, points: Tensor) -> Tensor:
    if isinstance(radius, (list, tuple)):
        radius = np.array([checks.finite_number(f"radius[{i}]", own) for i, own in enumerate(radius)])
    if isinstance(radius, (Tensor, np.ndarray)) and radius.ndim:
        limits = torch.as_tensor(radius).to(points.dtype)
        if limits.shape != (len(points),):
            raise ValueError(f"radius: expected a number or one for each query, got shape {tuple(limits.shape)}")
        if bool(limits.isnan().any()):
            raise ValueError("radius: expected numbers, got NaN")
        return limits
    number = radius.item() if isinstance(radius, (Tensor, np.ndarray)) else radius
    return torch.full((len(points),), checks.finite_number("radius", number), dtype=points.dtype)


def as_objects(name: str, objects: object, subject_of_them: object) -> Tensor:
    """A tensor or array of objects; the floating-point numbers of an array in the dtype of the weights."""
    tensor = checks.as_tensor(name, objects, subject_of_them if isinstance(subject_of_them, nn.Module) else None)
    if tensor.ndim == 0:
        raise ValueError(f"{name}: expected objects along the first axis, got shape ()")
    return tensor.detach().cpu()


def is_names(value: object) -> bool:
    """Whether objects are given by name."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, np.ndarray, Tensor))


def rows_of(name: str, ids: Any, names: list[str] | None) -> Tensor:
    """The numbers of ids, which may be names."""
    if names is not None and is_names(ids):
        row_of = {text: row for row, text in enumerate(names)}
        for text in ids:
            if text not in row_of:
                raise ValueError(f"{name}: {text!r} is not among the points of this index")
        return torch.tensor([row_of[text] for text in ids], dtype=torch.long)
    if is_names(ids) and any(isinstance(item, str) for item in ids):
        raise TypeError(f"{name}: this index knows no names, so expected a tensor")
    if names is not None or name == "queries":
        raise TypeError(f"{name}: expected names or a tensor, got {type(ids).__name__}")
    numbers = np.asarray(ids)
    if numbers.size and numbers.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected ids, which are whole numbers, got {numbers.dtype}")
    return torch.from_numpy(numbers.astype(np.int64)).flatten()


def with_new_names(known: list[str] | None, new: Sequence[str] | None, count: int) -> list[str] | None:
    """All names after an insertion of `count` points; an error if some are missing, repeated or too many."""
    if (known is None) != (new is None):
        expected = "None, as this index has no names" if known is None else "one for each new point"
        raise ValueError(f"names: expected {expected}, got {'None' if new is None else 'names'}")
    if known is None or new is None:
        return None
    fresh = checks.names("names", new)
    if len(fresh) != count:
        raise ValueError(f"names: expected {count}, one for each new point, got {len(fresh)}")
    if len({*fresh, *known}) < len(fresh) + len(known):
        raise ValueError("names: expected names that are new and different, got some that are known")
    return [*known, *fresh]
