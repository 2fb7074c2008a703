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


@dataclass(frozen=True, kw_only=True)
class PairTable:
    """Distances of ordered pairs.

    Attributes:
        names: the ids of the objects.
        ends: for each pair the numbers of its ends in `names`.
        distances: their distances; None where the file has none.
        where: the place of a pair in its file, for a message.
        columns: what its ends are called there.
    """

    names: list[str]
    ends: NDArray[np.int64]
    distances: NDArray[np.float64] | None
    where: Callable[[int], str]
    columns: tuple[str, str] = ("from", "to")

    def __len__(self) -> int:
        return len(self.ends)

    def rows(self, kept: NDArray[np.int64]) -> PairTable:
        """Some of the pairs."""
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
) -> PairTable:
    """Pairs from a CSV, TSV, Parquet or NPZ file, as they came; `drop_repeats` takes out what says nothing.

    Args:
        file: columns of two ids and a distance.
        source: the column of the ids where the distance starts.
        target: the column of the ids where it ends.
        distance: the column of the distances.
        distance_optional: whether the distances may be missing.
        unreachable: whether a distance may be infinite.
        hint: what to say after an error about a missing column.
    """
    optional = [distance] if distance_optional else []
    numbers = [] if distance_optional else [distance]
    table = read_table(file, ids=[source, target], numbers=numbers, optional=optional, hint=hint)
    ends = np.stack([table.codes[source], table.codes[target]], axis=1)
    names = list(table.names)
    values = table.numbers.get(distance)
    if values is not None:
        check_distances(table, distance, unreachable=unreachable)
        loop = first_true((ends[:, 0] == ends[:, 1]) & (values != 0))
        if loop is not None:
            raise table.error(loop, distance, f"0 from {shown(names[ends[loop, 0]])} to itself")
    return PairTable(names=names, ends=ends, distances=values, where=table.where, columns=(source, target))


def check_distances(
    table: Table, column: str, *, unreachable: bool, remedy: str = "unreachable pairs need the discounted loss"
) -> None:
    """Each a number >= 0, finite unless `unreachable`; `remedy` says what to do about infinite ones."""
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
    """Each pair once and none of an object with itself; an error where a pair has two distances."""
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
    """An error where the two directions of a pair have different distances, more than rounding apart.

    Args:
        pairs: with distances.
        hint: what to say at the end of the message.
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
    """The pairs at finite distance."""
    if pairs.distances is None:
        raise ValueError("pairs: expected distances, got none")
    return pairs.rows(np.flatnonzero(np.isfinite(pairs.distances)))


def match_names(pairs: PairTable, known: Sequence[str], known_from: str) -> PairTable:
    """The same pairs among the objects `known`; an error where one is not among them."""
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
