"""Distances of a few pairs of known objects, with as few calls around the arithmetic as possible.

A distance of one pair takes a few microseconds of arithmetic, and more than a hundred of checks, calls of modules and
constrained parameters.  What depends on the parameters alone is computed once and used until one of them changes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric.distances import Distance, ObjectDistance, Siamese
from trimetric.kernels.fused import FusedPairs
from trimetric.kernels.rows.fused import FLOATS, has_hooks
from trimetric.norms.activations import pooling_of

AT_MOST = 32
"""pairs; for more the arithmetic takes longer than the calls"""
SMALL = 4096
"""numbers of a parameter that are compared one by one, since not every change shows in the counter of versions"""


class FewPairs:
    """The distances of a few rows of a table, as `network(objects[start], objects[end])` computes them, to rounding.

    Args:
        network: in evaluation mode, on the device of the table.
        features: the table; None for an encoder of row numbers.

    Examples:
        >>> from trimetric import Euclidean, NormInduced
        >>> network, points = NormInduced(Euclidean(2)), torch.tensor([[0.0, 0.0], [3.0, 4.0]])
        >>> FewPairs(network, points)([0, 1])
        tensor([5.])
    """

    def __init__(self, network: ObjectDistance, features: Tensor | None) -> None:
        self.network, self.features = network, features
        self.between = _between(network.head)
        self.encoder = network.encoder if isinstance(network, Siamese) else None
        self._parts = [_Part(module) for module in network.head.modules()]

    def holds(self, network: ObjectDistance, features: Tensor | None) -> bool:
        """Whether all is as it was: the network, the parts of its head, their parameters, and nobody watches them.

        Args:
            network: the network now, in evaluation mode.
            features: the table now.
        """
        if network is not self.network or features is not self.features:
            return False
        if network.head is not self._parts[0].module or getattr(network, "encoder", None) is not self.encoder:
            return False
        return all(part.is_as_before() for part in self._parts)

    def __call__(self, rows: list[int]) -> Float[Tensor, " n"]:
        """Compute the distances.

        Args:
            rows: the n rows where pairs start, then the n rows where they end.
        """
        table = self._table()
        if table is not None:
            points, count = table[rows], len(rows) // 2
            return torch.from_numpy(self.between(points[:count], points[count:]))
        numbers = torch.tensor(rows)
        objects = numbers if self.features is None else self.features.index_select(0, numbers)
        points = objects if self.encoder is None else self.encoder(objects)
        start, end = points.chunk(2)
        if self.encoder is not None and type(self.encoder) is not nn.Embedding:
            # Equal objects get one point, even where the encoder rounds them differently at different places.
            one, other = (half.reshape(len(half), -1) for half in objects.chunk(2))
            end = torch.where((one == other).all(dim=1, keepdim=True), start, end)
        return torch.from_numpy(self.between(start.detach().numpy(), end.detach().numpy()))

    def _table(self) -> np.ndarray | None:
        """The points of all objects, where they are kept and not computed."""
        if self.encoder is None:
            return None if self.features is None else self.features.detach().numpy()
        if type(self.encoder) is not nn.Embedding or self.encoder.max_norm is not None or has_hooks(self.encoder):
            return None
        return self.encoder.weight.detach().numpy()


class FewPairsCache:
    """The `FewPairs` of a network, made anew when something has changed; a copy or a pickle of it is empty."""

    def __init__(self) -> None:
        self._kept: FewPairs | None = None

    def of(self, network: ObjectDistance, features: Tensor | None) -> FewPairs | None:
        """Prepare the distances of a few pairs, where that gives the same as to call the network.

        Args:
            network: any distance, in evaluation mode.
            features: the table of known objects; None for an encoder of row numbers.

        Returns:
            The function; None if the network has to be called.
        """
        if torch.is_autocast_enabled("cpu") or torch.compiler.is_compiling():
            return None
        if self._kept is None or not self._kept.holds(network, features):
            self._kept = FewPairs(network, features) if _is_possible(network, features) else None
        return self._kept

    def __getstate__(self) -> dict[str, None]:
        return {"_kept": None}


def _is_possible(network: ObjectDistance, features: Tensor | None) -> bool:
    head = network.head
    if not network.factors_through_points or not head.factors_through_points:
        return False
    if type(network) is not Siamese and network is not head:
        return False
    for module in head.modules():  # a class of somebody else may compute anything
        if _is_part(module) and not type(module).__module__.startswith("trimetric."):
            return False
        if module._forward_hooks or module._forward_pre_hooks:
            return False
    if network is head and (features is None or features.ndim != 2 or features.shape[1] != head.dim):
        return False
    floats = [tensor for tensor in (*head.parameters(), *head.buffers()) if tensor.is_floating_point()]
    floats += [features] if network is head and features is not None else []
    if len({tensor.dtype for tensor in floats if tensor.ndim > 1}) > 1:
        return False
    if any(tensor.dtype not in FLOATS for tensor in floats):
        return False
    everything = [*network.parameters(), *network.buffers(), *(() if features is None else (features,))]
    return all(tensor.device.type == "cpu" for tensor in everything)


def _is_part(module: nn.Module) -> bool:
    """Whether a module computes something; containers of modules do not."""
    return not isinstance(module, (nn.ModuleList, nn.ModuleDict, nn.ParameterList))


class _Part:
    """A module of a head, with what it held when it was looked at."""

    def __init__(self, module: nn.Module) -> None:
        self.module, self.children = module, list(module._modules.values())
        self.tensors = [*module._parameters.values(), *module._buffers.values()]
        given = [tensor for tensor in self.tensors if tensor is not None]
        self.small = [_Small(tensor) for tensor in given if tensor.numel() <= SMALL]
        self.large = [(tensor, tensor._version) for tensor in given if tensor.numel() > SMALL]

    def is_as_before(self) -> bool:
        own = self.module.__dict__
        if own["_forward_hooks"] or own["_forward_pre_hooks"] or list(own["_modules"].values()) != self.children:
            return False
        held = (*own["_parameters"].values(), *own["_buffers"].values())
        if len(held) != len(self.tensors):
            return False
        for now, before in zip(held, self.tensors, strict=True):
            if now is not before:
                return False
        for tensor, version in self.large:
            if tensor._version != version:
                return False
        return all(small.is_as_before() for small in self.small)


class _Small:
    """A small tensor of a head, with the numbers that it held."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor, self.place = tensor, tensor.data_ptr()
        self.array = tensor.detach().numpy()
        self.bytes = self.array.tobytes()

    def is_as_before(self) -> bool:
        return self.tensor.data_ptr() == self.place and self.array.tobytes() == self.bytes


