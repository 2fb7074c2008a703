"""Pairs of objects, given by name or by number, checked and converted to arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from trimetric._support import checks
from trimetric.training.losses import LossName


def feature_rows(features: ArrayLike | Tensor) -> Tensor:
    """Return the features as a matrix of float32, one row per object; an error if they are none."""
    objects = torch.as_tensor(features if isinstance(features, Tensor) else np.asarray(features)).cpu().float()
    if objects.ndim != 2:
        raise ValueError(f"features: expected shape (objects, features), got {tuple(objects.shape)}")
    return checks.finite("features", objects)


def numbered_pairs(
    pairs: ArrayLike | Tensor | Sequence[tuple[str, str]], names: Sequence[str] | None, rows: int | None
) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names of the objects, and the pairs as numbers `(n, 2)` among them.

    Args:
        pairs: names or numbers, `(n, 2)`.
        names: of all objects, if known.
        rows: how many objects have features; None if they have none.
    """
    ends = pairs.cpu().numpy() if isinstance(pairs, Tensor) else np.asarray(pairs)
    if ends.ndim != 2 or ends.shape[1] != 2 or not len(ends):
        raise ValueError(f"pairs: expected shape (n, 2) with n >= 1, got {ends.shape}")
    by_name = ends.dtype.kind in "UO"
    if not by_name and ends.dtype.kind not in "iu":
        raise TypeError(f"pairs: expected names or whole numbers, got {ends.dtype}")
    if names is not None:
        ids = list(names)
    elif by_name and rows is None:
        ids = list(dict.fromkeys(map(str, ends.ravel())))
    elif by_name:
        raise ValueError("names: expected the name of each row of features, as pairs are names, got None")
    else:
        ids = [str(number) for number in range(rows if rows is not None else int(ends.max()) + 1)]
    if rows is not None and len(ids) != rows:
        raise ValueError(f"features: expected one row for each of the {len(ids)} names, got {rows}")
    if not by_name:
        if ends.min() < 0 or ends.max() >= len(ids):
            raise ValueError(f"pairs: expected numbers from 0 to {len(ids) - 1}, got {ends.min()} to {ends.max()}")
        return ids, ends.astype(np.int64)
    number = {name: i for i, name in enumerate(ids)}
    unknown = next((name for name in ends.ravel() if name not in number), None)
    if unknown is not None:
        raise ValueError(f"pairs: {str(unknown)!r} is not among the {len(ids)} names")
    return ids, np.array([[number[source], number[target]] for source, target in ends], np.int64)


def checked_lengths(distances: ArrayLike | Tensor, count: int, loss: LossName) -> NDArray[np.float64]:
    """Return the distances of `count` pairs as an array; an error if the loss cannot use them."""
    plain = distances.cpu().numpy() if isinstance(distances, Tensor) else distances
    lengths = np.asarray(plain, np.float64)
    if lengths.shape != (count,):
        raise ValueError(f"distances: expected {count}, one for each pair, got shape {lengths.shape}")
    bad = lengths[~(lengths >= 0)]
    if len(bad):
        raise ValueError(f"distances: expected numbers >= 0, got {bad[0]}")
    if loss == "relative" and not lengths.all():
        raise ValueError("distances: expected numbers > 0 for the relative loss, got 0")
    return lengths
