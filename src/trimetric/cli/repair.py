"""`trimetric repair`"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from tyro.conf import Positional, arg

from trimetric.cli.effects import Effects, Only, in_options
from trimetric.cli.general import General, keep_inputs, output_file, unless_given
from trimetric.cli.process import tell_now
from trimetric.files.errors import InputError, check_inputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trimetric.files.json_instances import JsonInstance
    from trimetric.files.matrices import SquareMatrix
    from trimetric.nearness import NearestMetric, Round
    from trimetric.nearness.entry_error import Cell, EntryError, Remedy

REMEDIES: dict[Remedy, str] = {
    "missing": "--missing treats NaN and empty cells as unknown distances",
    "known": "leave unknown cells empty and give --missing",
    "average": "without --symmetric each direction has its own; the mean of both has the same nearest symmetric metric",
}
STOPPING = "stopping after this round; press Ctrl-C again to stop without a result"

NAMED_COST = Only(
    "with a .json or .parquet file", lambda options: options.matrix.suffix.lower() in (".json", ".parquet")
)
SEARCHED = Only("with a --method other than decrease-only", lambda options: options.method != "decrease-only")


NAMED = (".npz", ".csv", ".tsv")
"""plain matrices that keep the names of the objects"""
PLAIN = (".npy", ".npz", ".csv", ".tsv", ".txt")
OF_SOLVERS = (".parquet", ".json", ".atsp", ".tsp", ".vrp")


@dataclass(frozen=True, kw_only=True)
class Repair:
    """Find the nearest matrix that keeps the triangle inequality.

      trimetric repair D.csv -o X.npy
      trimetric repair D.npy -o X.npy --symmetric --tolerance 1e-9
      trimetric repair rbg443.atsp -o X.csv --method decrease-only --integers
      trimetric repair D.csv -o X.npy --missing --picture change.png

    Nearest by least squares, with a proof: the relative duality gap bounds how far the result is from the nearest
    metric.  The result breaks no triangle inequality, in floating point.  Ctrl-C writes the best metric so far; a
    second Ctrl-C stops without writing.
    """

    matrix: Annotated[Positional[Path], arg(metavar="MATRIX")]
    """distances from row to column: .csv, .tsv, .txt, .npy, .npz, .parquet, .json (OSRM, VROOM, OR-Tools), or .atsp,
    .tsp, .vrp of TSPLIB and VRPLIB"""
    output: Annotated[Path, arg(aliases=["-o"], metavar="FILE")]
    """the matrix to write: .npy, .npz, .csv, .tsv, .txt, .parquet or .json; with --integers also .atsp, .tsp or .vrp.
    Where MATRIX is an instance too, .json, .atsp, .tsp and .vrp keep everything in it but the matrix"""
    overwrite: bool = False
    """let the output replace MATRIX itself"""
    symmetric: bool = False
    """search among symmetric metrics; the matrix must be symmetric"""
    missing: bool = False
    """treat NaN and empty cells as unknown distances, to be filled in"""
    tolerance: float = 1e-6
    """the relative duality gap to reach; 0 is as near as rounding allows"""
    method: Literal["nearest", "decrease-only", "increase-only", "active-set", "dykstra"] = "nearest"
    """nearest is exact; decrease-only gives the nearest metric that is nowhere larger (shortest paths: what a
    dispatcher wants, as a vehicle may drive the detour); increase-only the nearest that is nowhere smaller; active-set
    is another name of nearest, and dykstra fixes triangles in turn"""
    integers: bool = False
    """whole numbers that still keep the triangle inequality"""
    cost: Annotated[Literal["duration", "distance"] | None, unless_given("COST")] = None
    """of a .json or .parquet file with both, the matrix to repair (default: duration)"""
    max_seconds: Annotated[float | None, unless_given("SECONDS")] = None
    """write the best metric so far after this time"""
    picture: Annotated[Path | None, unless_given("FILE")] = None
    """a .png with the matrix before and after, and the changes"""
    general: General = field(default_factory=General)

    effects: ClassVar[Effects] = {"tolerance": SEARCHED, "max_seconds": SEARCHED, "cost": NAMED_COST}

    def run(self) -> int:
        output = output_file("--output", self.output, *PLAIN, *OF_SOLVERS)
        if output.suffix.lower() in (".atsp", ".tsp", ".vrp") and not self.integers:
            raise InputError(f"--integers: expected for {output.name}, whose format has whole numbers only")
        picture = None if self.picture is None else output_file("--picture", self.picture, ".png")
        if not self.overwrite:
            keep_inputs("--output", output, self.matrix, remedy="; --overwrite replaces it")
        if picture is not None:
            keep_inputs("--picture", picture, self.matrix, output)
        check_inputs(self.matrix)

        import numpy as np

        from trimetric.files.matrices import read_square_matrix
        from trimetric.nearness import repair_report

        square = read_square_matrix(self.matrix, gaps=True, cost=self.cost)
        instance = self._json_instance(output)
        signals: list[int] = []
        result = self._solved(square, signals)
        if self.missing and not np.isnan(square.values).any():
            self.general.note(f"--missing: nothing to fill in, as no cell of {self.matrix} is empty or NaN")
        report = repair_report(result, square.values)
        numbers = (result.gap, result.distortion, report.mean_change)
        if not (np.isfinite(numbers).all() and np.isfinite(result.matrix).all()):
            raise RuntimeError(f"{self.matrix}: the repair left the range of floating point; nothing was written")
        self._write(output, square, result.matrix, instance)
        written = [output]
        if picture is not None:
            self._draw(result, square, picture)
            written.append(picture)
        self.general.say(str(report))
        if not result.converged:
            self.general.say(f"ended before the tolerance was reached ({result.stopped})")
        self.general.say(f"written: {', '.join(map(str, written))}")
        self.general.answer(**_summary(result), changed=report.changed, written=[str(file) for file in written])
        if result.stopped == "interrupted":
            return 128 + signals[0]
        return 0 if result.converged else 1

    def _json_instance(self, output: Path) -> JsonInstance | None:
        """The JSON file whose matrix is replaced, where both files are JSON."""
        from trimetric.files.json_instances import JsonInstance

        if {self.matrix.suffix.lower(), output.suffix.lower()} != {".json"}:
            return None
        instance = JsonInstance.read(self.matrix, cost=self.cost)
        if instance.is_vroom and not self.integers:
            raise InputError(f"--integers: expected for {self.matrix}, as instances of VROOM have whole numbers only")
        if instance.others:
            kept = ", ".join(instance.others)
            self.general.note(f"{output}: {kept} will stay as in {self.matrix}; --cost tells which matrix to repair")
        return instance

    def _write(self, output: Path, square: SquareMatrix, matrix: NDArray[Any], instance: JsonInstance | None) -> None:
        from trimetric._support.atomic import replacing
        from trimetric.files.matrices import write_matrix
        from trimetric.files.tsplib import TSPLIB_SUFFIXES, is_tsplib, with_other_matrix
        from trimetric.routing.matrix_files import MatrixFile, can_name, check_format, write_travel_file

        suffix = output.suffix.lower()
        names = square.names
        if suffix in NAMED and names is not None and not can_name(output, names):
            self.general.note(f"{output}: without the names of {self.matrix}, as some could not be read back")
            names = None
        if suffix in PLAIN and (suffix not in NAMED or names is None):
            write_matrix(output, matrix)
        elif instance is not None or (suffix in TSPLIB_SUFFIXES and is_tsplib(self.matrix)):
            text = with_other_matrix(self.matrix, matrix) if instance is None else instance.with_matrix(matrix)
            with replacing(output) as stream:
                stream.write(text.encode())
        else:
            form = check_format(output, None, costs=1, square=True, whole=self.integers)
            write_travel_file(output, form, MatrixFile.of_names(names, len(matrix)), {self.cost or "duration": matrix})

    def _solved(self, square: SquareMatrix, signals: list[int]) -> NearestMetric:
        """Return the result; signals that arrive meanwhile are appended to the list."""
        from trimetric._support.progress import GapProgress
        from trimetric.nearness import nearest_metric
        from trimetric.nearness.entry_error import EntryError

        silent = self.general.quiet or self.general.as_json
        with GapProgress(self.tolerance, silent=silent) as progress:

            def noted(number: int) -> None:
                signals.append(number)
                if not self.general.quiet:
                    tell_now(STOPPING)

            def tell(entry: Round) -> None:
                progress.advance(min(entry.gap, entry.estimate), str(entry))

            try:
                return nearest_metric(
                    square.values,
                    symmetric=self.symmetric,
                    missing="nan" if self.missing else None,
                    tolerance=self.tolerance,
                    method="active-set" if self.method == "nearest" else self.method,
                    integers=self.integers,
                    max_seconds=self.max_seconds,
                    report=tell,
                    interrupted=noted,
                )
            except EntryError as error:
                raise InputError(self._about(error, square)) from None
            except (ValueError, TypeError) as error:
                raise in_options(self, error, {"D": str(self.matrix)}) from None

    def _about(self, error: EntryError, square: SquareMatrix) -> str:
        first = error.cells[0]

        def show(cell: Cell, value: str) -> str:
            return value if cell == first else f"{value} in {square.place(*cell)}"

        return error.in_words(f"{self.matrix}, {square.place(*first)}", show, REMEDIES)

    def _draw(self, result: NearestMetric, square: SquareMatrix, picture: Path) -> None:
        from trimetric.nearness import save_picture

        try:
            save_picture(result, square.values, picture)
        except (ValueError, ArithmeticError) as error:
            raise RuntimeError(
                f"--picture: {picture}: could not be drawn ({error}); the matrix is in {self.output}"
            ) from None


def _summary(result: NearestMetric) -> dict[str, object]:
    return {
        "gap": result.gap,
        "distortion": result.distortion,
        "lower_bound": result.lower_bound,
        "exponent": result.exponent,
        "undetermined": result.undetermined,
        "violation_before_repair": result.violation,
        "rounds": result.rounds,
        "seconds": result.seconds,
        "converged": result.converged,
        "stopped": result.stopped,
    }
