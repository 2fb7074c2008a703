"""What a graph is made of, checked: nodes, weights, coordinates and names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric._support import checks

Nodes = NDArray[np.int64]


def numbers_below(name: str, given: ArrayLike, num_nodes: int) -> Nodes:
    """Check numbers of nodes and return them as an array.

    Args:
        name: the argument that they came as, for the error message.
        given: the numbers.
        num_nodes: how many nodes there are.
    """
    checks.unmasked(name, given, hint="leave out the masked entries")
    try:
        numbers = np.asarray(given)
    except ValueError as error:  # lists of different lengths
        raise TypeError(f"{name}: expected whole numbers of nodes, got {type(given).__name__} ({error})") from None
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise TypeError(f"{name}: expected whole numbers of nodes, got {numbers.dtype}")
    numbers = numbers.astype(np.int64)
    bad = (numbers < 0) | (numbers >= num_nodes)
    if bad.any():
        raise ValueError(
            f"{name}: expected nodes from 0 to {num_nodes - 1:,}, got {numbers[bad][0]}, and {int(bad.sum()):,} "
            "such in all"
        )
    return numbers


def list_of_nodes(name: str, given: ArrayLike, num_nodes: int) -> Nodes:
    """Check a list of numbers of nodes and return it as an array of one axis.

    Args:
        name: the argument that it came as, for the error message.
        given: the numbers.
        num_nodes: how many nodes there are.
    """
    numbers = numbers_below(name, given, num_nodes)
    if numbers.ndim != 1:
        raise ValueError(f"{name}: expected a list of nodes, got shape {numbers.shape}")
    return numbers


def check_arcs(
    num_nodes: int, tails: ArrayLike, heads: ArrayLike, weights: ArrayLike
) -> tuple[Nodes, Nodes, NDArray[np.float64]]:
    """Check arcs and return their tails, heads and weights as arrays of one axis.

    Args:
        num_nodes: how many nodes there are.
        tails: the node where each arc starts.
        heads: the node where each arc ends.
        weights: the weight of each arc, finite and >= 0.
    """
    starts, ends = numbers_below("tails", tails, num_nodes), numbers_below("heads", heads, num_nodes)
    lengths = _floats("weights", weights)
    if not starts.shape == ends.shape == lengths.shape:
        raise ValueError(
            f"weights: expected one for each arc, got shape {lengths.shape} for tails of {starts.shape} and heads "
            f"of {ends.shape}"
        )
    if starts.ndim != 1:
        raise ValueError(f"tails: expected a list of nodes, got shape {starts.shape}, as heads and weights")
    bad = ~(lengths >= 0) | ~np.isfinite(lengths)
    if bad.any():
        i = int(bad.argmax())
        raise ValueError(
            f"weights: expected finite numbers >= 0, got {lengths[i]:g} from node {starts[i]} to {ends[i]}, "
            f"and {int(bad.sum()):,} such in all"
        )
    return starts, ends, lengths


def check_coordinates(coordinates: ArrayLike, num_nodes: int) -> NDArray[np.float64]:
    """Check coordinates of nodes and return them as an array.

    Args:
        coordinates: `(num_nodes, 2)` numbers.
        num_nodes: how many nodes there are.
    """
    places = _floats("coordinates", coordinates)
    if places.ndim and len(places) != num_nodes:
        raise ValueError(f"coordinates: expected one for each of the {num_nodes:,} nodes, got {len(places):,}")
    if places.shape != (num_nodes, 2):
        raise ValueError(f"coordinates: expected shape ({num_nodes}, 2), two for each node, got {places.shape}")
    return places


def check_names(names: Any, num_nodes: int) -> None:
    """Check that there is a name for each node.

    Args:
        names: a list or an array of one axis.
        num_nodes: how many nodes there are.
    """
    if not hasattr(names, "__len__") or not hasattr(names, "__getitem__") or isinstance(names, dict):
        raise TypeError(f"names: expected a list with a name for each node, got {type(names).__name__}")
    if getattr(names, "ndim", 1) != 1:
        raise TypeError(f"names: expected a list with a name for each node, got shape {names.shape}")
    if len(names) != num_nodes:
        raise ValueError(f"names: expected one for each of the {num_nodes:,} nodes, got {len(names):,}")


def _floats(name: str, given: ArrayLike) -> NDArray[np.float64]:
    checks.unmasked(name, given, hint="leave out the masked entries")
    try:
        numbers = np.asarray(given)
        if numbers.dtype.kind == "c":
            raise TypeError("complex numbers")
        return np.asarray(numbers, np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected numbers, got {type(given).__name__} ({error})") from None