def _between(head: Distance) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The function of two points, without checks, and with what needs no point computed now.

    NumPy takes a quarter of the time of torch to call an operation, which for a few pairs is most of the time.
    """
    fused, pooling = head.pair_kernel().fused, pooling_of(head.pool)
    if fused is None or pooling is None or fused.kind == "interval":
        return _in_torch(lambda x, y: head.pool(head.components(x, y)))
    with torch.no_grad():
        components, lines = _components(fused, head), None
        if fused.lines is not None:
            # A row per line, as NumPy takes the smallest of long rows faster than of many short ones.
            lines = [part.mT.numpy().copy() for part in fused.lines]
        alpha = None if pooling.alpha is None else pooling.alpha.numpy().copy()

    def between(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):  # numbers that are too large become infinite, as in torch
            values = components(x, y)
            if lines is not None:
                slope, offset = lines
                values = np.minimum.reduce(slope * values[:, None] + offset, axis=1)
            if values.shape[1] == 1:
                return values[:, 0]
            if pooling.kind == "max":
                return np.maximum.reduce(values, axis=1)
            mean = np.add.reduce(values, axis=1) / values.dtype.type(values.shape[1])
            return mean if alpha is None else mean + alpha * (np.maximum.reduce(values, axis=1) - mean)

    return between


def _in_torch(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    return lambda x, y: function(torch.from_numpy(x), torch.from_numpy(y)).numpy()


def _linear_differences(linear: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    return lambda x, y: (y - x) @ linear


def _components(fused: FusedPairs, head: Distance) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    if fused.loses_digits:  # a linear map of points less a center: with x as the center, of their differences
        matrices = [tensor for tensor in (*head.parameters(), *head.buffers()) if tensor.ndim > 1]
        dtype = matrices[0].dtype if matrices else torch.float32
        linear = fused.project(torch.eye(head.dim, dtype=dtype), torch.zeros((), dtype=dtype)).numpy().copy()
        differences = _linear_differences(linear)
    else:
        differences = _in_torch(lambda x, y: fused.project(y, None) - fused.project(x, None))

    def lengths(u: np.ndarray) -> np.ndarray:
        pieces = u.reshape(len(u), fused.components, -1)
        return np.sqrt(np.einsum("ikw,ikw->ik", pieces, pieces))

    ways: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "rectified": lambda u: lengths(np.maximum(u, 0)),
        "relu": lambda u: np.maximum(u, 0),
        "absolute": np.abs,
        "euclidean": lengths,
    }
    way = ways[fused.kind]
    return lambda x, y: way(differences(x, y))
