"""What an audit found, and what that means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, get_args

from trimetric._audit.axioms import Axioms
from trimetric._audit.axioms import Measured as Measured


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What `audit` found.  Every defect is 0 where the axiom holds up to `rounding`.

    Attributes:
        name: class of the audited object.
        promised: its axioms.
        required: the axioms that the caller required, whether promised or not.
        points: number of points.
        triples: number of triples (x, y, z) that were checked.
        exhaustive: whether these were all of them.
        scale: the largest finite absolute distance; NaN where a distance is NaN.
        rounding: the largest error that floating point alone may cause in a distance of this scale.
        triangle_defect: largest d(x, z) - d(x, y) - d(y, z).
        relative_triangle_defect: largest (d(x, z) - d(x, y) - d(y, z)) / d(x, z).
        worst_triple: where `triangle_defect` was found, as indices of x, y, z; None if it is 0.
        negativity: largest -d(x, y).
        identity_defect: largest |d(x, x)|.
        asymmetry: largest |d(x, y) - d(y, x)|.
        indistinct: number of ordered pairs of different points with d(x, y) <= 0.
        homogeneity_defect: largest |d(ax, ay) - a d(x, y)| / a for a = 0.5 and 4, on the first 256 points.  It is
            measured for a `Distance`, and if homogeneity is required; otherwise NaN.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> found = tm.audit(tm.Euclidean(2), torch.randn(20, 2))
        >>> found.broken, found.verdict
        ([], 'every promise holds')
    """

    name: str
    promised: Axioms
    required: tuple[Measured, ...] = ()
    points: int
    triples: int
    exhaustive: bool
    scale: float
    rounding: float
    triangle_defect: float
    relative_triangle_defect: float
    worst_triple: tuple[int, int, int] | None
    negativity: float
    identity_defect: float
    asymmetry: float
    indistinct: int
    homogeneity_defect: float

    @property
    def checked(self) -> list[Measured]:
        """The measured axioms that are promised or required."""
        return [name for name in get_args(Measured) if getattr(self.promised, name) or name in self.required]

    @property
    def broken(self) -> list[str]:
        """The promised or required axioms that the data refute: all of them where a distance is NaN."""
        found: dict[Measured, float] = {
            "nonnegative": self.negativity,
            "reflexive": self.identity_defect,
            "definite": self.indistinct,
            "triangle": self.triangle_defect,
            "symmetric": self.asymmetry,
            "homogeneous": self.homogeneity_defect,
        }
        return [name for name in self.checked if found[name] != 0 or math.isnan(self.scale)]

    @property
    def holds(self) -> bool:
        """Whether something is promised or required, and all of it held.  False where nothing is."""
        return bool(self.checked) and not self.broken

    @property
    def verdict(self) -> str:
        """The outcome in words."""
        not_a_number = "some distances are NaN"
        if self.broken:
            return f"BROKEN: {', '.join(self.broken)}" + (f" ({not_a_number})" if math.isnan(self.scale) else "")
        if math.isnan(self.scale):
            return f"nothing is promised; {not_a_number}"
        if "triangle" in self.checked:
            return f"every {self._kind} holds"
        if self.triangle_defect != 0:
            about = f"broken by up to {self.triangle_defect:.3g}"
            if self.checked:
                return f"every {self._kind} holds; the triangle inequality is not among them, and is {about}"
            return f"nothing is promised; the triangle inequality is {about}"
        if self.checked:
            return f"every {self._kind} holds; the triangle inequality is not among them"
        return (
            "nothing is promised; no violation of the triangle inequality was found on this data, which proves nothing"
        )

    @property
    def _kind(self) -> str:
        """What was checked."""
        required = [name for name in self.required if not getattr(self.promised, name)]
        if not required:
            return "promise"
        return "requirement" if len(required) == len(self.checked) else "promise and requirement"

    def of_rows(self, rows: Sequence[int]) -> Audit:
        """Return the same report for points that are rows of a larger table.

        Args:
            rows: the row of each point that was audited.

        Returns:
            A report whose `worst_triple` are rows of the table.
        """
        if self.worst_triple is None:
            return self
        x, y, z = (int(rows[point]) for point in self.worst_triple)
        return replace(self, worst_triple=(x, y, z))

    def to_dict(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        return {**asdict(self), "holds": self.holds, "broken": self.broken, "verdict": self.verdict}

    def __str__(self) -> str:
        kind = "all" if self.exhaustive else "random"
        worst = "" if self.worst_triple is None else f"   at points {self.worst_triple}"
        required = [f"  requires                  {', '.join(self.required)}"] if self.required else []
        return "\n".join(
            [
                f"{self.name}: audit on {self.points} points, {self.triples:,} triples ({kind})",
                f"  promises                  {self.promised}",
                *required,
                f"  triangle_defect           {self.triangle_defect:.3g}{worst}",
                f"  relative_triangle_defect  {self.relative_triangle_defect:.3g}",
                f"  negativity                {self.negativity:.3g}",
                f"  identity_defect           {self.identity_defect:.3g}",
                f"  asymmetry                 {self.asymmetry:.3g}",
                f"  indistinct pairs          {self.indistinct}",
                f"  homogeneity_defect        {self.homogeneity_defect:.3g}",
                f"  {self.verdict} (distances up to {self.scale:.3g}, rounding {self.rounding:.1g})",
            ]
        )
