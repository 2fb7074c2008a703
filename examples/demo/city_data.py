"""Part 2, the data: the one-way city as `trimetric example` writes it, and the pairs that no model sees."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric.cli import main as trimetric_command
from trimetric.files.features import read_features
from trimetric.files.pairs import drop_repeats, read_pairs
from trimetric.graphs import Graph
from trimetric.nearness import closure

ROUNDED = 0.0005
"""largest rounding error of the minutes in the CSV"""


@dataclass(frozen=True, eq=False, kw_only=True)
class City:
    """The crossings of the city and the minutes between them.

    Attributes:
        file: the CSV of the pairs.
        names: of the crossings.
        places: their coordinates, `(n, 2)`.
        ends: the pairs of the CSV as row numbers of `names`, `(pairs, 2)`.
        minutes: their distances.
        tested: marks the pairs that are set aside, both directions of each.
    """

    file: Path
    names: list[str]
    places: NDArray[np.float64]
    ends: NDArray[np.int64]
    minutes: NDArray[np.float64]
    tested: NDArray[np.bool_]

    @property
    def matrix(self) -> NDArray[np.float64]:
        """All minutes as a matrix, from row to column."""
        matrix = np.zeros((len(self.names), len(self.names)))
        matrix[*self.ends.T] = self.minutes
        return matrix

    def telling_pairs(self) -> list[tuple[int, int]]:
        """Choose a few tested pairs that show different things, each as (from, to).

        Returns:
            The longest, the one whose way back differs most, the one of median length, and the shortest.
        """
        there = self.minutes[self.tested]
        ends = self.ends[self.tested]
        matrix = self.matrix
        back = matrix[ends[:, 1], ends[:, 0]]
        order = np.argsort(there, kind="stable")
        wanted = (int(order[-1]), int((back - there).argmax()), int(order[len(order) // 2]), int(order[0]))
        chosen: dict[frozenset[int], tuple[int, int]] = {}
        for row in wanted:
            source, target = (int(end) for end in ends[row])
            chosen.setdefault(frozenset((source, target)), (source, target))
        return list(chosen.values())

    def streets(self) -> NDArray[np.int64]:
        """Find the streets: the pairs that no detour by a third crossing is as short as.

        Returns:
            The ends of the streets, from and to, `(streets, 2)`.
        """
        matrix = self.matrix
        own = np.where(np.eye(len(matrix), dtype=bool), np.inf, matrix)
        detour = np.min(own[:, :, None] + own[None, :, :], axis=1)
        return np.argwhere(~np.eye(len(matrix), dtype=bool) & (matrix < detour - 3 * ROUNDED))

    def graph(self) -> Graph:
        """Build the directed graph of the streets."""
        tails, heads = self.streets().T
        return Graph.from_arcs(len(self.names), tails, heads, self.matrix[tails, heads], directed=True)

    def route(self, source: int, target: int) -> list[int]:
        """Find the crossings on the shortest way.

        Args:
            source: where it starts, as a row number of `names`.
            target: where it ends.
        """
        matrix, way = self.matrix, [source]
        streets = self.streets()
        while way[-1] != target:
            onward = streets[streets[:, 0] == way[-1], 1]
            way.append(int(onward[np.argmin(matrix[way[-1], onward] + matrix[onward, target])]))
        return way

    def paths_over_known_pairs(self) -> NDArray[np.float64]:
        """Compute the shortest paths over the pairs that are not set aside: an alternative that learns nothing."""
        known = np.full((len(self.names), len(self.names)), np.inf)
        known[*self.ends[~self.tested].T] = self.minutes[~self.tested]
        return closure(known)


def make_city(folder: Path, *, held_out: float, seed: int) -> City:
    """Write the example city to a folder, read it back, and set pairs aside.

    Args:
        folder: for the files; files of an earlier run are replaced.
        held_out: share of the unordered pairs that no model sees.
        seed: of the choice.
    """
    if trimetric_command(["example", "--output", str(folder), "--force", "--quiet"]):
        raise RuntimeError(f"trimetric example: could not write {folder}")
    pairs = drop_repeats(read_pairs(folder / "pairs.csv"))
    objects = read_features(folder / "objects.csv")
    if pairs.distances is None:
        raise RuntimeError(f"{folder}: expected pairs with distances, got none")
    low, high = np.sort(pairs.ends, axis=1).T
    _, unordered = np.unique(low * len(pairs.names) + high, return_inverse=True)
    count = int(unordered.max()) + 1
    chosen = np.random.default_rng(seed).permutation(count)[: max(1, round(held_out * count))]
    return City(
        file=folder / "pairs.csv",
        names=pairs.names,
        places=np.asarray(objects.values, np.float64)[[objects.names.index(name) for name in pairs.names]],
        ends=pairs.ends,
        minutes=pairs.distances,
        tested=np.isin(unordered, chosen),
    )
