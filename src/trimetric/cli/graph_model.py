"""What `trimetric fit --graph` does: from a map to a model of its distances."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

import trimetric
from trimetric._audit.measure import audit
from trimetric._support.memory import as_gib, available_memory
from trimetric._support.progress import Shown
from trimetric.cli.train import AUDITED_OBJECTS, config_of, in_unit, network_of, saved, trained
from trimetric.distances.siamese import Siamese
from trimetric.files.errors import InputError
from trimetric.graphs import Graph, Landmarks, PairSample, ShortestPaths, choose_landmarks, read_graph, sample_pairs
from trimetric.graphs.files.cache import default_folder
from trimetric.graphs.files.edge_lists import read_edge_list
from trimetric.graphs.learning.comparison import compare, format_comparison
from trimetric.graphs.learning.verdict import ExactTable, Verdict
from trimetric.graphs.paths.all_distances import MOST_NODES
from trimetric.graphs.paths.engines import is_road_like
from trimetric.models.encoders import MLP
from trimetric.models.model import Model
from trimetric.training.processes import started_together

if TYPE_CHECKING:
    from trimetric.cli.fit import Fit

PAIRS = 150_000
ROAD_PAIRS = 1_000_000  # a contraction hierarchy answers that many in half a minute
HELD_OUT = 10_000
FOR_FULL_TESTS = 4 * HELD_OUT  # smaller samples hold out shares, or too few pairs would be left to learn from
SHARE = 10
FEWEST_NODES = 4  # 12 pairs, of which one is for testing and one for validation
ENCODED_AT_ONCE = 1 << 14
BYTES_PER_PAIR = 64


def fit_graph(options: Fit, file: Path, output: Path) -> int:
    processes = started_together()
    if not processes.first:
        options = replace(options, general=replace(options.general, quiet=True, as_json=False))
    general, start = options.general, time.perf_counter()
    device, config = general.torch_device(), config_of(options)
    graph = _graph(options, file)
    general.say(f"{file.name}: {graph}")
    if options.kind == "network table" and graph.num_nodes <= MOST_NODES:
        general.say(f"a graph of this size can also be learned from all pairs: trimetric fit {file.name} --edges")
    paths = ShortestPaths(graph, cache=options.cache or default_folder(), progress=_progress(options))
    sample = _sample(options, graph, file, paths)
    general.say(
        f"{len(sample.ends):,} pairs, mean distance {sample.lengths.mean():.4g}; at mean 50: "
        f"deviation {sample.sigma:.1f}, largest {sample.largest:.1f}"
    )
    landmarks = _landmarks(options, graph)
    features, columns = _features(graph, landmarks)
    general.say(f"{len(landmarks.nodes)} landmarks, {features.shape[1]} features a node")

    torch.manual_seed(general.seed)
    network = network_of(options, graph.num_nodes, features.shape[1]).to(device)
    objects = torch.from_numpy(features).to(device)
    _standardise(network, objects)
    history = trained(
        options,
        output,
        network,
        _pairs(sample, sample.training_rows(), device),
        _pairs(sample, sample.validation_rows, device),
        objects,
        config,
    )
    fit_seconds = time.perf_counter() - start
    points = _points(network, objects)
    candidates = compare(network.distance, points, landmarks, sample)
    verdict = Verdict.of(candidates, ExactTable.measure(paths), fit_seconds)
    chosen = torch.randperm(len(points), generator=torch.Generator().manual_seed(general.seed))[:AUDITED_OBJECTS]
    report = audit(network.distance, points[chosen.to(device)], seed=general.seed)
    rows = {
        row.name: {**asdict(row.accuracy), "us": row.microseconds, "bytes": row.bytes_per_node} for row in candidates
    }
    notes = {
        "made_by": f"trimetric {trimetric.__version__}",
        "settings": options.settings(),
        "unit": options.unit_of_distances,
        "graph": {"nodes": graph.num_nodes, "edges": graph.num_edges, "directed": graph.directed},
        "training_pairs": len(sample.lengths) - sample.test - sample.validation,
        "features": columns,
        "epochs": len(history.epochs),
        "test": rows,
    }
    if processes.first:
        # The points are what a query needs; the encoder has done its work.
        places = None if graph.coordinates is None else torch.from_numpy(graph.coordinates)
        saved(Model(network.distance.eval(), graph.ids(), points.cpu(), notes, places), output)
    general.say(f"on {sample.test:,} pairs held out{in_unit(options)}:\n{format_comparison(candidates)}")
    general.say(str(verdict))
    found_in = f"in {report.triples:,} triples of nodes"
    general.say(f"triangle_defect {report.triangle_defect:.3g} {found_in}: {report.verdict}")
    general.say(f"saved in {output}")
    told = {**asdict(verdict), "beats_bounds": verdict.beats_bounds, "exact_is_cheaper": verdict.exact_is_cheaper}
    general.answer(model=str(output), **notes, audit=report.to_dict(), verdict=told)
    return 1 if report.broken else 0


def _graph(options: Fit, file: Path) -> Graph:
    if options.kind == "network table":
        return read_edge_list(
            file,
            source=options.from_column,
            target=options.to_column,
            weight=options.distance_column or "weight",
            symmetrize=options.symmetric,
            largest=options.largest,
            hint="; --from-column, --to-column and --distance-column give other names",
        )
    return read_graph(file, weight=options.weight, symmetrize=options.symmetric, largest=options.largest)


def _progress(options: Fit) -> Shown:
    return "silent" if options.general.quiet or options.general.as_json else "auto"


def _sample(options: Fit, graph: Graph, file: Path, paths: ShortestPaths) -> PairSample:
    if graph.num_nodes < FEWEST_NODES:
        raise InputError(f"{file}: expected at least {FEWEST_NODES} nodes to sample pairs from, got {graph.num_nodes}")
    road = is_road_like(graph)
    possible = graph.num_pairs
    count = options.sample if options.sample is not None else min(ROAD_PAIRS if road else PAIRS, possible)
    if not 3 <= count <= possible:
        raise InputError(
            f"--sample: expected at least 3 pairs, one each for training, validation and testing, and at most the "
            f"{possible:,} of the graph, got {count:,}"
        )
    _check_memory("--sample", f"{count:,} pairs", BYTES_PER_PAIR * count)
    held = HELD_OUT if count >= FOR_FULL_TESTS else max(1, count // SHARE)
    return sample_pairs(graph, count, test=held, validation=held, seed=options.general.seed, paths=paths)


def _check_memory(option: str, asked: str, needed: int) -> None:
    there = available_memory()
    if needed > there:
        raise InputError(
            f"{option}: expected what fits in the {as_gib(there)} of memory that are free, got {asked}, which need "
            f"{as_gib(needed)}"
        )


def _landmarks(options: Fit, graph: Graph) -> Landmarks:
    """As many as cost a node the memory of its point, so that bounds and model can be compared, unless told."""
    same_memory = max(1, options.dim // (2 if graph.directed else 1))
    if options.landmarks is not None and options.landmarks > graph.num_nodes:
        raise InputError(f"--landmarks: expected at most the {graph.num_nodes:,} nodes, got {options.landmarks:,}")
    count = options.landmarks or min(same_memory, graph.num_nodes)
    # Their table, and the features that are made of it.
    numbers = 2 * count * graph.num_nodes * (2 if graph.directed else 1)
    _check_memory("--landmarks" if options.landmarks else "--dim", f"{count:,} landmarks", 4 * numbers)
    return choose_landmarks(
        graph,
        count,
        seed=options.general.seed,
        dtype=np.float32,
        progress=_progress(options),
    )


def _features(graph: Graph, landmarks: Landmarks) -> tuple[np.ndarray, list[str]]:
    """Distances to and from landmarks, and coordinates where there are some."""
    names = landmarks.nodes.tolist()
    columns = [f"to {name}" for name in names if landmarks.directed] + [f"from {name}" for name in names]
    parts = [landmarks.table().astype(np.float32, copy=False)]
    if graph.coordinates is not None:
        parts.append(graph.coordinates.astype(np.float32))
        columns += ["x", "y"]
    return np.concatenate(parts, axis=1), columns


def _standardise(network: Siamese, objects: Tensor) -> None:
    if isinstance(network.encoder, MLP):
        network.encoder.standardize.measure(objects)


def _pairs(sample: PairSample, rows: slice, device: torch.device) -> tuple[Tensor, Tensor]:
    ends = torch.from_numpy(sample.ends[rows]).to(device)
    return ends, torch.tensor(sample.lengths[rows], dtype=torch.float32, device=device)


@torch.no_grad()
def _points(network: Siamese, objects: Tensor) -> Tensor:
    network.eval()
    return torch.cat([network.encoder(part) for part in objects.split(ENCODED_AT_ONCE)])
