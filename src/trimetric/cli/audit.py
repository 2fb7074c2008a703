"""`trimetric audit`"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from tyro.conf import Positional, arg

from trimetric._audit.axioms import Measured
from trimetric.cli.effects import Effects, Only, no_effect
from trimetric.cli.general import SeededComputing, keep_inputs, output_file, unless_given
from trimetric.files.errors import InputError, check_inputs
from trimetric.files.suffixes import MATRIX_SUFFIXES

RANDOM_POINTS = 500
NEAREST_SECONDS = 60.0
"""after which the nearest metric to a matrix is told with the gap it has"""
ALL_TRIPLES = 2000
"""up to this many points, all triples are measured"""


def _is_model(options: Audit) -> bool:
    """Whether the file is a model: one of another suffix is a matrix."""
    return options.model.suffix.lower() not in MATRIX_SUFFIXES


OF_A_MODEL = Only("with a model", _is_model)


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Measure whether a model keeps what it promises, or a matrix the triangle inequality; exit code 1 if not.

      trimetric audit model.safetensors
      trimetric audit model.safetensors --points 300 --json
      trimetric audit model.safetensors --random --seed 1
      trimetric audit model.safetensors --require triangle symmetric
      trimetric audit matrix.npy --picture broken.png
      trimetric audit osrm.json --cost distance

    The triangle inequality is measured on all triples of up to 2000 objects, or on a million random triples of more.
    A model that promises nothing (--head mlp) breaks no promise; --require says what must hold nevertheless.

    Of a matrix (.csv, .tsv, .txt, .npy, .npz, .parquet, .json, .atsp, .tsp, .vrp) all triangles are measured: how many
    pairs and triples are broken, which are the worst, and how much the repairs of trimetric repair would change.
    """

    model: Annotated[Positional[Path], arg(metavar="FILE")]
    """a model, as trimetric fit writes it, or a square matrix of distances"""
    points: Annotated[int | None, unless_given("N")] = None
    """how many of the known objects to use, chosen by seed (default: all)"""
    random: bool = False
    """use random points of a normal distribution instead of the known objects (500 without --points)"""
    require: Annotated[tuple[Measured, ...], unless_given("AXIOM")] = ()
    """axioms to check as if the model promised them: triangle, nonnegative, reflexive, definite, symmetric
    or homogeneous"""
    cost: Annotated[Literal["duration", "distance"] | None, unless_given("COST")] = None
    """of a .json or .parquet file with both, the matrix to audit (default: duration)"""
    picture: Annotated[Path | None, unless_given("FILE")] = None
    """draw the matrix and where it is broken (.png, .svg, .pdf)"""
    general: SeededComputing = field(default_factory=SeededComputing)

    effects: ClassVar[Effects] = {
        **dict.fromkeys(("points", "random", "require", "seed", "device"), OF_A_MODEL),
        "cost": Only(
            "with a .json or .parquet file", lambda options: options.model.suffix.lower() in (".json", ".parquet")
        ),
        "picture": Only("with a matrix", lambda options: not _is_model(options)),
    }

    def _audit_matrix(self) -> int:
        picture = None if self.picture is None else output_file("--picture", self.picture, ".png", ".svg", ".pdf")
        if picture is not None:
            keep_inputs("--picture", picture, self.model)
        check_inputs(self.model)

        from trimetric._support.atomic import replacing
        from trimetric.files.matrices import read_square_matrix
        from trimetric.routing import audit_matrix, audit_picture

        square = read_square_matrix(self.model, gaps=True, cost=self.cost)
        try:
            report = audit_matrix(square.values, names=square.names, nearest=True, max_seconds=NEAREST_SECONDS)
        except ValueError as error:
            raise InputError(f"{self.model}: {str(error).partition(': ')[2]}") from None
        if picture is not None:
            with replacing(picture) as stream:
                audit_picture(square.values).savefig(stream, dpi=130, format=picture.suffix[1:].lower())
        self.general.say(str(report))
        self.general.say("nothing was written" if picture is None else f"written: {picture}")
        self.general.answer(matrix=str(self.model), **report.to_dict())
        return 0 if report.is_metric else 1

    def run(self) -> int:
        if not _is_model(self):
            return self._audit_matrix()
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
