"""What `trimetric fit --graph` does: from a map to a model of its distances."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

import trimetric
from trimetric.audit import audit
from trimetric.cli.train import AUDITED_OBJECTS, config_of, network_of, saved, trained
from trimetric.encoders import MLP
from trimetric.graphs import Graph, Landmarks, PairSample, ShortestPaths, choose_landmarks, read_graph, sample_pairs
from trimetric.graphs.cache import default_folder
from trimetric.graphs.comparison import compare, comparison_text
from trimetric.graphs.edge_lists import read_edge_list
from trimetric.graphs.engines import is_road_like
from trimetric.graphs.files import TABLES
from trimetric.memory import as_gib, available_memory
from trimetric.model import Model
from trimetric.processes import started_together
from trimetric.siamese import Siamese
from trimetric.tables.errors import InputError

if TYPE_CHECKING:
    from trimetric.cli.fit import Fit

PAIRS = 150_000
ROAD_PAIRS = 1_000_000  # a contraction hierarchy answers that many in half a minute
HELD_OUT = 10_000
ENCODED_AT_ONCE = 1 << 14
BYTES_PER_PAIR = 64


def fit_graph(options: Fit, file: Path, output: Path) -> int:
    processes = started_together()
    if not processes.first:
        options = replace(options, general=replace(options.general, quiet=True, as_json=False))
    general = options.general
    graph = _graph(options, file)
    general.say(f"{file.name}: {graph}")
    sample = _sample(options, graph)
    general.say(
        f"{len(sample.ends):,} pairs, mean distance {sample.lengths.mean():.4g}; at mean 50: "
        f"deviation {sample.sigma:.1f}, largest {sample.largest:.1f}"
    )
    landmarks = _landmarks(options, graph)
    features, columns = _features(graph, landmarks)
    general.say(f"{len(landmarks.nodes)} landmarks, {features.shape[1]} features a node")

    device = general.torch_device()
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
        config_of(options),
    )
    points = _points(network, objects)
    candidates = compare(network.distance, points, landmarks, sample)
    chosen = torch.randperm(len(points), generator=torch.Generator().manual_seed(general.seed))[:AUDITED_OBJECTS]
    report = audit(network.distance, points[chosen.to(device)], seed=general.seed)
    rows = {row.name: {**asdict(row.accuracy), "us": row.microseconds, "bytes": row.bytes_a_node} for row in candidates}
    notes = {
        "made_by": f"trimetric {trimetric.__version__}",
        "settings": options.settings(),
        "graph": {"nodes": graph.num_nodes, "edges": graph.num_edges, "directed": graph.directed},
        "training_pairs": len(sample.lengths) - 2 * HELD_OUT,
        "features": columns,
        "epochs": len(history.epochs),
        "test": rows,
    }
    if processes.first:
        # The points are what a query needs; the encoder has done its work.
        places = None if graph.coordinates is None else torch.from_numpy(graph.coordinates)
        saved(Model(network.distance.eval(), graph.ids(), points.cpu(), notes, places), output)
    general.say(f"on {HELD_OUT:,} pairs held out:\n{comparison_text(candidates)}")
    found_in = f"in {report.triples:,} triples of nodes"
    general.say(f"triangle_defect {report.triangle_defect:.3g} {found_in}: {report.verdict}")
    general.say(f"saved in {output}")
    general.answer(model=str(output), **notes, audit=report.to_dict())
    return 1 if report.broken else 0


def _graph(options: Fit, file: Path) -> Graph:
    try:
        if file.name.lower().endswith(TABLES):
            return read_edge_list(
                file,
                source=options.from_column,
                target=options.to_column,
                weight=options.distance_column or "weight",
                two_way=options.symmetric,
                largest=options.largest,
            )
        return read_graph(file, weight=options.weight, symmetrise=options.symmetric, largest=options.largest)
    except InputError as error:
        raise InputError(str(error).replace("largest=True takes", "--largest takes")) from None


def _sample(options: Fit, graph: Graph) -> PairSample:
    road = is_road_like(graph)
    possible = graph.num_pairs
    count = options.sample if options.sample is not None else min(ROAD_PAIRS if road else PAIRS, possible)
    if not 2 * HELD_OUT < count <= possible:
        raise InputError(
            f"--sample: expected more than the {2 * HELD_OUT:,} pairs that are held out, and at most the {possible:,} "
            f"pairs of the graph, got {count:,}"
        )
    _check_memory("--sample", f"{count:,} pairs", BYTES_PER_PAIR * count)
    paths = ShortestPaths(
        graph,
        cache=options.cache or default_folder(),
        progress="silent" if options.general.quiet or options.general.as_json else "auto",
    )
    return sample_pairs(graph, count, test=HELD_OUT, validation=HELD_OUT, seed=options.general.seed, paths=paths)


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
    count = min(options.landmarks or same_memory, graph.num_nodes)
    # Their table, and the features that are made of it.
    numbers = 2 * count * graph.num_nodes * (2 if graph.directed else 1)
    _check_memory("--landmarks" if options.landmarks else "--dim", f"{count:,} landmarks", 4 * numbers)
    return choose_landmarks(
        graph,
        count,
        seed=options.general.seed,
        dtype=np.float32,
        progress="silent" if options.general.quiet or options.general.as_json else "auto",
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
