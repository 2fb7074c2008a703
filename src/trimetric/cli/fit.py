"""`trimetric fit`"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from tyro.conf import Positional, arg

from trimetric.cli.effects import CONCAVE, Effects, Only
from trimetric.cli.general import CHECKPOINTS, SeededComputing, keep_inputs, output_file, unless_given
from trimetric.files.errors import InputError
from trimetric.graphs.files.formats import describe_formats, find_format

if TYPE_CHECKING:
    from trimetric.files.features import FeatureTable
    from trimetric.files.pairs import PairTable

PACE = {"epochs": 100, "batch_size": 256, "learning_rate": 1e-2}
GRAPH_PACE = {"epochs": 10, "batch_size": 512, "learning_rate": 3e-3}
MAP_UNITS = {"length": "metres", "time": "seconds"}

OF_A_NETWORK = Only("with --graph", lambda options: options.graph is not None)
OF_A_FILE = Only("with PAIRS, not with --graph", lambda options: options.graph is None)
OF_COLUMNS = Only("with a table of pairs or edges", lambda options: options.kind in ("table", "network table"))
OF_FEATURES = Only("with --features", lambda options: options.features is not None)


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Learn a distance from pairs, a matrix or a graph.

      trimetric fit pairs.csv -o model.safetensors
      trimetric fit pairs.csv --features objects.csv -o model.safetensors --head deep --epochs 300
      trimetric fit matrix.npy -o model.safetensors --symmetric
      trimetric fit streets.csv --edges -o model.safetensors --loss discounted
      trimetric fit --graph city.osm.pbf -o city.safetensors

    Pairs are rows of from, to, distance (CSV, TSV, Parquet, or NPZ with arrays of these names); a matrix has the
    distance from row to column (NPY, NPZ, or CSV with --matrix); the distances of a graph are those of its
    shortest paths.  Without --features each object gets a point of its own, and only objects of the pairs can be
    asked for; with them, any object whose features are known.

    --edges computes the distances of all pairs, so it is for graphs of up to 3000 nodes.

    --graph takes a whole network of any size: a map of OpenStreetMap (.osm.pbf), a DIMACS .gr file or a table of edges
    (from, to, weight).  It samples pairs of nodes, computes their shortest paths, learns from the nodes' distances to
    landmarks, and reports the errors on fresh pairs beside those of the landmarks' own bounds.

    A run that was stopped goes on when the same command is given again.
    """

    pairs: Annotated[Positional[Path | None], unless_given("[PAIRS]")] = None
    """the file of distances"""
    output: Annotated[Path, arg(aliases=["-o"], metavar="FILE")]
    """the model to write, a .safetensors file"""

    graph: Annotated[Path | None, unless_given("FILE", help=f"a graph instead of PAIRS: {describe_formats()}")] = None
    weight: Literal["length", "time"] = "length"
    """of a map: metres or seconds"""
    largest: bool = False
    """of a graph in several parts, the largest; maps are always cut so"""
    sample: Annotated[int | None, unless_given("N")] = None
    """pairs of nodes to sample; 150,000 unless given, 1,000,000 of a map, all of a small graph; a tenth of them (of
    40,000 or more: 10,000) is held out for testing, and as many for validation"""
    landmarks: Annotated[int | None, unless_given("N")] = None
    """nodes to measure distances from; as many as fit the memory of a point unless given"""
    cache: Annotated[Path | None, unless_given("FOLDER")] = None
    """where shortest paths are kept for the next run; trimetric in ~/.cache unless given"""

    features: Annotated[Path | None, unless_given("FILE")] = None
    """a table with an id and numbers for each object (CSV, TSV, Parquet, NPZ)"""
    matrix: bool = False
    """PAIRS is a square matrix, with or without names"""
    edges: bool = False
    """PAIRS are the weighted edges of a graph"""
    drop_unreachable: bool = False
    """leave out pairs at infinite distance"""

    from_column: str = "from"
    """where a distance starts"""
    to_column: str = "to"
    """where it ends"""
    distance_column: Annotated[str | None, unless_given("STR")] = None
    """the distances; "distance" unless given, or "weight" with --edges"""
    unit: Annotated[str | None, unless_given("NAME")] = None
    """of the distances, such as minutes or km: kept in the model and told with each answer; of a map metres or
    seconds, by --weight"""
    id_column: str = "id"
    """the ids in the file of features"""
    feature_columns: Annotated[tuple[str, ...], unless_given("STR ...")] = ()
    """the features to use; all unless given"""

    head: Literal["wide", "deep", "interval", "mahalanobis", "euclidean", "recommended", "mlp"] = "wide"
    """the distance between points; recommended adds several, mlp is a network that promises nothing"""
    symmetric: bool = False
    """d(x, y) = d(y, x), as in the data; with --edges, streets go both ways"""
    dim: int = 64
    """dimensions of the points"""
    widths: tuple[int, ...] = (128, 128)
    """hidden layers of the encoder of features"""
    concave_units: int = 5
    """in each concave function on the norm's components; 0 for none"""

    epochs: Annotated[int | None, unless_given("INT")] = None
    """passes over the pairs; 100 unless given, 10 with --graph"""
    batch_size: Annotated[int | None, unless_given("INT")] = None
    """pairs a step; 256 unless given, 512 with --graph"""
    learning_rate: Annotated[float | None, unless_given("FLOAT")] = None
    """of Adam; .01 unless given, .003 with --graph"""
    weight_decay: float = 0.0
    """decoupled; 0 for none"""
    schedule: Literal["constant", "step", "thirds", "cosine", "one_cycle"] = "cosine"
    """of the learning rate"""
    loss: Literal["squared", "absolute", "relative", "huber", "discounted", "lower_bound", "upper_bound"] = "squared"
    """squared for the least error on average, relative where short distances matter as much as long ones; discounted
    allows infinite distances (unreachable pairs)"""
    gamma: float = 0.9
    """of the discounted loss"""
    patience: Annotated[int | None, unless_given("INT")] = None
    """stop after so many epochs without a better error on the pairs held out"""
    validation: float = 0.1
    """part of the unordered pairs to hold out: both directions of a pair together"""
    restart: bool = False
    """begin anew, even where a stopped run could go on"""
    general: SeededComputing = field(default_factory=SeededComputing)

    effects: ClassVar[Effects] = {
        "weight": Only("with --graph and a map of OpenStreetMap", lambda options: options.kind == "map"),
        "largest": Only(
            "with --graph and a table or DIMACS file, as maps are always cut",
            lambda options: options.kind in ("network", "network table"),
        ),
        "sample": OF_A_NETWORK,
        "landmarks": OF_A_NETWORK,
        "cache": OF_A_NETWORK,
        "features": OF_A_FILE,
        "matrix": OF_A_FILE,
        "edges": OF_A_FILE,
        "drop_unreachable": OF_A_FILE,
        "validation": OF_A_FILE,
        "from_column": OF_COLUMNS,
        "to_column": OF_COLUMNS,
        "distance_column": OF_COLUMNS,
        "unit": Only("without a map, whose unit follows from --weight", lambda options: options.kind != "map"),
        "id_column": OF_FEATURES,
        "feature_columns": OF_FEATURES,
        "widths": Only("with --features or --graph", lambda options: options.features or options.graph),
        "concave_units": CONCAVE,
        "gamma": Only("with --loss discounted", lambda options: options.loss == "discounted"),
    }

    def run(self) -> int:
        output = output_file("--output", self.output, ".safetensors", beside=CHECKPOINTS)
        keep_inputs("--output", output, self.pairs, self.graph, self.features)
        if not 0 <= self.validation < 1:
            raise InputError(f"--validation: expected a part from 0 to below 1, got {self.validation}")
        if self.matrix and self.edges:
            raise InputError("--edges: expected pairs, a matrix or edges, got --matrix too")
        if (self.pairs is None) == (self.graph is None):
            raise InputError(f"PAIRS: expected a file of pairs, or --graph, got {'both' if self.pairs else 'none'}")
        if self.graph is not None:
            self._check_graph()

            from trimetric.cli.graph_model import fit_graph

            return fit_graph(self, self.graph, output)
        features = self._features()
        pairs = self._pairs(self.pairs, features)  # type: ignore[arg-type]

        from trimetric.cli.train import train

        return train(self, output, pairs, features)

    def _check_graph(self) -> None:
        """What can be told before any work is done."""
        for option, value in (("--sample", self.sample), ("--landmarks", self.landmarks)):
            if value is not None and value < 1:
                raise InputError(f"{option}: expected a positive whole number, got {value}")
        if self.cache is not None and self.cache.exists() and not self.cache.is_dir():
            raise InputError(f"--cache: expected a folder, got the file {self.cache}")

    @property
    def kind(self) -> Literal["map", "network", "network table", "matrix", "table"]:
        """What the distances are read from."""
        if self.graph is not None:
            return find_format(self.graph).kind

        from trimetric.files.matrices import holds_matrix

        found = self.pairs is not None and not self.edges and holds_matrix(self.pairs)
        return "matrix" if self.matrix or found else "table"

    @property
    def unit_of_distances(self) -> str | None:
        """The unit of what is learned and predicted; None where nobody said."""
        return MAP_UNITS[self.weight] if self.kind == "map" else self.unit

    def pace(self) -> dict[str, Any]:
        """How fast to learn: what was given, or what suits the input."""
        usual = GRAPH_PACE if self.graph is not None else PACE
        given = {"epochs": self.epochs, "batch_size": self.batch_size, "learning_rate": self.learning_rate}
        chosen = {name: usual[name] if value is None else value for name, value in given.items()}
        return {**chosen, "weight_decay": self.weight_decay}

    def settings(self) -> dict[str, object]:
        """The options, as notes can hold them."""
        plain = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(self).items() if k != "general"}
        return {**plain, **self.pace(), "seed": self.general.seed}

    def _features(self) -> FeatureTable | None:
        if self.features is None:
            return None
        from trimetric.files.features import read_features

        return read_features(self.features, id_column=self.id_column, columns=self.feature_columns or None)

    def _pairs(self, file: Path, features: FeatureTable | None) -> PairTable:
        from trimetric.files.matrices import holds_matrix
        from trimetric.files.matrix_pairs import read_matrix_pairs
        from trimetric.files.pairs import check_directions, drop_repeats, drop_unreachable, match_names, read_pairs
        from trimetric.graphs.paths.all_distances import read_all_distances

        unreachable = self.loss == "discounted" or self.drop_unreachable
        hint = "; --from-column, --to-column and --distance-column give other names, --matrix reads a matrix"
        is_matrix = self.matrix or holds_matrix(file)
        if is_matrix and self.edges:
            raise InputError(f"--edges: expected rows of edges, got the matrix {file}")
        if is_matrix:
            found = read_matrix_pairs(file, unreachable=unreachable)
        elif self.edges:
            found = read_all_distances(
                file,
                source=self.from_column,
                target=self.to_column,
                weight=self.distance_column or "weight",
                symmetrize=self.symmetric,
                unreachable=unreachable,
                hint=hint,
            )
        else:
            found = read_pairs(
                file,
                source=self.from_column,
                target=self.to_column,
                distance=self.distance_column or "distance",
                unreachable=unreachable,
                hint=hint,
            )
        found = drop_repeats(found)
        if self.symmetric:
            check_directions(found, hint="; without --symmetric each direction has its own")
        if self.drop_unreachable:
            found = drop_unreachable(found)
        if features is not None:
            found = match_names(found, features.names, str(self.features))
        if not len(found):
            raise InputError(f"{file}: expected a pair of different objects, got none")
        return found
