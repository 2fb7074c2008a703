"""One batch of queries: visits the leaves that bounds do not exclude, block by block, and keeps the candidates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from trimetric.distances import Distance
from trimetric.distances.all_pairs import all_pairs
from trimetric.distances.batching import PAIRS_AT_ONCE, in_chunks
from trimetric.distances.fusing import rough_matrix
from trimetric.search.collecting import collect_near, collect_near_pairs
from trimetric.search.contents import Found
from trimetric.search.definition import PointDistance, check_finite_distances
from trimetric.search.results import Work, in_order
from trimetric.search.rounding import Allowance
from trimetric.search.verifying import exact_distances

if TYPE_CHECKING:
    from trimetric.search.searching import Search

BRUTE_SHARE = 0.35  # of the points: a query that has to visit more compares with all, in larger blocks
BRUTE_POINTS = 8192
BRUTE_FLOATS = 1 << 24
# A block of fewer numbers is done pair by pair, many leaves at once: to start a block takes as long.
PAIRED_FLOATS = 1 << 18
PAIRED_AT_ONCE = 1 << 18
# Of the distance of the k-th neighbor, or of the radius: a proven error of float32 above that makes many candidates.
COARSE = 0.5
PROBED = 32  # queries
NOTHING = Allowance(0.0, 0.0, 0.0, proven=True)  # of a batch without queries


class Batch:
    """The state of one batch: the best distances so far, and the pairs that may be in the answer."""

    def __init__(self, search: Search, queries: Tensor, radius: Tensor | None, factor: float) -> None:
        self.search_, self.contents, self.queries, self.factor = search, search.contents, queries, factor
        self.allowed, self.scale = NOTHING, 0.0
        self.radius = radius
        self.k = None if search.k is None else min(search.k, search.total)
        self.visited = 0
        width = 1 if self.k is None else max(1, self.k)
        self.best = np.full((len(queries), width), np.inf)
        if radius is not None:
            self.best[:, 0] = radius.double().numpy()
        self.candidates: list[tuple[np.ndarray, ...]] = []

    def search(self) -> tuple[Found, float]:
        contents, n = self.contents, len(self.queries)
        if self.k == 0 or not len(contents.leaves) or not n:
            empty = torch.empty(0, dtype=torch.long)
            skipped = n * self.search_.total
            return Found(n, empty, empty, torch.empty(0, dtype=contents.points.dtype), Work(0, 0, skipped)), 0.0
        measured = contents.pivots.measure(self.queries, name="queries")
        self.scale = max(contents.scale, measured.scale)
        self._allow()
        margin = self.allowed.of_bounds
        bounds = contents.leaves.lower_bounds(measured, outgoing=self.search_.outgoing, margin=margin)
        bounds[:, self.search_.sizes == 0] = torch.inf
        if self.k is None:
            if self._too_coarse():
                self._allow(wide=True)
        else:
            # A leaf that is near in the other direction too is the best guess where the neighbors are.
            back = contents.leaves.lower_bounds(measured, outgoing=not self.search_.outgoing, margin=margin)
            self._visit_nearest(bounds, torch.maximum(bounds, back))
        eligible = self._eligible(bounds)
        if self.search_.most_leaves is None:
            many = self._too_many(eligible)
            if bool(many.any()):
                eligible[many] = False
                self._compare_with_all(many.nonzero()[:, 0])
        else:
            eligible = self._fewest(bounds, eligible)
        self._visit(*eligible.nonzero().unbind(1))
        return self._verified(len(contents.pivots) * n * (1 if contents.pivots.symmetric else 2))

    def _allow(self, *, wide: bool = False) -> None:
        """Find out what rounding may do; from now on in float64 if `wide`."""
        self.search_.wide |= wide
        found = self.contents.rounding.allowance(self.queries, self.scale, wide=self.search_.wide)
        self.allowed = found.times(self.factor)

    def _visit_nearest(self, bounds: Tensor, guesses: Tensor) -> None:
        """Visit the best leaves of each query; then they count as done, so that their bounds are infinite.

        The first few queries tell whether float32 is too coarse, and whether bounds exclude anything at all.
        """
        few, others = guesses[:PROBED], guesses[PROBED:]
        visited = self._visit_first(few)
        if self._too_coarse():
            self._allow(wide=True)
            self.best.fill(np.inf)
            self.candidates.clear()
            visited = self._visit_first(few)
        bounds[:PROBED].scatter_(1, visited, torch.inf)
        if not len(others):
            return
        if self.search_.most_leaves is None and bool(self._too_many(self._eligible(bounds[:PROBED])).all()):
            bounds[PROBED:] = torch.where(bounds[PROBED:] < torch.inf, -torch.inf, torch.inf)  # compared with all
            return
        bounds[PROBED:].scatter_(1, self._visit_first(others, start=PROBED), torch.inf)

    def _eligible(self, bounds: Tensor) -> Tensor:
        """Which leaves may have something to add, of the first queries as many as have bounds."""
        limit = self._limit()[: len(bounds), None].float().nextafter(torch.tensor(torch.inf))
        return bounds * (1 + self.search_.slack) <= limit

    def _too_many(self, eligible: Tensor) -> Tensor:
        """Which queries would have to visit so many leaves that comparing with all points is cheaper."""
        return (eligible.float() @ self.search_.sizes) > BRUTE_SHARE * self.search_.total

    def _limit(self) -> Tensor:
        """What a real distance may be at most to be in the answer, as far as is known."""
        return self.allowed.widened(torch.from_numpy(self.best[:, 0].copy()))

    def _too_coarse(self) -> bool:
        """Whether the error of float32 is so large, beside the distances asked for, that candidates would be many."""
        return not self.allowed.finest and self.allowed.absolute > COARSE * float(np.median(self.best[:PROBED, 0]))

    def _visit_first(self, guesses: Tensor, *, start: int = 0) -> Tensor:
        """Visit the leaves with the lowest guesses, of queries from `start`, as many as surely have k points."""
        sizes = self.search_.sizes[self.search_.sizes > 0].sort().values.cumsum(0)
        number = int((sizes < self.best.shape[1]).sum()) + 1
        first = guesses.topk(min(number, guesses.shape[1]), dim=1, largest=False)
        rows = torch.arange(start, start + len(guesses))[:, None].expand_as(first.indices)
        self._visit(rows[first.values < torch.inf], first.indices[first.values < torch.inf])
        return first.indices

    def _fewest(self, bounds: Tensor, eligible: Tensor) -> Tensor:
        """Of the eligible leaves those with the lowest bounds, one fewer than the limit: the first has been visited."""
        most = self.search_.most_leaves - 1  # type: ignore[operator]
        if most <= 0:
            return torch.zeros_like(eligible)
        lowest = bounds.topk(min(most, bounds.shape[1]), dim=1, largest=False).indices
        return torch.zeros_like(eligible).scatter_(1, lowest, True) & eligible

    def _visit(self, rows: Tensor, leaves: Tensor) -> None:
        """Compute all distances between queries and the points of leaves, one block per leaf that pays."""
        starts = self.contents.leaves.starts
        order = leaves.argsort(stable=True)
        rows, leaves = rows[order], leaves[order]
        numbers, counts = leaves.unique_consecutive(return_counts=True)
        small = counts * starts.diff()[numbers] * self._floats() <= PAIRED_FLOATS
        paired = small.repeat_interleave(counts)
        most = max(1, PAIRED_AT_ONCE // max(1, self.contents.largest_leaf))
        for some, few in zip(rows[paired].split(most), leaves[paired].split(most), strict=True):
            self._visit_pairs(some, few)
        groups = zip(numbers[~small].tolist(), rows[~paired].split(counts[~small].tolist()), strict=True)
        for leaf, members in groups:
            part = slice(int(starts[leaf]), int(starts[leaf + 1]))
            self._collect(self._values(self.queries[members], self.contents.points[part]), members, part)

    def _floats(self) -> int:
        """About how many numbers the definition holds for a pair."""
        head = self.contents.head
        return head.definition_floats if isinstance(head, Distance) else 16 * self.queries.shape[1]

    @torch.no_grad()
    def _visit_pairs(self, rows: Tensor, leaves: Tensor) -> None:
        """The same pair by pair: a block of few pairs would spend its time on being started."""
        starts = self.contents.leaves.starts
        sizes = starts[leaves + 1] - starts[leaves]
        rows = rows.repeat_interleave(sizes)
        before = (sizes.cumsum(0) - sizes).repeat_interleave(sizes)
        positions = torch.arange(len(rows)) - before + starts[leaves].repeat_interleave(sizes)
        if not self.search_.full:
            alive = self.contents.alive[positions]
            rows, positions = rows[alive], positions[alive]
        if not len(rows):
            return
        here, there = (rows, positions) if self.search_.outgoing else (positions, rows)
        x, y = self.queries, self.contents.points
        x, y = (x, y) if self.search_.outgoing else (y, x)
        head, convert = self._filter()
        values = in_chunks(lambda i, j: head(convert(x[i]), convert(y[j])), here, there, size=PAIRS_AT_ONCE)
        self._check(values)
        self.visited += len(values)
        found = np.empty(len(values), np.int64)
        number = collect_near_pairs(
            values.numpy(), rows.numpy(), self.best, self.k is not None, *self._allowed(), found
        )
        chosen = found[:number]
        self.candidates.append((rows.numpy()[chosen], positions.numpy()[chosen], values.numpy()[chosen]))

    def _allowed(self) -> tuple[float, float]:
        """How far computed distances may be from real ones: a part of them, and twice what is added."""
        return self.allowed.relative, 2 * self.allowed.absolute

    def _check(self, values: Tensor) -> None:
        if not np.isfinite(float(values.sum(dtype=torch.float64))):
            check_finite_distances("distances of queries", values)

    def _filter(self) -> tuple[PointDistance, Callable[[Tensor], Tensor]]:
        """The distance that finds candidates, and what it reads of points: in float64 if float32 is too coarse."""
        if self.allowed.wide:
            return self.contents.definition.distance, Tensor.double
        return self.contents.head, lambda points: points

    @torch.no_grad()
    def _values(self, queries: Tensor, points: Tensor) -> Tensor:
        head, convert = self._filter()
        queries, points = convert(queries), convert(points)
        x, y = (queries, points) if self.search_.outgoing else (points, queries)
        # The proof holds without a second look at close pairs, which are most of a leaf.
        rough = rough_matrix(head, x, y) if self.allowed.proven and isinstance(head, Distance) else None
        values = all_pairs(head, x, y) if rough is None else rough
        return values if self.search_.outgoing else values.mT

    def _compare_with_all(self, rows: Tensor) -> None:
        """Compute the distances of queries and all points, in blocks as large as pay."""
        if self.k is not None:
            self.best[rows.numpy()] = np.inf  # they are all compared again
            self.candidates = [_without(found, rows) for found in self.candidates]
        points = self.contents.points
        # As wide as memory allows: what is computed once per query is computed once per block.
        width = max(BRUTE_POINTS, BRUTE_FLOATS // max(1, len(rows)))
        height = max(1, BRUTE_FLOATS // width)
        for some in rows.split(height):
            here = self.queries[some]
            for start in range(0, len(points), width):
                part = slice(start, min(start + width, len(points)))
                self._collect(self._values(here, points[part]), some, part)

    def _collect(self, values: Tensor, rows: Tensor, part: slice) -> None:
        """Keep the pairs of a block that may be in the answer."""
        self._check(values)
        alive = self.contents.alive[part]
        self.visited += values.shape[0] * int((self.search_.full and len(alive)) or alive.sum())
        columns = None
        if not self.search_.full:
            columns = alive.nonzero()[:, 0]
            values = values[:, columns]
        found_rows = np.empty(values.numel(), np.int64)
        found_columns = np.empty(values.numel(), np.int64)
        number = collect_near(
            values.contiguous().numpy(),
            rows.numpy(),
            self.best,
            self.k is not None,
            *self._allowed(),
            found_rows,
            found_columns,
        )
        if not number:
            return
        here, there = found_rows[:number].copy(), found_columns[:number].copy()
        kept = values.numpy()[here, there]
        positions = (there if columns is None else columns.numpy()[there]) + part.start
        self.candidates.append((rows.numpy()[here], positions, kept))

    def _verified(self, measured: int) -> tuple[Found, float]:
        """Compute the distances of the candidates by the definition, and keep what is in the answer."""
        contents = self.contents
        if self.candidates:
            rows, positions, fast = (
                torch.from_numpy(np.concatenate(part)) for part in zip(*self.candidates, strict=True)
            )
        else:
            rows = positions = torch.empty(0, dtype=torch.long)
            fast = torch.empty(0, dtype=contents.points.dtype)
        near = fast.double() <= self._limit()[rows] + self.allowed.absolute + self.allowed.relative * fast.abs()
        rows, positions, fast = rows[near], positions[near], fast[near]
        exact, computed = exact_distances(contents, self.queries, rows, positions, outgoing=self.search_.outgoing)
        excess = self.allowed.excess(fast.double(), exact.double())
        order = in_order(rows, exact, contents.ids[positions])
        rows, positions, exact = rows[order], positions[order], exact[order]
        if self.k is None:
            keep = exact <= self.radius[rows]  # type: ignore[index]
        else:
            starts = torch.searchsorted(rows, torch.arange(len(self.queries)))
            keep = torch.arange(len(rows)) - starts[rows] < self.k
        pairs = len(self.queries) * self.search_.total
        work = Work(measured + self.visited + computed, min(self.visited, pairs), max(0, pairs - self.visited))
        return Found(len(self.queries), rows[keep], positions[keep], exact[keep], work), excess


def _without(found: tuple[np.ndarray, ...], rows: Tensor) -> tuple[np.ndarray, ...]:
    keep = ~np.isin(found[0], rows.numpy())
    return tuple(part[keep] for part in found)
