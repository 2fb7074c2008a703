"""Weighted edges of a graph, from a table with the columns from, to and weight."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric.files.columns import read_table
from trimetric.files.pairs import check_distances


@dataclass(frozen=True, kw_only=True)
class EdgeTable:
    """Weighted edges between named nodes, as they are in the file.

    Attributes:
        names: the ids of the nodes.
        ends: `(edges, 2)`, the indices in `names` of the nodes where each edge starts and ends.
        weights: `(edges,)` finite numbers >= 0.
    """

    names: list[str]
    ends: NDArray[np.int64]
    weights: NDArray[np.float64]


def read_edges(
    file: Path, *, source: str = "from", target: str = "to", weight: str = "weight", hint: str = ""
) -> EdgeTable:
    """Read the edges of a CSV, TSV, Parquet or NPZ file.

    Args:
        file: a table with two columns of ids and a column of weights >= 0.
        source: the column of the ids where edges start.
        target: the column of the ids where edges end.
        weight: the column of the weights.
        hint: text to add to an error about a missing column.

    Raises:
        InputError: if a column is missing or a weight is not a finite number >= 0.
    """
    table = read_table(file, ids=[source, target], numbers=[weight], hint=hint)
    check_distances(table, weight, unreachable=False, remedy="leave out edges that cannot be traversed")
    ends = np.stack([table.codes[source], table.codes[target]], axis=1)
    return EdgeTable(names=list(table.names), ends=ends, weights=table.numbers[weight])
