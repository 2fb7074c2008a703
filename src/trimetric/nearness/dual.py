r"""The dual of metric nearness on a list of inequalities $Ax \le 0$.

Of all multipliers $z \ge 0$ find those that minimize $\|x\|_W^2$ for $x = d - W^{-1} A^T z$.  As metrics form a cone,
every $z \ge 0$ proves that no metric is nearer to $d$ than

$$\|d\|_W^2 - \|x\|_W^2 = \sum_e w_e (d_e - x_e)(d_e + x_e).$$
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from trimetric.kernels.machine_code import HAS_NUMBA
from trimetric.nearness.problem import Problem
from trimetric.nearness.rows import (
    conjugate_step,
    dot,
    merge_active,
    row_sums,
    row_values,
    sweep,
    sweep_triangles,
    transposed,
)
from trimetric.nearness.separation import Broken

SWEEPS = 6
"""of Hildreth's method before each solve on the face"""
ROUNDS = 4
"""of sweeps and solves before new inequalities are sought"""
CG_REDUCTION = 0.05


class Dual:
    """Inequalities, their multipliers, and the matrix entries that these give."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        places = len(problem.distances)
        self.dtype = np.int32 if places < 2**31 else np.int64
        self.x = problem.distances.copy()
        self.multipliers = np.empty(0)
        self.keys = np.empty(0, dtype=np.int64)
        self.entries = np.empty((0, 3), dtype=self.dtype)
        self.curvature = np.empty(0)
        self.back = np.zeros(places)
        """room for $A^T z$"""

    def add(self, broken: Broken) -> None:
        """Takes in inequalities that are broken, and lets go of those that have no multiplier."""
        # In the order of the entries, which is that of the keys of triangles: sweeps then pass through memory once.
        if HAS_NUMBA and self.problem.complete:
            self.keys, self.entries, self.multipliers = merge_active(
                self.keys, self.entries, self.multipliers, broken.keys, broken.entries
            )
        else:
            self._add_and_sort(broken)
        self.curvature = row_sums(self.problem.inverse_weights, self.entries)

    def _add_and_sort(self, broken: Broken) -> None:
        """`add` without machine code, and for rows of any width."""
        end = len(self.x) - 1
        active = self.multipliers > 0
        fresh = ~_contains(self.keys[active], broken.keys, ordered=self.problem.complete)
        width = max(self.entries.shape[1], broken.entries.shape[1])
        wide = lambda rows: np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=end)  # noqa: E731
        entries = np.concatenate([wide(self.entries[active]), wide(broken.entries[fresh]).astype(self.dtype)])
        keys = np.concatenate([self.keys[active], broken.keys[fresh]])
        multipliers = np.concatenate([self.multipliers[active], np.zeros(fresh.sum())])
        order = np.argsort(keys if self.problem.complete else entries[:, 0], kind="stable")
        self.entries, self.keys, self.multipliers = entries[order], keys[order], multipliers[order]

    @property
    def lower_bound(self) -> float:
        d = self.problem.distances
        return max(dot(self.problem.weights, (d - self.x) * (d + self.x)), 0.0)

    def residual(self) -> float:
        """How far the multipliers are from the best ones: the projected gradient, in the norm of the weights."""
        excess = row_values(self.x, self.entries)
        counted = (self.multipliers > 0) | (excess > 0)
        return float(np.sqrt((excess[counted] ** 2 / self.curvature[counted]).sum()))

    def improve(self, target: float, *, steps: int, stop: Callable[[], bool]) -> None:
        """Sweeps find out which multipliers are positive; `steps` of conjugate gradients then solve for those alone.

        Ends when the residual is at most `target`, after a number of rounds, or when told to.
        """
        for _ in range(ROUNDS):
            self._identify(stop)
            if stop() or self.residual() <= target:
                break
            if steps:
                self._solve_on_face(steps, stop)
        self._synchronize()

    def _synchronize(self) -> None:
        """x from the multipliers, without the rounding of many small steps: the bound must be true."""
        self.x = self.problem.distances - self._back(self.multipliers, self.entries)

    def _back(self, multipliers: np.ndarray, entries: np.ndarray) -> np.ndarray:
        """$W^{-1} A^T z$; the next call overwrites it."""
        back = transposed(multipliers, entries, self.back)
        back *= self.problem.inverse_weights
        return back

    def _identify(self, stop: Callable[[], bool]) -> None:
        if not HAS_NUMBA:
            self._projected_gradients()
            return
        weight = self.problem.one_weight
        for number in range(SWEEPS):
            if stop():
                break
            given, forwards = (self.x, self.multipliers, self.entries), number % 2 == 0
            if weight is not None and self.entries.shape[1] == 3:
                sweep_triangles(*given, 1.0 / weight, forwards)
            else:
                sweep(*given, self.problem.inverse_weights, self.curvature, forwards)

    def _projected_gradients(self) -> None:
        """What NumPy can do in place of sweeps: Nesterov's method, with steps by a bound of the curvature."""
        scaled = 1.0 / self.curvature
        step = scaled / self._largest_curvature(scaled)
        ahead, momentum = self.multipliers, 1.0
        for _ in range(5 * SWEEPS):
            x = self.problem.distances - self._back(ahead, self.entries)
            after = np.maximum(ahead + step * row_values(x, self.entries), 0.0)
            faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = np.maximum(after + (momentum - 1) / faster * (after - self.multipliers), 0.0)
            self.multipliers, momentum = after, faster
        self._synchronize()

    def _largest_curvature(self, scaled: np.ndarray) -> float:
        vector = np.ones_like(scaled)
        value = 1.0
        for _ in range(15):
            vector = row_values(self._back(scaled * vector, self.entries), self.entries)
            value = float(np.linalg.norm(vector))
            vector /= value
        return 1.2 * value

    def _solve_on_face(self, steps: int, stop: Callable[[], bool]) -> None:
        face = np.flatnonzero(self.multipliers > 0)
        if len(face) == 0:
            return
        entries = self.entries[face]
        change = self._conjugate_gradients(entries, 1.0 / self.curvature[face], steps, stop)
        now = self.multipliers[face]
        weights = self.problem.weights
        before = dot(weights, self.x**2)
        for halvings in range(12):
            moved = np.maximum(now + 0.5**halvings * change, 0.0)
            x = self.x - self._back(moved - now, entries)
            if dot(weights, x**2) < before:
                self.x, self.multipliers[face] = x, moved
                return

    def _conjugate_gradients(
        self, entries: np.ndarray, scaled: np.ndarray, steps: int, stop: Callable[[], bool]
    ) -> np.ndarray:
        """The change of the multipliers after which all of these inequalities hold with equality, about."""
        gradient = row_values(self.x, entries)
        direction = scaled * gradient
        change = np.zeros_like(gradient)
        size = first = dot(gradient, direction)
        for _ in range(steps):
            if size <= CG_REDUCTION**2 * first or size == 0.0 or stop():
                break
            curved = row_values(self._back(direction, entries), entries)
            bend = dot(direction, curved)
            if bend <= 0.0:
                break
            size = conjugate_step(size / bend, direction, curved, scaled, change, gradient, size)
        return change


def _contains(keys: np.ndarray, wanted: np.ndarray, *, ordered: bool) -> np.ndarray:
    """Which of the wanted are among the keys."""
    if len(keys) == 0:
        return np.zeros(len(wanted), dtype=bool)
    keys = keys if ordered else np.sort(keys)
    return keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] == wanted
