"""`trimetric predict`"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from tyro.conf import Positional, arg

from trimetric.cli.effects import Effects, Only, no_effect
from trimetric.cli.general import Computing, keep_inputs, output_file, unless_given
from trimetric.files.errors import InputError, check_inputs

if TYPE_CHECKING:
    from trimetric.cli.asked import Asked
    from trimetric.models.model import Model
    from trimetric.search import Index

NUMBERS = {"distance", "given", "from_snap_m", "to_snap_m"}
IN_A_FILE = Only("with PAIRS", lambda options: options.pairs is not None)


@dataclass(frozen=True, kw_only=True)
class Predict:
    """Distances between objects, and nearest ones, as CSV.

      trimetric predict model.safetensors --from A1 --to H8
      trimetric predict model.safetensors pairs.csv -o distances.csv
      trimetric predict model.safetensors pairs.csv -o distances.parquet --picture errors.png
      trimetric predict model.safetensors --from A1 --nearest 5
      trimetric predict model.safetensors --features new.csv --all-pairs -o distances.csv
      trimetric predict city.safetensors --from-file addresses.csv --to-file hospitals.csv --nearest 1

    A file of pairs needs the columns from and to.  If it also has distances, they are repeated in a column "given",
    and the errors are reported, by distance.

    Every object of --from is combined with every object of --to; if only one of the two is given, with all objects.

    Files of objects have a column id.  If they also have lon and lat, and the model is that of a map, each object is
    snapped to the nearest node of the map and keeps its own id in the answer; the columns from_node, from_snap_m,
    to_node and to_snap_m have the node and how far away it is, in metres.  A place farther than --max-snap from the
    map is an error.
    """

    model: Annotated[Positional[Path], arg(metavar="MODEL")]
    """a model file, as trimetric fit writes it"""
    pairs: Annotated[Positional[Path | None], unless_given("[PAIRS]")] = None
    """a file of pairs (CSV, TSV, Parquet, NPZ)"""

    sources: Annotated[tuple[str, ...], unless_given("[ID ...]", name="from")] = ()
    """objects where distances start"""
    targets: Annotated[tuple[str, ...], unless_given("[ID ...]", name="to")] = ()
    """objects where they end"""
    sources_file: Annotated[Path | None, unless_given("FILE", name="from-file")] = None
    """a table of objects where distances start"""
    targets_file: Annotated[Path | None, unless_given("FILE", name="to-file")] = None
    """a table of objects where they end"""
    all_pairs: bool = False
    """from every object to every object"""
    nearest: Annotated[int | None, unless_given("K")] = None
    """for each object of --from (default: all), only the K nearest of --to (default: all)"""
    reverse: bool = False
    """with --nearest: the K objects from which the way to each of --from is shortest"""
    index: Annotated[Path | None, unless_given("FILE")] = None
    """with --nearest: an index of the model, from trimetric index build; without one it is built where that pays"""

    features: Annotated[Path | None, unless_given("FILE")] = None
    """features of other objects, to use instead of those that the model knows"""
    from_column: str = "from"
    """column of the objects where distances start"""
    to_column: str = "to"
    """column of the objects where they end"""
    distance_column: str = "distance"
    """column of distances to compare with, if the file has them"""
    id_column: str = "id"
    """column of the ids in files of features and objects"""
    max_snap: Annotated[float, arg(metavar="METRES")] = 500.0
    """largest distance from a place given by lon and lat to the map"""
    output: Annotated[Path | None, unless_given("FILE", aliases=("-o",))] = None
    """a .csv, .tsv or .parquet file (default: standard output)"""
    picture: Annotated[Path | None, unless_given("FILE")] = None
    """a .png, .svg or .pdf of predicted against given distances, where PAIRS have them"""
    general: Computing = field(default_factory=Computing)

    effects: ClassVar[Effects] = {
        "from_column": IN_A_FILE,
        "to_column": IN_A_FILE,
        "distance_column": IN_A_FILE,
        "picture": IN_A_FILE,
        "id_column": Only(
            "with --features, --from-file or --to-file",
            lambda options: options.features or options.sources_file or options.targets_file,
        ),
        "max_snap": Only("with --from-file or --to-file", lambda options: options.sources_file or options.targets_file),
        "reverse": Only("with --nearest", lambda options: options.nearest is not None),
        "index": Only(
            "with --nearest, and without --to, --to-file and --features",
            lambda options: (
                options.nearest is not None and not (options.targets or options.targets_file or options.features)
            ),
        ),
    }

    def run(self) -> int:
        self._check()
        read = (self.model, self.pairs, self.features, self.sources_file, self.targets_file, self.index)
        if self.output is not None:
            output_file("--output", self.output, ".csv", ".tsv", ".parquet")
            keep_inputs("--output", self.output, *read)
        if self.picture is not None:
            output_file("--picture", self.picture, ".png", ".svg", ".pdf")
            keep_inputs("--picture", self.picture, *read, self.output)
        check_inputs(*read)
        from trimetric.cli.queries import columns, every_pair, model_of_objects, nearest

        model = model_of_objects(self.general, self.model, self.features, self.id_column)
        if self.pairs is not None:
            return self._answer_file(model, self.pairs)

        sources = self._asked(model, "--from", self.sources, self.sources_file)
        targets = self._asked(model, "--to", self.targets, self.targets_file)
        if "max_snap" in self.general.given and sources.metres is None and targets.metres is None:
            raise no_effect("--max-snap", "with files that have the columns lon and lat")
        if self.nearest is None:
            blocks = every_pair(model, sources, targets)
        else:
            index = self._index(model)
            blocks = nearest(
                model, sources, targets, self.nearest, reverse=self.reverse, index=index, note=self.general.note
            )
        header = columns(targets, sources) if self.reverse else columns(sources, targets)
        return self._write(model, header, blocks)

    def _check(self) -> None:
        for option, names, file in (("from", self.sources, self.sources_file), ("to", self.targets, self.targets_file)):
            if names and file is not None:
                raise InputError(f"--{option}-file: expected a file or --{option}, got both")
        given = {
            "--from": self.sources,
            "--to": self.targets,
            "--from-file": self.sources_file,
            "--to-file": self.targets_file,
            "--all-pairs": self.all_pairs,
            "--nearest": self.nearest is not None,
        }
        asked = [option for option, value in given.items() if value]
        if self.pairs is not None and asked:
            raise InputError(
                f"PAIRS: expected a file, or --from, --to, --all-pairs, --nearest, got {self.pairs} and {asked[0]}"
            )
        if self.pairs is None and not asked:
            raise InputError("PAIRS: expected a file of pairs, or --from, --to, --all-pairs or --nearest, got none")
        if self.all_pairs and asked[0] != "--all-pairs":
            raise InputError(f"--all-pairs: expected neither --from nor --to, in words or in a file, got {asked[0]}")
        if self.nearest is not None and self.nearest < 1:
            raise InputError(f"--nearest: expected a positive integer, got {self.nearest}")
        if not self.max_snap >= 0:
            raise InputError(f"--max-snap: expected a number of metres >= 0, got {self.max_snap}")

    def _index(self, model: Model) -> Index | None:
        """Load the index, if one was given, and refuse that of another model."""
        if self.index is None:
            return None
        from trimetric._support.tensor_files import CheckpointError
        from trimetric.cli.queries import check_index
        from trimetric.files.errors import check_exists
        from trimetric.search import Index

        check_exists(self.index)
        try:
            index = Index.load(self.index)
        except CheckpointError as error:
            raise InputError(" ".join(str(error).split())) from None
        check_index(index, model, self.index, self.model)
        return index

    def _say_what_they_are(self, model: Model) -> None:
        """Say the unit, and whether the triangle inequality is promised."""
        from trimetric.cli.promises import caveat

        unit = model.notes.get("unit")
        if isinstance(unit, str):
            self.general.note(f"distances are in {unit}")
        if (text := caveat(model)) is not None:
            self.general.note(text)

    def _asked(self, model: Model, option: str, names: tuple[str, ...], file: Path | None) -> Asked:
        """Return the objects that are named or listed; all if none are."""
        from trimetric.cli.asked import everything, listed, named

        origin = str(self.model) if self.features is None else f"--features {self.features}"
        if file is not None:
            found = listed(
                model,
                file,
                option=f"{option}-file",
                id_column=self.id_column,
                origin=origin,
                max_snap=self.max_snap,
            )
            if found.note:
                self.general.note(found.note)
            return found
        return named(model, names, option=option, origin=origin) if names else everything(model)

    def _answer_file(self, model: Model, file: Path) -> int:
        from trimetric.cli.queries import listed_pairs
        from trimetric.files.pairs import match_names, read_pairs
        from trimetric.training.pair_errors import PairErrors, number_or_dash

        pairs = read_pairs(
            file,
            source=self.from_column,
            target=self.to_column,
            distance=self.distance_column,
            distance_optional="distance_column" not in self.general.given,
            unreachable=True,
            hint="; --from-column, --to-column and --distance-column give other names",
        )
        pairs = match_names(pairs, list(model.ids or ()), str(self.model if self.features is None else self.features))
        predicted, blocks = listed_pairs(model, pairs)
        if pairs.distances is None:
            if self.picture is not None:
                raise no_effect("--picture", "with PAIRS that have distances")
            return self._write(model, ("from", "to", "distance"), blocks)
        given = pairs.distances
        errors = PairErrors.measure(predicted, given, mean=float(given.mean()))
        summary = (
            f"mean squared error {number_or_dash(errors.mse, '.4g')}, "
            f"mean relative error {number_or_dash(errors.mean_relative_error, '.2%')} "
            f"on {errors.pairs:,} given distances"
        )
        self.general.note("\n".join([summary, *errors.table()]))
        if self.picture is not None:
            from trimetric.models import draw_predictions, save_figure

            unit = model.notes.get("unit")
            save_figure(draw_predictions(predicted, given, unit=unit if isinstance(unit, str) else None), self.picture)
            self.general.note(f"picture: {self.picture}")
        drawn = {} if self.picture is None else {"picture": str(self.picture)}
        header = ("from", "to", "distance", "given")
        return self._write(model, header, blocks, errors=errors.to_dict(), **drawn)

    def _write(self, model: Model, header: tuple[str, ...], blocks: object, **more: object) -> int:
        from trimetric.files.writing import write_rows

        self._say_what_they_are(model)
        more = {"unit": model.notes.get("unit"), "promises": asdict(model.axioms), **more}
        if self.general.as_json and self.output is None:
            rows = [
                {name: float(cell) if name in NUMBERS else cell for name, cell in zip(header, row, strict=True)}
                for block in blocks  # type: ignore[attr-defined]
                for row in block
            ]
            self.general.answer(pairs=rows, **more)
            return 0
        numbers = [name for name in header if name in NUMBERS]
        count = write_rows(self.output, header, blocks, numbers=numbers)  # type: ignore[arg-type]
        if self.output is not None:
            self.general.say(f"{count:,} distances written to {self.output}")
            self.general.answer(rows=count, written=str(self.output), **more)
        return 0
