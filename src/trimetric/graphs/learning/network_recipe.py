"""A network for the distances of a graph: an encoder of landmark distances below a named head."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import trimetric
from trimetric._support.progress import Shown
from trimetric.graphs.graph import Graph
from trimetric.graphs.learning.comparison import compare, exact_engine, predicted
from trimetric.graphs.learning.graph_sample import draw_pairs, landmarks_of_size
from trimetric.graphs.learning.learned_graph import LearnedGraph
from trimetric.graphs.learning.verdict import ExactTable, Verdict
from trimetric.graphs.paths.engines import is_road_like
from trimetric.graphs.paths.landmarks import Landmarks
from trimetric.graphs.paths.pair_sampling import PairSample
from trimetric.graphs.paths.shortest_paths import ShortestPaths
from trimetric.models.encoders import MLP
from trimetric.models.heads import HeadName
from trimetric.models.model import Model
from trimetric.models.networks import make_network
from trimetric.training.config import TrainingConfig
from trimetric.training.fitting import fit
from trimetric.training.pair_errors import PairErrors
from trimetric.training.recipes import Log, announce, audit_some, say_nothing

PAIRS = 150_000
ROAD_PAIRS = 1_000_000  # a contraction hierarchy answers that many in half a minute


def learn_network(
    graph: Graph,
    *,
    head: HeadName,
    symmetric: bool,
    dim: int,
    widths: Sequence[int],
    concave_units: int,
    sample: int | None,
    landmarks: int | None,
    config: TrainingConfig,
    device: str | torch.device,
    unit: str | None,
    cache: Path | str | None,
    checkpoint: Path | str | None,
    progress: Shown,
    log: Log | None,
) -> LearnedGraph:
    """Train an encoder of landmark distances below a named head; see `learn_graph` for the arguments."""
    say, start, seed = log or say_nothing, time.perf_counter(), config.seed
    paths = ShortestPaths(graph, cache=cache, progress=progress)
    drawn = draw_pairs(graph, paths, sample, usual=ROAD_PAIRS if is_road_like(graph) else PAIRS, seed=seed)
    say(
        f"{len(drawn.ends):,} pairs, mean distance {drawn.lengths.mean():.4g}; at mean 50: "
        f"deviation {drawn.sigma:.1f}, largest {drawn.largest:.1f}"
    )
    chosen = landmarks_of_size(graph, landmarks, dim, seed, progress)
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
    fit_seconds = time.perf_counter() - start
    with torch.no_grad():
        points = network.eval().embed(objects)
    candidates = [*compare(network.distance, points, chosen, drawn), exact_engine(paths, drawn)]
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
        errors=PairErrors.measure(
            predicted(network.distance, points, drawn.ends[drawn.test_rows]),
            drawn.lengths[drawn.test_rows],
            mean=float(drawn.lengths.mean()),
        ),
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
