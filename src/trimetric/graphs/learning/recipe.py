"""From a graph to a model of its distances: sample, measure landmarks, train, compare."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import trimetric
from trimetric._audit import Audit
from trimetric._support import checks
from trimetric._support.memory import as_gib, available_memory
from trimetric._support.progress import Shown
from trimetric.graphs.graph import Graph
from trimetric.graphs.learning.comparison import Candidate, compare
from trimetric.graphs.learning.verdict import ExactTable, Verdict
from trimetric.graphs.paths.engines import is_road_like
from trimetric.graphs.paths.landmarks import Landmarks, choose_landmarks
from trimetric.graphs.paths.pair_sampling import PairSample, sample_pairs
from trimetric.graphs.paths.shortest_paths import ShortestPaths
from trimetric.models.encoders import MLP
from trimetric.models.heads import HeadName
from trimetric.models.model import Model
from trimetric.models.networks import make_network
from trimetric.training.config import History, TrainingConfig
from trimetric.training.fitting import fit
from trimetric.training.losses import LossName
from trimetric.training.recipes import Log, announce, audit_some, check_finite_weights, say_nothing
from trimetric.training.schedules import ScheduleName

PAIRS = 150_000
ROAD_PAIRS = 1_000_000  # a contraction hierarchy answers that many in half a minute
HELD_OUT = 10_000
FOR_FULL_TESTS = 4 * HELD_OUT  # smaller samples hold out shares, or too few pairs would be left to learn from
SHARE = 10
FEWEST_NODES = 4  # 12 pairs, of which one is for testing and one for validation
BYTES_PER_PAIR = 64


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnedGraph:
    """What `learn_graph` returns.

    Attributes:
        model: the distance with the points of all nodes, by their ids, and their coordinates if the graph has some;
            `model.notes` has the settings and the comparison.
        history: the epochs of the training.
        sample: the pairs of nodes; its test pairs were never trained on.
        landmarks: the nodes whose distances the encoder has read.
        candidates: the model beside the bounds of the landmarks, on the test pairs.
        verdict: whether the model is worth having.
        audit: whether the model keeps its promises, measured on up to 300 nodes.

    Examples:
        >>> from trimetric.graphs import torus3d
        >>> learned = learn_graph(torus3d(seed=0, side=3), dim=4, epochs=1, progress="silent")
        >>> len(learned.model.ids), learned.model.axioms.symmetric, len(learned.landmarks.nodes)
        (27, True, 4)
    """

    model: Model
    history: History
    sample: PairSample
    landmarks: Landmarks
    candidates: list[Candidate]
    verdict: Verdict
    audit: Audit


def learn_graph(
    graph: Graph,
    *,
    head: HeadName = "wide",
    symmetric: bool | None = None,
    dim: int = 64,
    widths: Sequence[int] = (128, 128),
    concave_units: int = 5,
    sample: int | None = None,
    landmarks: int | None = None,
    epochs: int = 10,
    batch_size: int = 512,
    learning_rate: float = 3e-3,
    weight_decay: float = 0.0,
    schedule: ScheduleName = "cosine",
    loss: LossName = "squared",
    gamma: float = 0.9,
    patience: int | None = None,
    seed: int = 0,
    device: str | torch.device = "cpu",
    unit: str | None = None,
    cache: Path | str | None = None,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
    log: Log | None = None,
) -> LearnedGraph:
    """Learn the distances of a graph of any size, and compare the model with what landmarks alone say.

    Pairs of nodes are sampled and their shortest paths computed; an encoder of the nodes' distances to landmarks (and
    of their coordinates) is trained with the head; the model keeps one point per node.

    Args:
        graph: strongly connected, with at least 4 nodes.
        head: the distance between points, see `trimetric.models.HEADS`.
        symmetric: whether d(x, y) = d(y, x); by default, if the graph is undirected.
        dim: dimensions of the points.
        widths: hidden layers of the encoder.
        concave_units: learned concave units per component of the head; 0 for none.
        sample: pairs of nodes to sample; by default 150,000, or 1,000,000 of a road network, at most all.  A tenth of
            them (10,000 of 40,000 or more) is held out for testing, and as many for validation.
        landmarks: nodes to measure distances from; by default as many as take the memory of a point per node.
        epochs: passes over the pairs.
        batch_size: pairs per step.
        learning_rate: of Adam, before the schedule.
        weight_decay: decoupled (AdamW); 0 is Adam.
        schedule: of the learning rate.
        loss: of the training, see `TrainingConfig`.
        gamma: of the discounted loss.
        patience: epochs without a better validation error before stopping; None never stops early.
        seed: of the sample, the landmarks, the weights and the order of the pairs.
        device: where to train.
        unit: of the distances, such as "metres"; kept in the notes of the model.
        cache: a folder in which shortest paths are kept for the next run; None keeps none.
        checkpoint: a file for the state of the training; if it exists, the training resumes from it.  Remove it once
            the model is saved.
        progress: "silent" shows no progress bars.
        log: called with a line of text before each stage.

    Returns:
        The model, its comparison with the landmarks, the verdict and the audit.

    Raises:
        ValueError: if an argument is unusable; the message names it.
        RuntimeError: if the training diverges.

    Examples:
        >>> from trimetric.graphs import torus3d_directed
        >>> learned = learn_graph(torus3d_directed(seed=0, side=3), dim=4, epochs=1, progress="silent")
        >>> [row.name for row in learned.candidates]
        ['model', 'landmarks from below', 'landmarks from above', 'affine fit of both']
        >>> learned.audit.holds
        True
    """
    say, start = log or say_nothing, time.perf_counter()
    config = TrainingConfig(
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        schedule=schedule,
        loss=loss,
        gamma=gamma,
        patience=patience,
        seed=seed,
    )
    symmetric = not graph.directed if symmetric is None else symmetric
    paths = ShortestPaths(graph, cache=cache, progress=progress)
    drawn = _draw_pairs(graph, paths, sample, seed)
    say(
        f"{len(drawn.ends):,} pairs, mean distance {drawn.lengths.mean():.4g}; at mean 50: "
        f"deviation {drawn.sigma:.1f}, largest {drawn.largest:.1f}"
    )
    chosen = _choose_landmarks(graph, landmarks, dim, seed, progress)
    features, columns = _node_features(graph, chosen)
    say(f"{len(chosen.nodes)} landmarks, {features.shape[1]} features per node")

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = make_network(
            head,
            features=features.shape[1],
            dim=dim,
            widths=widths,
            symmetric=symmetric,
            concave_units=concave_units,
        ).to(device)
        objects = torch.from_numpy(features).to(device)
        if isinstance(network.encoder, MLP):
            network.encoder.standardize.measure(objects)
        announce(say, network, head, checkpoint)
        history = fit(
            network,
            *_pairs(drawn, drawn.training_rows(), objects.device),
            objects=objects,
            validation=_pairs(drawn, drawn.validation_rows, objects.device),
            config=config,
            checkpoint=checkpoint,
            progress=progress,
        )
    check_finite_weights(network, checkpoint)
    fit_seconds = time.perf_counter() - start
    with torch.no_grad():
        points = network.eval().embed(objects)
    candidates = compare(network.distance, points, chosen, drawn)
    settings = {
        "head": head,
        "symmetric": symmetric,
        "dim": dim,
        "widths": list(widths),
        "concave_units": concave_units,
        "sample": len(drawn.ends),
        "landmarks": len(chosen.nodes),
        **asdict(config),
    }
    notes = {
        "made_by": f"trimetric {trimetric.__version__}",
        "settings": settings,
        "unit": unit,
        "graph": {"nodes": graph.num_nodes, "edges": graph.num_edges, "directed": graph.directed},
        "training_pairs": len(drawn.lengths) - drawn.test - drawn.validation,
        "features": columns,
        "epochs": len(history.epochs),
        "test": {
            row.name: {**asdict(row.accuracy), "us": row.microseconds, "bytes": row.bytes_per_node}
            for row in candidates
        },
    }
    places = None if graph.coordinates is None else torch.from_numpy(graph.coordinates)
    return LearnedGraph(
        # The points are what a query needs; the encoder has done its work.
        model=Model(network.distance.eval(), graph.ids(), points.cpu(), notes, places),
        history=history,
        sample=drawn,
        landmarks=chosen,
        candidates=candidates,
        verdict=Verdict.of(candidates, ExactTable.measure(paths), fit_seconds),
        audit=audit_some(network.distance, points, seed=seed),
    )


def _draw_pairs(graph: Graph, paths: ShortestPaths, sample: int | None, seed: int) -> PairSample:
    if graph.num_nodes < FEWEST_NODES:
        raise ValueError(f"graph: expected at least {FEWEST_NODES} nodes to sample pairs from, got {graph.num_nodes}")
    possible = graph.num_pairs
    usual = ROAD_PAIRS if is_road_like(graph) else PAIRS
    count = min(usual, possible) if sample is None else checks.positive_int("sample", sample)
    if not 3 <= count <= possible:
        raise ValueError(
            f"sample: expected at least 3 pairs, one each for training, validation and testing, and at most the "
            f"{possible:,} of the graph, got {count:,}"
        )
    _check_memory("sample", f"{count:,} pairs", BYTES_PER_PAIR * count)
    held = HELD_OUT if count >= FOR_FULL_TESTS else max(1, count // SHARE)
    return sample_pairs(graph, count, test=held, validation=held, seed=seed, paths=paths)


def _choose_landmarks(graph: Graph, wanted: int | None, dim: int, seed: int, progress: Shown) -> Landmarks:
    """By default as many as take the memory of a point per node, so that bounds and model can be compared."""
    same_memory = max(1, checks.positive_int("dim", dim) // (2 if graph.directed else 1))
    if wanted is not None and checks.positive_int("landmarks", wanted) > graph.num_nodes:
        raise ValueError(f"landmarks: expected at most the {graph.num_nodes:,} nodes, got {wanted:,}")
    count = wanted or min(same_memory, graph.num_nodes)
    # Their table, and the features that are made of it.
    numbers = 2 * count * graph.num_nodes * (2 if graph.directed else 1)
    _check_memory("landmarks" if wanted else "dim", f"{count:,} landmarks", 4 * numbers)
    return choose_landmarks(graph, count, seed=seed, dtype=np.float32, progress=progress)


def _check_memory(argument: str, asked: str, needed: int) -> None:
    available = available_memory()
    if needed > available:
        raise ValueError(
            f"{argument}: expected what fits in the {as_gib(available)} of available memory, got {asked}, which need "
            f"{as_gib(needed)}"
        )


def _node_features(graph: Graph, landmarks: Landmarks) -> tuple[np.ndarray, list[str]]:
    """Distances to and from landmarks, and coordinates if there are some; with the names of the columns."""
    names = landmarks.nodes.tolist()
    columns = [f"to {name}" for name in names if landmarks.directed] + [f"from {name}" for name in names]
    parts = [landmarks.table().astype(np.float32, copy=False)]
    if graph.coordinates is not None:
        parts.append(graph.coordinates.astype(np.float32))
        columns += ["x", "y"]
    return np.concatenate(parts, axis=1), columns


def _pairs(sample: PairSample, rows: slice, device: torch.device) -> tuple[Tensor, Tensor]:
    ends = torch.from_numpy(sample.ends[rows]).to(device)
    return ends, torch.tensor(sample.lengths[rows], dtype=torch.float32, device=device)
