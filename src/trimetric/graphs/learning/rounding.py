"""Potentials in few bits, with a promise that rounding cannot break."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs.graph import Graph
from trimetric.graphs.paths.parallel import in_parallel

Precision = Literal["float32", "int16", "int8"]
BYTES: dict[Precision, int] = {"float32": 4, "int16": 2, "int8": 1}
# Differences of two such numbers are whole numbers that float32 holds exactly.
LARGEST: dict[Precision, int] = {"float32": 2**22, "int16": 2**15 - 1, "int8": 2**7 - 1}
DTYPES = {"float32": np.float32, "int16": np.int16, "int8": np.int8}


@dataclass(frozen=True, eq=False)
class Rounded:
    """Potentials as whole multiples of a unit.

    Attributes:
        numbers: `(n, k)` whole numbers, in the dtype of the precision.
        unit: what one of them stands for, a power of two, so that products with it are exact.

    Examples:
        >>> Rounded(np.array([[3, 5]], np.int8), 0.5).values()
        array([[1.5, 2.5]], dtype=float32)
    """

    numbers: NDArray[Any]
    unit: float

    def values(self) -> NDArray[np.float32]:
        """Return the potentials."""
        return self.numbers.astype(np.float32) * np.float32(self.unit)


def round_potentials(
    potentials: NDArray[np.floating],
    precision: Precision,
    *,
    below: Graph | None = None,
    directed: bool = False,
    jobs: int | None = None,
) -> Rounded:
    r"""Round potentials to whole multiples of a unit, at best so that they stay lower bounds of a graph's distances.

    With `below`, the whole numbers are closed again with the weights $\lfloor w / u \rfloor$: then
    $G(v) - G(u) \le \lfloor w / u \rfloor \le w / u$ on every arc, in whole numbers.  The unit is a power of two and
    the numbers are below $2^{22}$, so float32 computes products with the unit and differences without any rounding,
    and the bound holds exactly: not up to a tolerance.  An arc that is shorter than the unit makes its ends equal,
    which is why 8 bits are too few for a lower bound: a potential that takes 256 values and is not constant must grow
    by a unit on some arc.

    Args:
        potentials: `(n, k)` finite numbers.
        precision: how to store them.
        below: the graph whose distances they must not exceed; None for no such promise.
        directed: whether differences count in one direction only; only with `below`.
        jobs: how many potentials to close at a time, see `in_parallel`.

    Examples:
        >>> graph = Graph.from_arcs(3, [0, 1], [1, 2], [1.0, 2.7], directed=False)
        >>> rounded = round_potentials(np.array([[0.0], [1.0], [3.7]]), "int16", below=graph)
        >>> values = rounded.values().ravel()
        >>> bool(values[2] - values[1] <= 2.7), (values[2] - values[0]).item()
        (True, 3.699951171875)
    """
    given = np.asarray(potentials, np.float64)
    middle = 0.5 * (given.max(axis=0) + given.min(axis=0))
    reach = float(np.abs(given - middle).max(initial=0.0))
    # One step of room, as closing may move the numbers.
    unit = 2.0 ** math.ceil(math.log2(reach / (LARGEST[precision] - 1))) if reach > 0 else 1.0
    numbers = np.rint((given - middle) / unit)
    if below is not None:
        from trimetric.graphs.paths.dijkstra_kernels import dijkstra_tree  # here, because it needs numba

        weights = np.floor(below.weights / unit)
        calls = [(below.indptr, below.indices, weights, np.ascontiguousarray(column)) for column in numbers.T]
        if not directed and not below.symmetric:
            raise ValueError("directed: expected True for a graph that is not symmetric, got False")
        for k, column in enumerate(in_parallel(dijkstra_tree, calls, jobs=jobs)):
            numbers[:, k] = column
    return Rounded(np.clip(numbers, -LARGEST[precision], LARGEST[precision]).astype(DTYPES[precision]), unit)


def steepest_arc(rounded: Rounded, graph: Graph, *, directed: bool) -> float:
    """Find the largest growth of a potential on an arc, relative to the weight of the arc.

    Sums along a shortest path show that no distance is over-estimated by more than that factor: potentials whose
    steepest arc is at most 1 are a lower bound of all distances.  Growth is computed in whole numbers, exactly.

    Args:
        rounded: the potentials.
        graph: with a node for each row of them.
        directed: whether differences count in one direction only.

    Returns:
        The factor; infinite where a potential grows on an arc of weight 0.

    Examples:
        >>> graph = Graph.from_arcs(3, [0, 1], [1, 2], [1.0, 2.0], directed=False)
        >>> steepest_arc(Rounded(np.array([[0], [1], [4]]), 1.0), graph, directed=False)
        1.5
    """
    tails, heads = graph.tails, graph.indices
    growth = np.zeros(graph.num_arcs)
    for column in rounded.numbers.T:
        whole = column.astype(np.float64)
        difference = whole[heads] - whole[tails]
        np.maximum(growth, difference if directed else np.abs(difference), out=growth)
    growth *= rounded.unit
    steep = growth > 0
    with np.errstate(divide="ignore"):
        return float((growth[steep] / graph.weights[steep]).max(initial=0.0))
