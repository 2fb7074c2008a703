"""The files that `trimetric fit` learns from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from trimetric.files.errors import InputError
from trimetric.files.matrices import holds_matrix
from trimetric.files.matrix_pairs import read_matrix_pairs
from trimetric.files.pairs import PairTable, check_directions, drop_repeats, drop_unreachable, read_pairs

if TYPE_CHECKING:
    from trimetric.graphs import Graph

Layout = Literal["pairs", "matrix", "edges"]
Columns = tuple[str, str, str]
Note = Callable[[str], object]
COLUMNS_HINT = "; --from-column, --to-column and --distance-column give other names"


def layout_of(file: Path, *, matrix: bool, edges: bool) -> Layout:
    """Return how a file holds distances: as it is told, or as the file itself shows.

    Args:
        file: the file of pairs, edges or a matrix.
        matrix: whether it was declared to be a matrix.
        edges: whether it was declared to hold edges.
    """
    if matrix or holds_matrix(file):
        if edges:
            raise InputError(f"--edges: expected rows of edges, got the matrix {file}")
        return "matrix"
    return "edges" if edges else "pairs"


def read_distances(
    file: Path,
    layout: Layout,
    *,
    columns: Columns,
    symmetric: bool,
    infinite: Literal["keep", "drop", "refuse"],
    note: Note,
) -> PairTable:
    """Read the distances of pairs, each pair once.

    Args:
        file: the file of pairs, edges or a matrix.
        layout: which of them it is.
        columns: the names of the columns from, to and distance; of a table only.
        symmetric: whether the two directions of a pair must agree; of edges, whether they go both ways.
        infinite: what to do with pairs at infinite distance.
        note: called with a line of text if there are none to drop.

    Returns:
        The pairs of different objects.
    """
    unreachable = infinite != "refuse"
    hint = f"{COLUMNS_HINT}, --matrix reads a matrix"
    source, target, distance = columns
    if layout == "matrix":
        found = read_matrix_pairs(file, unreachable=unreachable)
    elif layout == "edges":
        from trimetric.graphs.paths.all_distances import read_all_distances  # needs torch, which other files do not

        found = read_all_distances(
            file,
            source=source,
            target=target,
            weight=distance,
            symmetrize=symmetric,
            unreachable=unreachable,
            hint=hint,
        )
    else:
        found = read_pairs(file, source=source, target=target, distance=distance, unreachable=unreachable, hint=hint)
    found = drop_repeats(found)
    if symmetric:
        check_directions(found, hint="; without --symmetric each direction has its own")
    if infinite != "drop":
        return found
    kept = drop_unreachable(found)
    if len(kept) == len(found):
        note(f"--drop-unreachable: nothing to drop, as no pair of {file} is at infinite distance")
    return kept


def learnable_distances(pairs: PairTable, file: Path, *, positive: bool) -> NDArray[np.float64]:
    """Return the distances; an error if there are none to learn from, or one that the loss cannot use.

    Args:
        pairs: with distances.
        file: where they come from.
        positive: whether the loss divides by the distances.
    """
    distances = pairs.distances
    if distances is None or not len(distances):
        raise InputError(f"{file}: expected a pair of different objects, got none")
    if positive and not distances.all():
        row = int((distances == 0).argmax())
        raise InputError(f"{pairs.where(row)}: expected a distance > 0 for --loss relative, got 0")
    return distances


def read_network(
    file: Path,
    *,
    columns: Columns | None,
    weight: Literal["length", "time"],
    symmetric: bool,
    largest: bool,
    note: Note,
) -> Graph:
    """Read a map, a DIMACS file or a table of edges.

    Args:
        file: the file.
        columns: the names of the columns from, to and weight of a table; None for other files.
        weight: what to measure on a map.
        symmetric: whether edges go both ways.
        largest: whether to keep only the largest part of a graph that is not connected.
        note: called with a line of text if `largest` has left out nothing.

    Returns:
        The graph.
    """
    from trimetric.graphs import read_edge_list, read_graph

    if columns is None:
        graph = read_graph(file, weight=weight, symmetrize=symmetric, largest=largest)
    else:
        source, target, column = columns
        graph = read_edge_list(
            file, source=source, target=target, weight=column, symmetrize=symmetric, largest=largest, hint=COLUMNS_HINT
        )
    if largest and not graph.left_out:
        note(f"--largest: nothing to leave out, as {file} is connected")
    return graph
