"""From a graph to a model of its distances."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import torch
from numpy.typing import ArrayLike

from trimetric._support import checks
from trimetric._support.optional import optional
from trimetric._support.progress import Shown
from trimetric.graphs.graph import Graph
from trimetric.graphs.learning.learned_graph import LearnedGraph as LearnedGraph
from trimetric.graphs.learning.rounding import BYTES, Precision
from trimetric.models.heads import HeadName
from trimetric.training.config import TrainingConfig
from trimetric.training.losses import LossName
from trimetric.training.recipes import Log
from trimetric.training.schedules import ScheduleName

DIM = 64


def learn_graph(
    graph: Graph,
    *,
    guarantee: Literal["metric", "lower", "upper"] | None = None,
    queries: ArrayLike | None = None,
    precision: Precision | None = None,
    bytes_per_node: int | None = None,
    trees: int | None = None,
    head: HeadName | None = None,
    symmetric: bool | None = None,
    dim: int | None = None,
    widths: Sequence[int] | None = None,
    concave_units: int | None = None,
    sample: int | None = None,
    landmarks: int | None = None,
    epochs: int | None = None,
    batch_size: int | None = None,
    learning_rate: float | None = None,
    weight_decay: float | None = None,
    schedule: ScheduleName | None = None,
    loss: LossName | None = None,
    gamma: float | None = None,
    patience: int | None = None,
    seed: int = 0,
    device: str | torch.device | None = None,
    unit: str | None = None,
    cache: Path | str | None = None,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
    log: Log | None = None,
) -> LearnedGraph:
    r"""Learn the distances of a graph of any size, and compare the model with landmarks and exact answers.

    By default the model is a **map model**: `dim` numbers per node, and the distance is their largest difference,
    $\max_k |g_k(y) - g_k(x)|$ (for a directed graph, $\max_k (g_k(y) - g_k(x))^+$), a quasimetric for any
    numbers.  The numbers start as the potentials of landmarks, chosen for trips of all scales, and are trained on more
    such trips.  The trained numbers are kept only if they are no worse than the landmarks on validation pairs, both
    random and short ones; otherwise the model consists of the landmarks' potentials.

    With a `head`, or an option that applies only to a network (`widths`, `concave_units`, `batch_size`,
    `weight_decay`, `schedule`, `loss`, `gamma`, `patience`, `device`; the head is then "wide"), an encoder of the
    nodes' distances to landmarks and of their coordinates is trained instead.

    Args:
        graph: strongly connected, with at least 4 nodes.
        guarantee: "metric", the default: the least error.  "lower": never longer than the true distance, checked
            exactly on every arc, and a consistent heuristic for A*.  "upper": never shorter than the true distance.
        queries: `(queries, 2)` nodes, from and to, of trips like those that the model is used for.  It is trained on
            other trips of similar lengths, never on these, and its error on these is reported.
        precision: of the numbers of a map model: "float32", "int16" or "int8".  If 8 bits are too coarse, half as
            many numbers of 16 bits are used instead.
        bytes_per_node: memory for the numbers of a node, instead of `dim`.
        trees: shortest-path trees to train a map model on; by default as many as a minute of one core allows.
        head: the distance between points, see `trimetric.models.HEADS`; None for a map model.
        symmetric: whether d(x, y) = d(y, x); by default, if the graph is undirected.
        dim: dimensions of the points, 64 by default.
        widths: hidden layers of the encoder, (128, 128) by default.
        concave_units: learned concave units per component of the head, 5 by default; 0 for none.
        sample: number of pairs of nodes to sample; by default 40,000, for a network 150,000 (1,000,000 if the graph is
            a road network), but at most all pairs.  A tenth of them (10,000 of 40,000 or more) is held out for testing,
            and the same number for validation.
        landmarks: number of nodes far from each other to compare with, whose distances a network reads; by default
            their distances take as much memory per node as a point.
        epochs: passes over the trips (3 by default) or, for a network, the pairs (10).
        batch_size: pairs per step, 512 by default.
        learning_rate: the first step, relative to the mean distance (0.05 by default); for a network, of Adam (0.003).
        weight_decay: decoupled (AdamW); 0, the default, is Adam.
        schedule: of the learning rate, "cosine" by default.
        loss: of the training, see `TrainingConfig`.
        gamma: of the discounted loss.
        patience: epochs without a better validation error before stopping; None never stops early.
        seed: of the sample, the landmarks, the weights and the order of the pairs.
        device: where to train a network.
        unit: of the distances, such as "metres"; kept in the notes of the model.
        cache: a folder in which shortest paths are stored for later runs; None for no cache.
        checkpoint: a file for the state of the training; if it exists, the training resumes from it: a network after
            the last epoch, a map model after the last of its stages.  Remove it once the model is saved.
        progress: "silent" shows no progress bars.
        log: called with a line of text before each stage.

    Returns:
        The model, its comparison with landmarks and exact answers, the verdict and the audit.

    Raises:
        ValueError: if an argument is unusable; the message names it.
        RuntimeError: if the training diverges.

    Examples:
        >>> from trimetric.graphs import torus3d_directed
        >>> learned = learn_graph(torus3d_directed(seed=0, side=3), dim=4, guarantee="lower", progress="silent")
        >>> [row.name for row in learned.candidates][:3]
        ['model', 'chosen landmarks', 'landmarks from below']
        >>> learned.audit.holds, learned.candidates[0].accuracy.over_estimated
        (True, 0.0)
    """
    network = {
        "widths": widths,
        "concave_units": concave_units,
        "batch_size": batch_size,
        "weight_decay": weight_decay,
        "schedule": schedule,
        "loss": loss,
        "gamma": gamma,
        "patience": patience,
        "device": device,
    }
    of_map = {
        "guarantee": guarantee,
        "queries": queries,
        "precision": precision,
        "bytes_per_node": bytes_per_node,
        "trees": trees,
    }
    given = [name for name, value in network.items() if value is not None]
    both_ways = not graph.directed if symmetric is None else symmetric
    if head is not None or given:
        _refuse(of_map, f"without {'head' if head is not None else given[0]}, as only map models have it")
        from trimetric.graphs.learning.network_recipe import learn_network

        defaults = {"epochs": epochs, "batch_size": batch_size, "learning_rate": learning_rate}
        defaults |= {"weight_decay": weight_decay, "schedule": schedule, "loss": loss, "gamma": gamma}
        usual = {"epochs": 10, "batch_size": 512, "learning_rate": 3e-3}
        chosen = usual | {name: value for name, value in defaults.items() if value is not None}
        return learn_network(
            graph,
            head=head or "wide",
            symmetric=both_ways,
            dim=DIM if dim is None else dim,
            widths=(128, 128) if widths is None else widths,
            concave_units=5 if concave_units is None else concave_units,
            sample=sample,
            landmarks=landmarks,
            config=TrainingConfig(**chosen, patience=patience, seed=seed),  # type: ignore[arg-type]
            device=device or "cpu",
            unit=unit,
            cache=cache,
            checkpoint=checkpoint,
            progress=progress,
            log=log,
        )
    optional("numba", needed_for="learning a map model (head='wide' trains a network without it)")
    from trimetric.graphs.learning.map_recipe import MapSettings, learn_map
    from trimetric.graphs.learning.map_training import PASSES
    from trimetric.graphs.learning.potential_training import RATE

    settings = MapSettings(
        guarantee=guarantee or "metric",
        precision=precision or "float32",
        count=_numbers_per_node(graph, dim, bytes_per_node, precision or "float32", both_ways),
        directed=not both_ways,
        trees=None if trees is None else checks.positive_int("trees", trees),
        passes=PASSES if epochs is None else checks.positive_int("epochs", epochs),
        rate=RATE if learning_rate is None else checks.finite_number("learning_rate", learning_rate, above=0),
        seed=seed,
    )
    checks.one_of("guarantee", settings.guarantee, ("metric", "lower", "upper"))
    if settings.guarantee == "lower" and settings.precision == "int8":
        raise ValueError(
            "precision: expected float32 or int16 for a lower bound, got int8: of 256 values, two that follow each "
            "other are farther apart than the arc between them"
        )
    if settings.guarantee == "upper":
        if settings.precision != "float32":
            raise ValueError(f"precision: expected float32 for an upper bound, got {settings.precision}")
        fixed = {"trees": trees, "epochs": epochs, "learning_rate": learning_rate, "checkpoint": checkpoint}
        _refuse(fixed, "for a guarantee other than upper, for which nothing is trained")
    return learn_map(
        graph,
        settings,
        queries=queries,
        sample=sample,
        landmarks=landmarks,
        unit=unit,
        cache=cache,
        checkpoint=checkpoint,
        progress=progress,
        log=log,
    )


def _refuse(options: dict[str, object], where: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise ValueError(f"{name}: expected only {where}, got {value!r}")


def _numbers_per_node(
    graph: Graph, dim: int | None, bytes_per_node: int | None, precision: Precision, both_ways: bool
) -> int:
    checks.one_of("precision", precision, tuple(BYTES))
    if both_ways and not graph.symmetric:
        raise ValueError(
            "symmetric: expected a graph whose arcs go both ways, such as graph.symmetrize(), got one that is directed"
        )
    if bytes_per_node is None:
        count = DIM if dim is None else checks.positive_int("dim", dim)
        if not both_ways and count % 2:
            raise ValueError(f"dim: expected an even number for a directed graph, got {count}")
        return count
    if dim is not None:
        raise ValueError(f"dim: expected only without bytes_per_node, which decides it, got {dim}")
    count = checks.positive_int("bytes_per_node", bytes_per_node) // BYTES[precision]
    count -= 0 if both_ways else count % 2
    if count < 1:
        raise ValueError(f"bytes_per_node: expected room for at least one number each way, got {bytes_per_node}")
    return count
