"""Potentials that are learned, and made admissible by a shortest-path tree each."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from trimetric._support import checks
from trimetric._support.progress import Shown, WorkProgress
from trimetric.distances import LandmarkBound
from trimetric.graphs.graph import Graph
from trimetric.graphs.heuristics.potentials import PotentialHeuristic
from trimetric.graphs.paths.engines import landmark_potentials
from trimetric.graphs.paths.landmarks import Landmarks
from trimetric.graphs.paths.pair_sampling import PairSample
from trimetric.models.encoders import MLP

PAIRS_TO_CHOOSE_BY = 10_000
PAIRS_PER_STEP, ARCS_PER_STEP = 512, 2048
STEEP_WEIGHT = 30.0  # of arcs that are too short for a potential, against bounds that are too low
CORRECTION = 0.1  # of the mean distance: the size of the network's first corrections
ENCODED_AT_ONCE = 1 << 14


def select_potentials(landmarks: Landmarks, sample: PairSample, count: int) -> NDArray[np.float64]:
    """The `count` potentials of the landmarks, of distances to or from them, that bound the sample's pairs best.

    One after the other, each the one that raises the mean of bound / distance most.  Bounds of landmarks are
    admissible, so these are.
    """
    table = landmark_potentials(landmarks)
    if checks.positive_int("count", count) > table.shape[1]:
        raise ValueError(f"count: expected at most the {table.shape[1]} potentials of the landmarks, got {count}")
    rows = slice(sample.test, sample.test + PAIRS_TO_CHOOSE_BY)
    x, y = sample.ends[rows].T
    difference = table[y] - table[x]
    bounds = (np.maximum(difference, 0) if landmarks.directed else np.abs(difference)) / sample.lengths[rows, None]
    best, columns = np.zeros(len(x)), []
    for _ in range(count):
        means = np.maximum(best[:, None], bounds).mean(axis=0)
        means[columns] = -1
        columns.append(int(means.argmax()))
        best = np.maximum(best, bounds[:, columns[-1]])
    return table[:, columns]


def learn_heuristic(
    graph: Graph,
    landmarks: Landmarks,
    sample: PairSample,
    *,
    count: int,
    steps: int = 1500,
    learning_rate: float = 1e-3,
    seed: int = 0,
    progress: Shown = "silent",
) -> PotentialHeuristic:
    """A heuristic of `count` numbers a node that knows more than `count` numbers of landmarks.

    It begins with `select_potentials`.  A network of the distances to and from *all* landmarks then learns to correct
    them, so that bounds come nearer to the distances while no arc is too short.  What it gets wrong
    `PotentialHeuristic.closed` puts right: the result is admissible and consistent whatever was learned.

    Args:
        graph: strongly connected.
        landmarks: more of them than `count`; they are not needed afterwards.
        sample: pairs with distances.
        count: potentials.
        steps: of training; 0 for the selection alone.
        learning_rate: of Adam, decaying along a cosine.
        seed: of the network and the order of pairs and arcs.
        progress: "silent" shows nothing.
    """
    base = select_potentials(landmarks, sample, count)
    if steps == 0:
        return PotentialHeuristic.closed(base, graph)
    random = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _correction(landmarks, count)
    features = torch.from_numpy(landmarks.table().astype(np.float32, copy=False))
    network.standardize.measure(features)
    mean = float(sample.lengths.mean())
    start = torch.tensor(base / mean, dtype=torch.float32)
    rows = sample.training_rows()
    ends, lengths = torch.from_numpy(sample.ends[rows]), torch.tensor(sample.lengths[rows] / mean, dtype=torch.float32)
    arcs = torch.from_numpy(np.stack([graph.tails, graph.indices], axis=1).astype(np.int64))
    weights = torch.tensor(graph.weights / mean, dtype=torch.float32)

    def potentials(nodes: Tensor) -> Tensor:
        return start[nodes] + CORRECTION * network(features[nodes])

    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    with WorkProgress("potentials", steps, progress) as shown:
        for _ in range(steps):
            pair = torch.randint(len(ends), (PAIRS_PER_STEP,), generator=random)
            arc = torch.randint(len(arcs), (ARCS_PER_STEP,), generator=random)
            nodes = torch.cat([ends[pair].T.reshape(-1), arcs[arc].T.reshape(-1)])
            x, y, tail, head = potentials(nodes).split([PAIRS_PER_STEP] * 2 + [ARCS_PER_STEP] * 2)
            difference = _bound(y - x, graph.directed).amax(dim=1)
            off = difference / lengths[pair] - 1
            too_low = torch.where(off > 0, 100 * off.square(), -10 * off).mean()
            too_steep = (_bound(head - tail, graph.directed) - weights[arc, None]).relu() / weights.mean()
            optimizer.zero_grad()
            (too_low + STEEP_WEIGHT * too_steep.square().sum(dim=1).mean()).backward()
            optimizer.step()
            schedule.step()
            shown.advance(1)
    with torch.no_grad():
        learned = [potentials(part) for part in torch.arange(graph.num_nodes).split(ENCODED_AT_ONCE)]
    return PotentialHeuristic.closed(torch.cat(learned).double().numpy() * mean, graph)


def mixture_heuristic(bound: LandmarkBound, landmarks: Landmarks) -> PotentialHeuristic:
    """The potentials of a trained `LandmarkBound`, which are mixtures of the landmarks' and admissible for any weights.

    The bound reads `landmarks.table()`, in the units of the graph.
    """
    with torch.no_grad():
        table = torch.from_numpy(landmarks.table().astype(np.float64))
        potentials = deepcopy(bound).double().potentials(table).numpy()
    return PotentialHeuristic(np.ascontiguousarray(potentials), bound.directed)


def _correction(landmarks: Landmarks, count: int) -> MLP:
    network = MLP(landmarks.numbers_per_node, count)
    last = network.layers[-1]
    if isinstance(last, nn.Linear):  # it begins with no correction at all
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
    return network


def _bound(difference: Tensor, directed: bool) -> Tensor:
    return difference.relu() if directed else difference.abs()
