"""Pairs of objects with distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric._support.pair_splits import contradiction
from trimetric._support.printable import shown
from trimetric.files.columns import LARGEST, Table, first_true, read_table
from trimetric.files.errors import InputError

NEED_DISCOUNT = "unreachable pairs need the discounted loss"


@dataclass(frozen=True, kw_only=True)
class PairTable:
    """Distances of ordered pairs.

    Attributes:
        names: the ids of the objects.
        ends: `(pairs, 2)` indices in `names`, from and to.
        distances: `(pairs,)` distances; None if the file has none.
        where: tells the place of a pair in its file, for an error message.
        columns: the names of the columns of the ends.
    """

    names: list[str]
    ends: NDArray[np.int64]
    distances: NDArray[np.float64] | None
    where: Callable[[int], str]
    columns: tuple[str, str] = ("from", "to")

    def __len__(self) -> int:
        return len(self.ends)

    def rows(self, kept: NDArray[np.int64]) -> PairTable:
        """Select some of the pairs.

        Args:
            kept: indices of the pairs to keep.
        """
        distances = None if self.distances is None else self.distances[kept]
        where = self.where
        return replace(self, ends=self.ends[kept], distances=distances, where=lambda row: where(int(kept[row])))


def read_pairs(
    file: Path,
    *,
    source: str = "from",
    target: str = "to",
    distance: str = "distance",
    distance_optional: bool = False,
    unreachable: bool = False,
    hint: str = "",
    remedy: str = NEED_DISCOUNT,
) -> PairTable:
    """Read pairs from a CSV, TSV, Parquet or NPZ file as they are; `drop_repeats` removes redundant ones.

    Args:
        file: a table with two columns of ids and a column of distances.
        source: the column of the ids where the distance starts.
        target: the column of the ids where it ends.
        distance: the column of the distances.
        distance_optional: whether the column of distances may be missing.
        unreachable: whether a distance may be infinite.
        hint: text to add to an error about a missing column.
        remedy: what to do about infinite distances, for the error message.

    Raises:
        InputError: if the file cannot be read, with the line that is wrong.
    """
    optional = [distance] if distance_optional else []
    numbers = [] if distance_optional else [distance]
    table = read_table(file, ids=[source, target], numbers=numbers, optional=optional, hint=hint)
    ends = np.stack([table.codes[source], table.codes[target]], axis=1)
    names = list(table.names)
    values = table.numbers.get(distance)
    if values is not None:
        check_distances(table, distance, unreachable=unreachable, remedy=remedy)
        loop = first_true((ends[:, 0] == ends[:, 1]) & (values != 0))
        if loop is not None:
            raise table.error(loop, distance, f"0 from {shown(names[ends[loop, 0]])} to itself")
    return PairTable(names=names, ends=ends, distances=values, where=table.where, columns=(source, target))


def check_distances(table: Table, column: str, *, unreachable: bool, remedy: str = NEED_DISCOUNT) -> None:
    """Check that the distances of a column are numbers >= 0.

    Args:
        table: the table.
        column: the column of distances.
        unreachable: whether they may be infinite.
        remedy: what to do about infinite ones, for the error message.
    """
    values = table.numbers[column]
    bad = first_true(~(values >= 0))
    if bad is not None:
        raise table.error(bad, column, "a number >= 0")
    huge = first_true(np.isfinite(values) & (values > LARGEST))
    if huge is not None:
        raise table.error(huge, column, f"a number up to {LARGEST:.2g}")
    endless = None if unreachable else first_true(np.isinf(values))
    if endless is not None:
        raise table.error(endless, column, f"a finite number ({remedy})")


def drop_repeats(pairs: PairTable) -> PairTable:
    """Keep each pair once, and no pair of an object with itself.

    Args:
        pairs: with distances.

    Raises:
        InputError: if a pair has two different distances.
    """
    if pairs.distances is None:
        raise ValueError("pairs: expected distances, got none")
    key = pairs.ends[:, 0] * len(pairs.names) + pairs.ends[:, 1]
    order = np.argsort(key, kind="stable")
    same = key[order[1:]] == key[order[:-1]]
    differs = same & (pairs.distances[order[1:]] != pairs.distances[order[:-1]])
    if differs.any():
        # The conflict that a reader of the file meets first.
        spots = np.flatnonzero(differs)
        spot = int(spots[order[spots + 1].argmin()])
        before, after = int(order[spot]), int(order[spot + 1])
        source, target = (pairs.names[end] for end in pairs.ends[after])
        raise InputError(
            f"{pairs.where(after)}: expected one distance from {shown(source)} to {shown(target)}, got "
            f"{pairs.distances[after]:g} here and {pairs.distances[before]:g} in {pairs.where(before)}"
        )
    fresh = np.ones(len(key), dtype=bool)
    fresh[order[1:][same]] = False
    return pairs.rows(np.flatnonzero(fresh & (pairs.ends[:, 0] != pairs.ends[:, 1])))


def check_directions(pairs: PairTable, *, hint: str = "") -> None:
    """Raise an error where the distances of a pair in both directions differ by more than rounding.

    Args:
        pairs: with distances.
        hint: text to add to the error.
    """
    if pairs.distances is None:
        raise ValueError("pairs: expected distances, got none")
    found = contradiction(pairs.ends, pairs.distances)
    if found is not None:
        after, before = found
        source, target = (pairs.names[end] for end in pairs.ends[after])
        raise InputError(
            f"{pairs.where(after)}: expected the same distance from {shown(source)} to {shown(target)} as back, got "
            f"{pairs.distances[after]:.10g} here and {pairs.distances[before]:.10g} in {pairs.where(before)}{hint}"
        )


def drop_unreachable(pairs: PairTable) -> PairTable:
    """Keep the pairs at finite distance.

    Args:
        pairs: with distances.
    """
    if pairs.distances is None:
        raise ValueError("pairs: expected distances, got none")
    return pairs.rows(np.flatnonzero(np.isfinite(pairs.distances)))


def match_names(pairs: PairTable, known: Sequence[str], known_from: str) -> PairTable:
    """Express the pairs by indices in another list of objects.

    Args:
        pairs: the pairs.
        known: the ids of all objects.
        known_from: where these are from, for the error message.

    Raises:
        InputError: if an object of the pairs is not among them.
    """
    number = {name: i for i, name in enumerate(known)}
    ends = np.array([number.get(name, -1) for name in pairs.names], np.int64)[pairs.ends]
    unknown = first_true((ends[:, 0] < 0) | (ends[:, 1] < 0))
    if unknown is not None:
        end = int(ends[unknown, 0] >= 0)
        name = pairs.names[pairs.ends[unknown, end]]
        raise InputError(
            f"{pairs.where(unknown)}: {pairs.columns[end]}: {shown(name)} is not among the {len(known):,} objects of "
            f"{known_from}"
        )
    return replace(pairs, names=list(known), ends=ends)
