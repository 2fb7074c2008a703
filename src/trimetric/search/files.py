"""The file of an index: points, leaves and pivots with the distance; written completely or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from trimetric._support import checks
from trimetric._support.described import describe
from trimetric._support.printable import shown
from trimetric._support.tensor_files import CheckpointError, read_file, write_file
from trimetric.distances import ObjectDistance
from trimetric.models.files import PREFIX, build_network, check_finite
from trimetric.search.leaves import Leaves
from trimetric.search.pivots import PivotDistances
from trimetric.search.store import Store
from trimetric.search.subject import NO_PROMISE, Subject

FORMAT = "trimetric-index-1"
TENSORS = ("points", "ids", "alive", "starts", "low", "high", "pivots", "waiting_to", "waiting_from")
SETTINGS = ("symmetric", "pivot_count", "leaf_size", "seed", "settled", "next_id", "scale")


def save_index(subject: Subject, store: Store, names: list[str] | None, file: Path) -> Path:
    """Write an index to a file.

    Args:
        subject: the distance.
        store: the points.
        names: of the ids, if they have some.
        file: to write or replace.

    Raises:
        TypeError: if the distance cannot be described by plain data.
    """
    if not isinstance(subject.network, ObjectDistance):
        raise TypeError("distance: expected one of Trimetric, which a file can describe, got a function")
    architecture = describe(subject.network)
    tensors = {PREFIX + name: value for name, value in subject.network.state_dict().items()}
    tensors |= {
        "points": store.points,
        "ids": store.ids,
        "alive": store.alive,
        "starts": store.leaves.starts,
        "low": store.leaves.low,
        "high": store.leaves.high,
        "pivots": store.pivots.points,
        "waiting_to": store.waiting.to,
        "waiting_from": store.waiting.from_,
    }
    if store.keys is not None:
        tensors["keys"] = store.keys
    state = {
        "architecture": architecture,
        "names": names,
        "guarantee": subject.guarantee,
        **{name: getattr(store, name) for name in SETTINGS},
    }
    write_file(file, tensors, state, form=FORMAT)
    return file


def load_index(file: Path, *, verify: bool) -> tuple[Subject, Store, list[str] | None]:
    """Read an index from a file.

    Args:
        file: that `save_index` wrote.
        verify: whether to compare its checksum.

    Raises:
        CheckpointError: if the file is damaged or not an index.
    """
    tensors, state = read_file(file, form=FORMAT, noun="index", verify=verify)
    missing = [name for name in TENSORS if name not in tensors]
    missing += [name for name in ("architecture", "names", "guarantee", *SETTINGS) if name not in state]
    if missing:
        raise CheckpointError(f"{file}: expected {missing[0]!r} in it, got {shown(sorted(tensors))}")
    weights = {name.removeprefix(PREFIX): value for name, value in tensors.items() if name.startswith(PREFIX)}
    network = build_network(file, state["architecture"], weights).eval()
    try:
        check_finite({name: value for name, value in tensors.items() if verify or name != "points"})
        names = None if state["names"] is None else checks.names("names", state["names"])
        store = _store(network, tensors, state, names)
    except (ValueError, TypeError, RuntimeError, IndexError, KeyError) as error:
        raise CheckpointError(f"{file}: {error}") from None
    guarantee = str(state["guarantee"])
    audited = len(store.points) if NO_PROMISE in guarantee else None
    subject = Subject(network, network.head, store.symmetric, guarantee, audited_points=audited)
    return subject, store, names


def _store(
    network: ObjectDistance, tensors: dict[str, Tensor], state: dict[str, Any], names: list[str] | None
) -> Store:
    points, ids, alive, starts = (tensors[name] for name in ("points", "ids", "alive", "starts"))
    low, high, pivots = tensors["low"], tensors["high"], tensors["pivots"]
    n, leaves, count = len(points), len(starts) - 1, len(pivots)
    settled = checks.seed("settled", state["settled"])
    next_id = checks.seed("next_id", state["next_id"])
    expected = {
        "points": (points, (n, network.head.dim), pivots.dtype),
        "ids": (ids, (n,), torch.int64),
        "alive": (alive, (n,), torch.bool),
        "starts": (starts, (leaves + 1,), torch.int64),
        "low": (low, (2 * count, leaves), torch.float64),
        "high": (high, (2 * count, leaves), torch.float64),
        "pivots": (pivots, (count, network.head.dim), points.dtype),
        "waiting_to": (tensors["waiting_to"], (n - settled, count), torch.float64),
        "waiting_from": (tensors["waiting_from"], (n - settled, count), torch.float64),
    }
    for name, (tensor, shape, dtype) in expected.items():
        if tuple(tensor.shape) != shape or tensor.dtype != dtype:
            raise ValueError(f"{name}: expected {shape} of {dtype}, got {tuple(tensor.shape)} of {tensor.dtype}")
    keys = tensors.get("keys")
    if keys is not None and (tuple(keys.shape) != (n,) or keys.dtype != torch.int64):
        raise ValueError(f"keys: expected {n} integers, got shape {tuple(keys.shape)} of {keys.dtype}")
    if leaves < 0 or int(starts[0]) != 0 or int(starts[-1]) != n or bool((starts.diff() <= 0).any()):
        raise ValueError("starts: expected the first point of each leaf in increasing order")
    if not (starts == settled).any():
        raise ValueError(f"settled: expected the end of a leaf, got {settled}")
    if n and (int(ids.min()) < 0 or int(ids.max()) >= next_id or len(ids.unique()) < n):
        raise ValueError(f"ids: expected different numbers below {next_id}")
    if names is not None and len(names) != next_id:
        raise ValueError(f"names: expected {next_id}, got {len(names)}")
    if bool((low > high).any()):
        raise ValueError("low: expected bounds below those of high")
    symmetric = checks.boolean("symmetric", state["symmetric"])
    if symmetric and not network.axioms.symmetric:
        raise ValueError("symmetric: expected a distance that promises it")
    store = Store(
        network.head,
        symmetric=symmetric,
        pivots=checks.positive_int("pivot_count", state["pivot_count"]),
        leaf_size=checks.positive_int("leaf_size", state["leaf_size"]),
        seed=checks.seed("seed", state["seed"]),
    )
    store.points, store.ids, store.alive, store.keys = points, ids, alive, keys
    store.settled, store.next_id = settled, next_id
    store.scale = checks.finite_number("scale", state["scale"], at_least=0)
    store.leaves = Leaves(starts, low, high)
    store.prepare(points, pivots)
    to = tensors["waiting_to"]
    store.waiting = PivotDistances(to, to if symmetric else tensors["waiting_from"])
    return store
