"""`trimetric repair`"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from trimetric.cli.general import General, output_file
from trimetric.tables.errors import InputError

if TYPE_CHECKING:
    from trimetric.nearness import NearestMetric, Round


@dataclass(frozen=True, kw_only=True)
class Repair:
    """The nearest matrix that keeps the triangle inequality.

      trimetric repair D.csv -o X.npy
      trimetric repair D.npy -o X.npy --symmetric --tolerance 1e-9
      trimetric repair rbg443.atsp -o X.csv --method decrease-only
      trimetric repair D.csv -o X.npy --missing --picture change.png

    Least squares, with a proof: the relative duality gap says how near to the nearest metric the result is.  It breaks
    no triangle inequality at all, in floating point.  Ctrl-C writes the best metric so far.
    """

    matrix: Annotated[Positional[Path], arg(metavar="MATRIX")]
    """distances from row to column: .csv, .tsv, .txt, .npy, .npz, or TSPLIB's .atsp and .tsp"""
    output: Annotated[Path, arg(aliases=["-o"], metavar="FILE")]
    """the matrix to write: .npy, .npz, .csv, .tsv or .txt"""
    symmetric: bool = False
    """among symmetric metrics; the matrix must be symmetric"""
    missing: bool = False
    """NaN and empty cells are distances that are not known, to be filled in"""
    tolerance: float = 1e-6
    """the relative duality gap to reach"""
    method: Literal["active-set", "dykstra", "decrease-only"] = "active-set"
    """exact; triangle fixing; or the nearest metric that is nowhere larger"""
    max_seconds: Annotated[float | None, arg(metavar="SECONDS")] = None
    """after which the best metric so far is written"""
    picture: Annotated[Path | None, arg(metavar="FILE")] = None
    """a .png with the matrix before and after, and the changes"""
    general: General = field(default_factory=General)

    def run(self) -> int:
        output = output_file("--output", self.output, ".npy", ".npz", ".csv", ".tsv", ".txt")
        picture = None if self.picture is None else output_file("--picture", self.picture, ".png")

        from trimetric.nearness import nearest_metric, read_matrix, repair_report, save_picture, write_matrix
        from trimetric.progress import GapProgress

        given = read_matrix(self.matrix)
        with GapProgress(self.tolerance, silent=self.general.quiet or self.general.as_json) as progress:

            def tell(entry: Round) -> None:
                progress.advance(min(entry.gap, entry.estimate), str(entry))

            try:
                result = nearest_metric(
                    given,
                    symmetric=self.symmetric,
                    missing="nan" if self.missing else None,
                    tolerance=self.tolerance,
                    method=self.method,
                    max_seconds=self.max_seconds,
                    report=tell,
                )
            except (ValueError, TypeError) as error:
                text = str(error).removeprefix("D: ").replace("missing='nan'", "--missing")
                raise InputError(f"{self.matrix}: {text}") from None
        write_matrix(output, result.matrix)
        written = [output]
        if picture is not None:
            save_picture(result, given, picture)
            written.append(picture)
        report = repair_report(result, given)
        self.general.say(str(report))
        if not result.converged:
            self.general.say(f"ended before the tolerance was reached ({result.stopped})")
        self.general.say(f"written: {', '.join(map(str, written))}")
        self.general.answer(**_summary(result), changed=report.changed, written=[str(file) for file in written])
        return 0 if result.converged else 1


def _summary(result: NearestMetric) -> dict[str, object]:
    return {
        "gap": result.gap,
        "distortion": result.distortion,
        "lower_bound": result.lower_bound,
        "violation_before_repair": result.violation,
        "rounds": result.rounds,
        "seconds": result.seconds,
        "converged": result.converged,
        "stopped": result.stopped,
    }
