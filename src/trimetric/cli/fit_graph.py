"""What `trimetric fit --graph` does: read a graph, learn its distances, report and draw."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from trimetric.cli.general import keep_inputs, output_file
from trimetric.files.errors import InputError

if TYPE_CHECKING:
    from trimetric.cli.fit import Fit
    from trimetric.graphs import Graph, LearnedGraph
    from trimetric.graphs.graph import Nodes

OF_MAP_MODELS = ("guarantee", "precision", "bytes_per_node", "trees")
SHARED = ("dim", "epochs", "learning_rate")


def fit_graph(command: Fit, file: Path, output: Path) -> int:
    """Learn the distances of a graph, and save the model.

    Args:
        command: the options.
        file: the graph.
        output: the model to write.

    Returns:
        The exit code.
    """
    for option, value in (("--sample", command.sample), ("--landmarks", command.landmarks)):
        if value is not None and value < 1:
            raise InputError(f"{option}: expected a positive whole number, got {value}")
    if command.cache is not None and command.cache.exists() and not command.cache.is_dir():
        raise InputError(f"--cache: expected a folder, got the file {command.cache}")
    picture = None
    if command.picture is not None:
        picture = output_file("--picture", command.picture, ".png", ".svg", ".pdf")
        keep_inputs("--picture", picture, file, output, command.queries)

    from trimetric.cli.fit_inputs import read_network
    from trimetric.cli.report import report_graph
    from trimetric.cli.training import checkpoint_of, save, training
    from trimetric.graphs import learn_graph
    from trimetric.graphs.files.cache import default_folder
    from trimetric.graphs.paths.all_distances import MOST_NODES

    general, first = command.general.of_one_process()
    distance = command.distance_column or "weight"
    graph = read_network(
        file,
        columns=(command.from_column, command.to_column, distance) if command.kind == "network table" else None,
        weight=command.weight,
        symmetric=command.symmetric,
        largest=command.largest,
        note=general.note,
    )
    general.say(f"{file.name}: {graph}")
    if command.kind == "network table" and graph.num_nodes <= MOST_NODES:
        general.say(f"a graph of this size can also be learned from all pairs: trimetric fit {file.name} --edges")
    checkpoint = checkpoint_of(output)
    with training(command, checkpoint, restart=command.restart and first, subjects={"graph": str(file)}):
        learned = learn_graph(
            graph,
            sample=command.sample,
            landmarks=command.landmarks,
            cache=command.cache or default_folder(),
            log=general.say,
            **_choices(command, graph, checkpoint if first or not command.is_map_model else None),
        )
    used = learned.model.notes["settings"]
    settings = _map_settings(command) | used if command.is_map_model else command.settings(used)
    learned.model.notes |= {"settings": settings}
    if first:
        save(learned.model, output)
        if picture is not None:
            _draw(learned, picture, output)
    report_graph(general, learned, output)
    return 1 if learned.audit.broken else 0


def _choices(command: Fit, graph: Graph, checkpoint: Path | None) -> dict[str, Any]:
    """The arguments of `learn_graph`: for a map model only what was given, for a network all choices."""
    if not command.is_map_model:
        return {**command.choices(), "checkpoint": checkpoint}
    given = {name: getattr(command, name) for name in (*OF_MAP_MODELS, *SHARED) if name in command.general.given}
    return {
        **given,
        "queries": None if command.queries is None else read_queries(command, graph),
        "seed": command.general.seed,
        "unit": command.unit_of_distances,
        # Nothing is trained for an upper bound.
        "checkpoint": None if command.guarantee == "upper" else checkpoint,
        "progress": command.general.progress(),
    }


def _map_settings(command: Fit) -> dict[str, object]:
    """The options that a map model has, for its notes."""
    names = ("graph", "weight", "largest", "queries", "trees", "cache", "symmetric")
    values = {name: getattr(command, name) for name in names}
    return {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}


def read_queries(command: Fit, graph: Graph) -> Nodes:
    """Read trips, by the ids of their nodes.

    Args:
        command: the options, with the file of queries and the names of its columns.
        graph: whose nodes they are.

    Returns:
        `(queries, 2)` nodes, from and to.
    """
    import numpy as np

    from trimetric._support.printable import shown
    from trimetric.cli.fit_inputs import COLUMNS_HINT
    from trimetric.files.columns import read_table

    file = command.queries
    if file is None:
        raise ValueError("queries: expected a file, got None")
    columns = [command.from_column, command.to_column]
    table = read_table(file, ids=columns, numbers=[], hint=COLUMNS_HINT)
    number = {name: i for i, name in enumerate(graph.ids())}
    codes = np.stack([np.asarray(table.codes[column]) for column in columns], axis=1)
    names = list(table.names)
    nodes = np.array([number.get(name, -1) for name in names], np.int64)[codes]
    unknown = np.argwhere(nodes < 0)
    if len(unknown):
        row, column = unknown[0].tolist()
        raise InputError(
            f"--queries: {table.where(row)}: expected a node of {command.graph}, got {shown(names[codes[row, column]])}"
        )
    if not len(nodes):
        raise InputError(f"--queries: {file}: expected a query, got none")
    return nodes


def _draw(learned: LearnedGraph, picture: Path, output: Path) -> None:
    from trimetric.graphs.learning.pictures import save_map_picture

    try:
        save_map_picture(learned, picture)
    except (ValueError, ArithmeticError) as error:
        raise RuntimeError(f"--picture: {picture}: could not be drawn ({error}); the model is in {output}") from None
