"""`trimetric audit`"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from trimetric._audit.axioms import Measured
from trimetric.cli.effects import no_effect
from trimetric.cli.general import SeededComputing, unless_given
from trimetric.files.errors import InputError

RANDOM_POINTS = 500
ALL_TRIPLES = 2000
"""up to this many points, all triples are measured"""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Measure whether a model keeps what it promises and what you require; the exit code is 1 if it does not.

      trimetric audit model.safetensors
      trimetric audit model.safetensors --points 300 --json
      trimetric audit model.safetensors --random --seed 1
      trimetric audit model.safetensors --require triangle symmetric

    The triangle inequality is measured on all triples of up to 2000 objects, or on a million random triples of more.
    A model that promises nothing (--head mlp) breaks no promise; --require says what must hold nevertheless.
    """

    model: Annotated[Positional[Path], arg(metavar="MODEL")]
    """a model file, as trimetric fit writes it"""
    points: Annotated[int | None, unless_given("N")] = None
    """how many of the known objects to use, chosen by seed (default: all)"""
    random: bool = False
    """use random points of a normal distribution instead of the known objects (500 without --points)"""
    require: Annotated[tuple[Measured, ...], unless_given("AXIOM")] = ()
    """axioms to check as if the model promised them: triangle, nonnegative, reflexive, definite, symmetric
    or homogeneous"""
    general: SeededComputing = field(default_factory=SeededComputing)

    def run(self) -> int:
        if self.points is not None and self.points < 1:
            raise InputError(f"--points: expected a positive integer, got {self.points}")
        model = self.general.load(self.model)

        import torch

        from trimetric._audit.measure import audit

        if self.points is not None and not self.random and model.ids is not None and self.points > len(model.ids):
            raise InputError(
                f"--points: expected at most the {len(model.ids):,} objects of {self.model}, got {self.points}"
            )
        head, generator = model.network.head, torch.Generator().manual_seed(self.general.seed)
        names = None if self.random else model.ids
        rows: list[int] | None = None
        if names is None:
            points = torch.randn(self.points or RANDOM_POINTS, head.dim, generator=generator).to(model.device)
        else:
            points = model.embed()
            if self.points is not None and self.points < len(points):
                rows = torch.randperm(len(points), generator=generator)[: self.points].tolist()
                points = points[rows]
        if not bool(points.isfinite().all()):
            row = int((~points.isfinite().all(dim=-1)).nonzero()[0])
            raise InputError(f"{self.model}: expected finite points, got one of NaN or infinity for object {row + 1}")
        drawn = self.random or model.ids is None or len(points) < len(model.ids) or len(points) > ALL_TRIPLES
        if "seed" in self.general.given and not drawn:
            raise no_effect("--seed", f"with --random, --points or more than {ALL_TRIPLES:,} objects")
        report = audit(head, points, require=self.require, max_points=ALL_TRIPLES, seed=self.general.seed)
        if rows is not None:
            report = report.of_rows(rows)
        worst = None if names is None or report.worst_triple is None else [names[row] for row in report.worst_triple]
        self.general.say(str(report))
        if worst is not None:
            self.general.say(f"worst triple: from {worst[0]} through {worst[1]} to {worst[2]}")
        self.general.say("nothing was written")
        self.general.answer(model=str(self.model), **report.to_dict(), worst_objects=worst)
        return 1 if report.broken else 0
