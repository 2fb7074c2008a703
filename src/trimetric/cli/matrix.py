"""`trimetric matrix`"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from tyro.conf import Positional, arg

from trimetric.cli.effects import Effects, Only, in_options, no_effect
from trimetric.cli.general import General, keep_inputs, output_file, unless_given
from trimetric.files.errors import InputError, check_inputs
from trimetric.graphs.files.formats import describe_formats, find_format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trimetric.models.model import Model
    from trimetric.routing import Places, RoadMap

SUFFIXES = (".npy", ".npz", ".csv", ".tsv", ".parquet", ".json", ".atsp", ".tsp", ".vrp")
IGNORED = "turn restrictions and turn costs are ignored: every turn is allowed and takes no time"
OTHER_COST = (
    "the {other} is that of the best route by {measure}; it may break the triangle inequality: trimetric audit "
    "counts the broken triangles, trimetric repair fixes them"
)


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Travel times and lengths of the best routes between places, exact, as a matrix.

      trimetric matrix city.osm.pbf places.csv -o matrix.npy
      trimetric matrix city.osm.pbf stops.csv -o instance.vrp --integers
      trimetric matrix city.osm.pbf shops.csv --to homes.csv -o table.parquet --annotations duration distance
      trimetric matrix city.osm.pbf places.csv -o osrm.json --annotations duration distance
      trimetric matrix city.osm.pbf places.csv -o vroom.json --format vroom --integers
      trimetric matrix roads.gr nodes.csv -o matrix.npy --weight length

    A table of places has the columns id, lon and lat; each place is snapped to the nearest point of a street, and one
    that is farther than --max-snap from every street is an error.  Without lon and lat, ids are those of nodes.

    Costs of the best routes keep the triangle inequality.  Where both costs are asked for, both are those of the same
    route, the best by --weight; the other one may break the inequality.  Turn restrictions and turn costs are ignored.

    A matrix may be larger than memory.  It is computed in blocks, which are kept beside the output; the same command
    resumes an interrupted run, and writes the same bytes.
    """

    map: Annotated[
        Positional[Path], arg(metavar="MAP", help=f"a road map or graph: {describe_formats()}", help_behavior_hint="")
    ]
    places: Annotated[Positional[Path], arg(metavar="PLACES")]
    """a table of places (CSV, TSV, Parquet, NPZ): id, lon, lat, or ids of nodes"""
    output: Annotated[Path, arg(aliases=["-o"], metavar="FILE")]
    """.npy, .npz, .csv, .tsv, .parquet (a row per pair), .json, .atsp (TSPLIB) or .vrp (VRPLIB, which PyVRP reads)"""
    to: Annotated[Path | None, unless_given("FILE")] = None
    """a table of places for the columns (default: those of the rows)"""
    weight: Literal["time", "length"] = "time"
    """what routes minimize; of a file with one weight per arc, whether it is seconds or meters"""
    annotations: Annotated[tuple[Literal["duration", "distance"], ...], unless_given("COST")] = ()
    """costs to write, duration (seconds) and distance (meters) of the same route (default: what is minimized); .npz,
    .parquet and .json hold both"""
    integers: bool = False
    """whole seconds and meters, rounded up, which keeps the triangle inequality"""
    format: Annotated[Literal["osrm", "vroom", "ortools"] | None, unless_given("FORMAT")] = None
    """what a .json file is: osrm (default), the answer of a table service; vroom, an instance; ortools, matrices of
    whole numbers"""
    model: Annotated[Path | None, unless_given("FILE")] = None
    """a model of the map (trimetric fit --graph) that estimates the costs, between the nodes nearest to the places"""
    id_column: str = "id"
    """column of the ids of places"""
    max_snap: Annotated[float, arg(metavar="METERS")] = 500.0
    """largest distance from a place given by lon and lat to its street"""
    dask: Annotated[str | None, unless_given("ADDRESS")] = None
    """address of a Dask scheduler, whose workers compute instead"""
    cache: Annotated[Path | None, unless_given("FOLDER")] = None
    """folder for the parsed map and its hierarchy (default: ~/.cache/trimetric)"""
    general: General = field(default_factory=General)

    effects: ClassVar[Effects] = {
        "format": Only("with a .json file", lambda options: options.output.suffix.lower() == ".json"),
    }

    def run(self) -> int:
        output = output_file("--output", self.output, *SUFFIXES)
        keep_inputs("--output", output, self.map, self.places, self.to, self.model)
        check_inputs(self.map, self.places, self.to, self.model)
        if not self.max_snap >= 0:
            raise InputError(f"--max-snap: expected a number of meters >= 0, got {self.max_snap}")

        from trimetric.routing.large_matrices import write_matrix_file
        from trimetric.routing.matrix_files import check_format
        from trimetric.routing.road_map import MEASURES

        measure = MEASURES[self.weight]
        costs = tuple(dict.fromkeys(self.annotations)) or (measure,)
        if self.model is not None and costs != (measure,):
            raise InputError(f"--model: expected --annotations {measure} alone, got {' '.join(costs)}")
        if self.cache is not None and self.cache.exists() and not self.cache.is_dir():
            raise InputError(f"--cache: expected a folder, got the file {self.cache}")
        check_format(output, self.format, costs=len(costs), square=self.to is None, whole=self.integers)
        roads = self._read_map()
        sources = self._read_places(roads, "PLACES", self.places)
        targets = None if self.to is None else self._read_places(roads, "--to", self.to)
        if "max_snap" in self.general.given and not (sources.snapped or (targets is not None and targets.snapped)):
            raise no_effect("--max-snap", "with tables that have the columns lon and lat")
        model = None if self.model is None else self.general.load(self.model)
        with self._cluster() as client:
            try:
                written = write_matrix_file(
                    output,
                    roads,
                    sources,
                    targets,
                    weight=self.weight,
                    annotations=costs,
                    integers=self.integers,
                    form=self.format,
                    model=model,
                    client=client,
                    progress=self.general.progress(),
                )
            except (ValueError, TypeError) as error:
                raise in_options(self, error, {"graph": str(self.map), "roads": str(self.map)}) from None
        self._tell(roads, sources, targets, model, written)
        return 0

    def _read_map(self) -> RoadMap:
        from trimetric.graphs.files.cache import default_folder
        from trimetric.routing import read_roads

        kept = default_folder() if self.cache is None else self.cache
        of_map = find_format(self.map).kind == "map"
        return read_roads(self.map, weight=None if of_map else self.weight, cache=kept)

    def _read_places(self, roads: RoadMap, option: str, file: Path) -> Places:
        from trimetric.routing import read_places

        try:
            return read_places(file, roads, id_column=self.id_column, limit=self.max_snap)
        except InputError as error:
            raise InputError(
                f"{option}: {error}; see --max-snap" if "within" in str(error) else f"{option}: {error}"
            ) from None

    @contextmanager
    def _cluster(self) -> Iterator[Any]:
        if self.dask is None:
            yield None
            return
        from trimetric._support.optional import optional

        distributed = optional("distributed", needed_for="--dask", extra="cluster")
        try:
            client = distributed.Client(self.dask, set_as_default=False, timeout="10s")
        except (OSError, ValueError) as error:
            raise InputError(f"--dask: expected the address of a Dask scheduler, got {self.dask!r} ({error})") from None
        with client:
            yield client

    def _tell(self, roads: RoadMap, sources: Places, targets: Places | None, model: Model | None, written: Any) -> None:
        from trimetric.routing.road_map import MEASURES

        measure = MEASURES[self.weight]
        self.general.say(f"map: {roads}; {IGNORED}")
        self.general.say(f"{self.places.name}: {sources}")
        if targets is not None and self.to is not None:
            self.general.say(f"{self.to.name}: {targets}")
        if written.resumed:
            self.general.say(f"resumed: {written.resumed:,} rows were there already")
        rows, columns = written.shape
        how = "estimated by the model" if model is not None else "exact"
        self.general.say(
            f"{rows:,} x {columns:,}, {' and '.join(written.costs)} of the best routes by {measure}, {how}"
        )
        other = [name for name in written.costs if name != measure]
        if other:
            self.general.say(OTHER_COST.format(other=other[0], measure=measure))
        self.general.say(f"written: {written.file}")
        self.general.answer(
            rows=rows,
            columns=columns,
            costs=list(written.costs),
            weight=self.weight,
            exact=model is None,
            turn_restrictions="ignored",
            resumed_rows=written.resumed,
            largest_snap_m=float(max(p.positions.meters.max() for p in (sources, targets) if p is not None)),
            written=[str(written.file)],
        )
