"""`trimetric fit`"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from tyro.conf import Positional, arg

from trimetric.cli.effects import CONCAVE, Effects, Only
from trimetric.cli.general import CHECKPOINTS, SeededComputing, keep_inputs, output_file, unless_given
from trimetric.files.errors import InputError, check_inputs
from trimetric.graphs.files.formats import describe_formats, find_format
from trimetric.models.heads import HeadName

if TYPE_CHECKING:
    from trimetric.files.features import FeatureTable
    from trimetric.files.pairs import PairTable

MAP_UNITS = {"length": "metres", "time": "seconds"}
PACE = ("epochs", "batch_size", "learning_rate")
OF_NETWORKS = ("head", "widths", "concave_units", "batch_size", "weight_decay", "schedule", "loss", "gamma", "patience")
"""options that a map model does not have: with one of them, --graph trains a network"""
NETWORK = ("head", "symmetric", "dim", "widths", "concave_units")
CHOICES = (*NETWORK, *PACE, "weight_decay", "schedule", "loss", "gamma", "patience")
"""options that the library has too, by the same names"""

OF_A_NETWORK = Only("with --graph", lambda options: options.graph is not None)
OF_A_MAP_MODEL = Only(
    f"with --graph and none of {', '.join('--' + name.replace('_', '-') for name in OF_NETWORKS)}",
    lambda options: options.is_map_model,
)
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
      trimetric fit --graph city.osm.pbf -o city.safetensors --picture errors.png
      trimetric fit --graph city.osm.pbf -o city.safetensors --guarantee lower

    Pairs are rows of from, to, distance (CSV, TSV, Parquet, or NPZ with arrays of these names); a matrix has the
    distance from row to column (NPY, NPZ, or CSV with --matrix); the distances of a graph are those of its
    shortest paths.  Without --features each object gets a point of its own, and the model only knows the objects
    of the pairs; with them, it accepts any object whose features are known.

    --edges computes the distances of all pairs, so it is for graphs of up to 3000 nodes.

    --graph takes a whole network of any size: a map of OpenStreetMap (.osm.pbf), a DIMACS .gr file or a table of edges
    (from, to, weight).  It learns a map model: numbers per node whose largest difference is the distance, which start
    as the distances of landmarks and are no worse on held-out pairs.  --guarantee lower never says too far, upper
    never too near.  With --head or another option of a network, an encoder of landmark distances is trained instead.

    An interrupted run resumes when the same command is given again; a map model starts anew with known shortest paths.
    """

    pairs: Annotated[Positional[Path | None], unless_given("[PAIRS]")] = None
    """the file of distances"""
    output: Annotated[Path, arg(aliases=["-o"], metavar="FILE")]
    """the model to write, a .safetensors file"""

    graph: Annotated[Path | None, unless_given("FILE", help=f"a graph instead of PAIRS: {describe_formats()}")] = None
    weight: Literal["length", "time"] = "length"
    """what to measure on a map: length in metres or time in seconds"""
    largest: bool = False
    """keep only the largest part of a graph that is not connected; always done for maps"""
    sample: Annotated[int | None, unless_given("N")] = None
    """pairs of nodes to sample (default: 40,000; of a network 150,000, or 1,000,000 for a map; at most all); a tenth of
    them, or 10,000 of 40,000 and more, is held out for testing, and as many for validation"""
    landmarks: Annotated[int | None, unless_given("N")] = None
    """nodes to measure distances from (default: as many as take the memory of a point per node)"""
    guarantee: Literal["metric", "lower", "upper"] = "metric"
    """what a map model promises beside the triangle inequality: metric has the least error, lower is never too far,
    upper is never too near"""
    queries: Annotated[Path | None, unless_given("FILE")] = None
    """a table of trips (from, to) like those that a map model is for: it learns from trips of such lengths"""
    precision: Literal["float32", "int16", "int8"] = "float32"
    """how the numbers of a map model are stored"""
    bytes_per_node: Annotated[int | None, unless_given("N")] = None
    """memory for the numbers of a node of a map model, instead of --dim"""
    trees: Annotated[int | None, unless_given("N")] = None
    """shortest-path trees to train a map model on (default: about a minute of them)"""
    picture: Annotated[Path | None, unless_given("FILE")] = None
    """draw predicted against true distances and the error by distance (.png, .svg, .pdf)"""
    cache: Annotated[Path | None, unless_given("FOLDER")] = None
    """where to keep shortest paths for the next run (default: ~/.cache/trimetric)"""

    features: Annotated[Path | None, unless_given("FILE")] = None
    """a table with an id and numbers for each object (CSV, TSV, Parquet, NPZ)"""
    matrix: bool = False
    """read PAIRS as a square matrix, with or without names"""
    edges: bool = False
    """read PAIRS as the weighted edges of a graph"""
    drop_unreachable: bool = False
    """leave out pairs at infinite distance"""

    from_column: str = "from"
    """column of the objects where distances start"""
    to_column: str = "to"
    """column of the objects where they end"""
    distance_column: Annotated[str | None, unless_given("STR")] = None
    """column of the distances (default: distance, or weight with --edges and --graph)"""
    unit: Annotated[str | None, unless_given("NAME")] = None
    """unit of the distances, such as minutes or km: kept in the model and shown with each answer; for a map, --weight
    decides"""
    id_column: str = "id"
    """column of the ids in the file of features"""
    feature_columns: Annotated[tuple[str, ...], unless_given("STR ...")] = ()
    """columns of the features to use (default: all)"""

    head: HeadName = "wide"
    """the distance between points (with --graph, of a network); recommended adds up several, mlp promises nothing"""
    symmetric: bool = False
    """learn d(x, y) = d(y, x), which the data must satisfy; with --edges and --graph, edges go both ways"""
    dim: int = 64
    """dimensions of the points"""
    widths: tuple[int, ...] = (128, 128)
    """hidden layers of the encoder of features"""
    concave_units: int = 5
    """learned concave units per component of the head; 0 for none"""

    epochs: Annotated[int | None, unless_given("INT")] = None
    """passes over the pairs (default: 100; with --graph 10, of a map model 3)"""
    batch_size: Annotated[int | None, unless_given("INT")] = None
    """pairs per step (default: 256, or 512 with --graph)"""
    learning_rate: Annotated[float | None, unless_given("FLOAT")] = None
    """learning rate of Adam (default: 0.01, or 0.003 with --graph); of a map model, the first step relative to the mean
    distance (default: 0.05)"""
    weight_decay: float = 0.0
    """decoupled weight decay; 0 for none"""
    schedule: Literal["constant", "step", "thirds", "cosine", "one_cycle"] = "cosine"
    """how the learning rate changes over the run"""
    loss: Literal["squared", "absolute", "relative", "huber", "discounted", "lower_bound", "upper_bound"] = "squared"
    """squared gives the least error on average, relative weighs short distances as much as long ones, discounted
    allows infinite distances (unreachable pairs)"""
    gamma: float = 0.9
    """discount factor of the discounted loss"""
    patience: Annotated[int | None, unless_given("INT")] = None
    """stop after this many epochs without a better error on the held-out pairs"""
    validation: float = 0.1
    """share of the unordered pairs to hold out; both directions of a pair go together"""
    restart: bool = False
    """start over, even if an interrupted run could resume"""
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
        "picture": OF_A_NETWORK,
        "guarantee": OF_A_MAP_MODEL,
        "queries": OF_A_MAP_MODEL,
        "precision": OF_A_MAP_MODEL,
        "bytes_per_node": OF_A_MAP_MODEL,
        "trees": OF_A_MAP_MODEL,
        "restart": Only(
            "without --guarantee upper, for which nothing is trained",
            lambda options: not (options.is_map_model and options.guarantee == "upper"),
        ),
        "device": Only("without a map model, which is trained on processors", lambda options: not options.is_map_model),
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
        keep_inputs("--output", output, self.pairs, self.graph, self.features, self.queries)
        if not 0 <= self.validation < 1:
            raise InputError(f"--validation: expected a share from 0 to below 1, got {self.validation}")
        if self.matrix and self.edges:
            raise InputError("--edges: expected pairs, a matrix or edges, got --matrix too")
        if (self.pairs is None) == (self.graph is None):
            raise InputError(f"PAIRS: expected a file of pairs, or --graph, got {'both' if self.pairs else 'none'}")
        check_inputs(self.pairs, self.graph, self.features, self.queries)
        if self.graph is not None:
            from trimetric.cli.fit_graph import fit_graph

            return fit_graph(self, self.graph, output)
        return self._fit_pairs(self.pairs, output)  # type: ignore[arg-type]

    def _fit_pairs(self, file: Path, output: Path) -> int:
        from trimetric.cli.fit_inputs import learnable_distances

        features = None
        if self.features is not None:
            from trimetric.files.features import read_features

            features = read_features(self.features, id_column=self.id_column, columns=self.feature_columns or None)
        pairs = self._pairs(file, features)
        distances = learnable_distances(pairs, file, positive=self.loss == "relative")

        from trimetric.cli.report import report_pairs
        from trimetric.cli.training import checkpoint_of, save, training
        from trimetric.training import learn_pairs

        general, first = self.general.of_one_process()
        checkpoint, choices = checkpoint_of(output), self.choices()
        with training(self, checkpoint, restart=self.restart and first):
            learned = learn_pairs(
                pairs.ends,
                distances,
                names=pairs.names,
                features=None if features is None else features.values,
                validation=self.validation,
                checkpoint=checkpoint,
                log=general.say,
                **choices,
            )
        model = learned.model
        model.notes |= {"settings": self.settings(model.notes["settings"])}
        if features is not None:
            model.notes["feature_columns"] = features.columns
        if first:
            save(model, output)
        report_pairs(general, learned, output)
        return 1 if learned.audit.broken else 0

    def choices(self) -> dict[str, Any]:
        """Return the arguments that both recipes share; an option that was not given has the library's default."""
        given = {name: getattr(self, name) for name in CHOICES if getattr(self, name) is not None}
        return {
            **given,
            "seed": self.general.seed,
            "device": self.general.torch_device(),
            "unit": self.unit_of_distances,
            "progress": self.general.progress(),
        }

    @property
    def is_map_model(self) -> bool:
        """Whether numbers per node are learned for a graph, and no network."""
        return self.graph is not None and not self.general.given.intersection(OF_NETWORKS)

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
        """The unit of what is learned and predicted; None if unknown."""
        return MAP_UNITS[self.weight] if self.kind == "map" else self.unit

    def settings(self, used: Mapping[str, object]) -> dict[str, object]:
        """Return the options for the notes of the model; `used` has what the library chose for those not given."""
        plain = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(self).items() if k != "general"}
        return {**plain, **{name: used[name] for name in PACE}, "seed": self.general.seed}

    def _pairs(self, file: Path, features: FeatureTable | None) -> PairTable:
        from trimetric.cli.fit_inputs import layout_of, read_distances
        from trimetric.files.pairs import match_names

        layout = layout_of(file, matrix=self.matrix, edges=self.edges)
        distance = self.distance_column or ("weight" if layout == "edges" else "distance")
        found = read_distances(
            file,
            layout,
            columns=(self.from_column, self.to_column, distance),
            symmetric=self.symmetric,
            infinite="drop" if self.drop_unreachable else "keep" if self.loss == "discounted" else "refuse",
            note=self.general.note,
        )
        return found if features is None else match_names(found, features.names, str(self.features))
