"""The report of `metrize`: how it changed a function, and warnings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor

from trimetric._audit import Audit
from trimetric.metrizing.least_change import Changes
from trimetric.training.pair_errors import PairErrors

MANY_CLAMPED = 0.25
"""share of clamped pairs above which the base does not follow the function"""
MANY_BELOW = 0.02
"""share of pairs below the floor above which the floor matters"""


@dataclass(frozen=True, eq=False, kw_only=True)
class MetrizeReport:
    """How a corridor changed a function, measured on pairs that were not trained on.

    Attributes:
        floor: c, the smallest distance between different objects.
        pairs: number of random pairs of objects on which the next four attributes were measured.
        clamped: share of the pairs whose value was changed.
        below_floor: share of the pairs for which the function is smaller than the floor.
        mean_value: the mean of the function.
        mean_squared_change: the mean of (d - f)^2.
        errors_of_f: of the function against the targets; None without targets.
        errors: of the distance against the same targets; None without targets.
        audit_of_f: what an audit of the function found.
        audit: what an audit of the distance found.
        changes: on the audited objects, how much the distance changes the values, and the least that every metric has
            to change, by `nearness.nearest_metric`; None if the function has negative values there, and without numba.
        warnings: warnings, in words; may be empty.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> result = tm.metrize(
        ...     lambda x, y: 1.5 + 0.3 * (x[:, 0] < y[:, 1]),
        ...     0.2 * torch.rand(40, 2),
        ...     base=tm.NormInduced(tm.Euclidean(2)),
        ...     train_base=False,
        ...     floor=1.0,
        ...     warn=False,
        ... )
        >>> result.report.clamped, result.report.audit.holds, result.report.errors is None
        (0.0, True, True)
        >>> result.report.warnings[0][:34]  # as it is in the corridor everywhere
        'f keeps the triangle inequality on'
    """

    floor: float
    pairs: int
    clamped: float
    below_floor: float
    mean_value: float
    mean_squared_change: float
    errors_of_f: PairErrors | None
    errors: PairErrors | None
    audit_of_f: Audit
    audit: Audit
    changes: Changes | None
    warnings: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, as the notes of a model and JSON can hold it."""
        return {
            "floor": self.floor,
            "pairs": self.pairs,
            "clamped": self.clamped,
            "below_floor": self.below_floor,
            "mean_value": self.mean_value,
            "mean_squared_change": self.mean_squared_change,
            "errors_of_f": None if self.errors_of_f is None else self.errors_of_f.to_dict(),
            "errors": None if self.errors is None else self.errors.to_dict(),
            "changes": None if self.changes is None else self.changes._asdict(),
            "triangle_defect_of_f": self.audit_of_f.triangle_defect,
            "triangle_defect": self.audit.triangle_defect,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        lines = [
            f"triangle defect: {self.audit_of_f.triangle_defect:.4g} before, {self.audit.triangle_defect:.4g} after, "
            f"on {self.audit.triples:,} triples",
            f"floor:           {self.floor:.4g}, at a mean of {self.mean_value:.4g}; {self.below_floor:.1%} of the "
            "pairs were below",
            f"clamped:         {self.clamped:.1%} of {self.pairs:,} pairs, mean squared change "
            f"{self.mean_squared_change:.4g}",
        ]
        if self.changes is not None:
            least, own, objects = self.changes
            lines.append(f"nearest metric:  mean squared change {least:.4g} on {objects} objects; this one {own:.4g}")
        if self.errors is not None and self.errors_of_f is not None:
            lines.append(
                f"MSE of targets:  {self.errors_of_f.mse:.4g} before, {self.errors.mse:.4g} after, on "
                f"{self.errors.pairs:,} pairs"
            )
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])


def describe_change(
    values: Tensor,
    distances: Tensor,
    *,
    floor: float,
    audits: tuple[Audit, Audit],
    changes: Changes | None,
    judged: tuple[Tensor, Tensor, Tensor] | None,
) -> MetrizeReport:
    """Compare a function with the distance that was made of it.

    Args:
        values: of the function, on pairs of different objects.
        distances: on the same pairs.
        floor: of the corridor.
        audits: of the function and of the distance.
        changes: on the audited objects, beside the least possible.
        judged: targets, values and distances of labeled pairs, if there are any.
    """
    errors = None
    if judged is not None:
        targets, *predicted = (np.asarray(part.detach().cpu().double()) for part in judged)
        mean = float(targets.mean())
        errors = [PairErrors.measure(own, targets, mean=mean) for own in predicted]
    change = (distances - values).double()
    clamped = float((change.abs() > 1e-6 * distances.abs()).double().mean())
    below = float((values < floor).double().mean())
    report = MetrizeReport(
        floor=floor,
        pairs=len(values),
        clamped=clamped,
        below_floor=below,
        mean_value=float(values.double().mean()),
        mean_squared_change=float(change.square().mean()),
        errors_of_f=None if errors is None else errors[0],
        errors=None if errors is None else errors[1],
        audit_of_f=audits[0],
        audit=audits[1],
        changes=changes,
        warnings=(),
    )
    return _with_warnings(report)


def why_clamped(name: str, changes: Changes | None, *, below_floor: float) -> str:
    """Say whether a corridor changes much because it must, or because its base does not follow.

    Args:
        name: of what was put into the corridor.
        changes: those of the corridor and of the nearest metric; None if they are not known.
        below_floor: share of the values below the floor: if it is large, a larger floor does not help.
    """
    advice = "train the base longer, or give a larger base" + ("" if below_floor > MANY_BELOW else " or floor")
    if changes is None:
        return f"{name} is far from every metric, or the base does not follow it; {advice}"
    if changes.follows:
        return f"{name} is far from every metric; {changes}, this one by {changes.own:.3g}"
    return f"the base does not follow {name}; {changes}, but this one by {changes.own:.3g}; {advice}"


def _with_warnings(report: MetrizeReport) -> MetrizeReport:
    found = []
    before = report.audit_of_f
    if report.audit.broken:
        found.append(
            f"the distance breaks what it promises: {', '.join(report.audit.broken)}; f must give the same answer when "
            "it is asked for the same pair again"
        )
    if not (before.triangle_defect or before.negativity):
        promised = " and promises it" if before.promised.triangle else ""
        same = "; only f(x, x) has to be set to 0" if before.identity_defect else ""
        found.append(
            f"f keeps the triangle inequality on all {before.triples:,} triples that were measured{promised}{same}; it "
            "may need no corridor"
        )
    if report.clamped > MANY_CLAMPED:
        first, now = report.errors_of_f, report.errors
        better = first is not None and now is not None and now.mse < first.mse
        why = (
            "that brought them nearer to the targets"
            if better
            else why_clamped("f", report.changes, below_floor=report.below_floor)
        )
        found.append(f"{report.clamped:.0%} of the pairs were clamped: {why}")
    if report.below_floor > MANY_BELOW:
        found.append(
            f"{report.below_floor:.1%} of the pairs were below the floor of {report.floor:.3g}: the distance cannot "
            "tell near neighbors apart; give a smaller floor, or use distil, which has none"
        )
    return MetrizeReport(**{**vars(report), "warnings": tuple(found)})
