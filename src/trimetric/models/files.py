"""The network of a model file: read with suspicion, and compared with what was to be saved."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from trimetric._support.described import build, layer_differences
from trimetric._support.printable import shown
from trimetric._support.tensor_files import CheckpointError, read_file
from trimetric._support.weightless import weightless
from trimetric.distances import ObjectDistance
from trimetric.distances.encoder_inputs import ObjectNumbers, inputs_of

FORMAT = "trimetric-model-1"
PREFIX = "network."
PROBED = 8  # objects, whose distances are compared after a save

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def read_network(file: Path) -> tuple[ObjectDistance, dict[str, Tensor], dict[str, Any]]:
    """The network of a model file, and all tensors and plain data of the file.

    Nothing is built before it is known that the file has weights of just its shapes, so that a small file cannot ask
    for much memory.
    """
    tensors, state = read_file(file, form=FORMAT, noun="model")
    for name in ("architecture", "ids", "notes"):
        if name not in state:
            raise CheckpointError(f"{file}: expected {name!r} in its state, got {shown(sorted(state))}")
    weights = {name.removeprefix(PREFIX): value for name, value in tensors.items() if name.startswith(PREFIX)}
    other = sorted(set(tensors) - {PREFIX + name for name in weights} - {"features", "places"})
    if other:
        raise CheckpointError(f"{file}: expected the weights of a network, features and places, got {shown(other)}")
    network = build_network(file, state["architecture"], weights)
    try:
        check_finite(tensors)
    except ValueError as error:
        raise CheckpointError(f"{file}: {error}") from None
    return network, tensors, state


def build_network(file: Path, architecture: object, weights: dict[str, Tensor]) -> ObjectDistance:
    """Build a network from its description and fill in its weights, once it is known that they fit.

    Args:
        file: where both come from, for error messages.
        architecture: from `describe`.
        weights: by name.
    """
    try:
        check_fit(skeleton(architecture), weights)
        network = build(architecture)
        fill(network, weights)
    except (ValueError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"{file}: weights and architecture do not fit: {error}") from None
    if not isinstance(network, ObjectDistance):
        raise CheckpointError(f"{file}: expected a Siamese or a Distance in it, got {type(network).__name__}")
    return network


def skeleton(architecture: object) -> nn.Module:
    """The network without memory for its weights."""
    with weightless():
        return build(architecture)


def check_finite(tensors: dict[str, Tensor]) -> None:
    """Refuse NaN and infinity, which would come out as distances."""
    for name, value in tensors.items():
        bad = int((~torch.isfinite(value)).sum()) if value.dtype.is_floating_point or value.dtype.is_complex else 0
        if bad:
            raise ValueError(f"{name}: expected finite numbers, got {bad} NaN or infinite of {value.numel()}")


def check_fit(network: nn.Module, weights: dict[str, Tensor]) -> None:
    """Refuse weights of other names, shapes or types than those of a network."""
    expected = network.state_dict()
    for name in sorted(expected.keys() | weights.keys()):
        if name not in weights:
            raise ValueError(f"expected a weight {name!r}, got none")
        if name not in expected:
            raise ValueError(f"expected no weight {shown(name)}, got one")
        want, got = expected[name], weights[name]
        if want.shape != got.shape:
            raise ValueError(f"{name}: expected shape {tuple(want.shape)}, got {tuple(got.shape)}")
        if got.dtype != want.dtype and not (want.is_floating_point() and got.dtype in DTYPES):
            raise ValueError(f"{name}: expected dtype {want.dtype}, got {got.dtype}")


def fill(network: nn.Module, weights: dict[str, Tensor]) -> None:
    """Load the weights in the types that they have in the file."""
    network.to(next((value.dtype for value in weights.values() if value.is_floating_point()), torch.float32))
    with torch.no_grad():
        for name, value in network.state_dict(keep_vars=True).items():
            if value.dtype != weights[name].dtype:
                value.data = value.data.to(weights[name].dtype)
    network.load_state_dict(weights)


def check_same(network: ObjectDistance, again: ObjectDistance, objects: Tensor | None) -> None:
    """Refuse a network that came back from its file as another function.

    Compared are all weights, the arguments of all layers of torch, and a few distances: of `objects`, or of random ones
    where those that the network reads can be told, and of the head alone.  With reading the file that costs about 60%
    of the save without it: 6 s for 256 MB (a million objects in 64 dimensions), 12 ms for 64 objects, on a busy core.

    Args:
        network: what was to be saved.
        again: what was read from the file, on the same device.
        objects: a few of the known objects as the network reads them.
    """
    mine, its = network.state_dict(), again.state_dict()
    differ = [
        f"the weight {name} comes back as another"
        for name in mine
        if name not in its or mine[name].dtype != its[name].dtype or not torch.equal(mine[name], its[name])
    ]
    differ += layer_differences(network, again)
    # A forward pass may change weights: an Embedding with a `max_norm` rescales the rows that it reads.
    network, again = copy.deepcopy(network).eval(), again.eval()
    points = _random_points(network)
    if not differ and not _same_answers(network.head, again.head, points):
        differ.append("its distance gives other values for the same points")
    objects = _guessed_objects(network, points) if objects is None else objects
    if not differ and objects is not None and not _same_answers(network, again, objects):
        differ.append("it gives other distances for the same objects")
    if differ:
        raise ValueError(
            "network: expected one that comes back from its file as it was, but: "
            f"{'; '.join(differ[:3])}; nothing was saved"
        )


def _random_points(network: ObjectDistance) -> Tensor:
    weight = next((value for value in network.state_dict().values() if value.is_floating_point()), torch.empty(0))
    return _random((PROBED, network.head.dim)).to(weight.device, weight.dtype)


def _random(shape: tuple[int, ...]) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def _guessed_objects(network: ObjectDistance, like: Tensor) -> Tensor | None:
    reads = inputs_of(network.reader)
    if reads is None:
        return None
    if isinstance(reads, ObjectNumbers):
        return torch.arange(min(PROBED, reads.count), device=like.device)
    return _random((PROBED, reads.width)).to(like)


def _same_answers(one: nn.Module, other: nn.Module, x: Tensor) -> bool:
    if len(x) < 2:
        return True
    try:
        expected = _answer(one, x)
    except (ValueError, TypeError, RuntimeError, IndexError):
        return True  # these are no objects that it reads; nothing to compare
    try:
        return torch.allclose(_answer(other, x), expected, rtol=1e-5, atol=0.0, equal_nan=True)
    except (ValueError, TypeError, RuntimeError, IndexError):
        return False


@torch.no_grad()
def _answer(network: nn.Module, x: Tensor) -> Tensor:
    # A seed of its own, for a layer that is random even now; the layers may write to what they read.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return network(x[:-1].clone(), x[1:].clone())
