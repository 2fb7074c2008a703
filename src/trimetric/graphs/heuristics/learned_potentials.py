"""Learned potentials, made admissible by one shortest-path tree each."""

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
STEEP_WEIGHT = 30.0  # of the loss of arcs that are too steep, relative to that of bounds that are too low
CORRECTION = 0.1  # scale of the network's corrections, relative to the mean distance
ENCODED_AT_ONCE = 1 << 14


def select_potentials(landmarks: Landmarks, sample: PairSample, count: int) -> NDArray[np.float64]:
    """Select the potentials of landmarks (distances to or from them) that bound the sample's pairs best.

    They are chosen greedily: each step adds the potential that raises the mean of bound / distance most.  Bounds of
    landmarks are admissible, so the selected potentials are admissible too.

    Args:
        landmarks: their distances.
        sample: pairs with distances; its test pairs are not used.
        count: number of potentials to select.

    Returns:
        `(n, count)` potentials.

    Examples:
        >>> from trimetric.graphs import landmarks_at
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> sample = PairSample(ends=np.array([[0, 1], [0, 2]]), lengths=np.array([1.0, 3.0]), test=0, validation=0)
        >>> select_potentials(landmarks_at(graph, [0, 2]), sample, 1).ravel()  # distances from node 0
        array([0., 1., 3., 6.])
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
    """Learn a heuristic of `count` numbers per node that bounds distances better than `count` numbers of landmarks.

    It starts with `select_potentials`.  A network that reads the distances to and from *all* landmarks then learns to
    correct these potentials, so that the bounds approach the distances while no arc becomes too steep.
    `PotentialHeuristic.closed` repairs what remains: the result is admissible and consistent whatever was learned.

    Args:
        graph: a strongly connected graph.
        landmarks: more than `count` landmarks; they are not needed afterwards.
        sample: pairs with distances.
        count: number of potentials.
        steps: training steps; 0 for the selection alone.
        learning_rate: initial learning rate of Adam, which decays along a cosine.
        seed: for the network and the order of pairs and arcs.
        progress: "auto" shows a progress bar, "silent" shows nothing.

    Examples:
        >>> from trimetric.graphs import landmarks_at
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> sample = PairSample(ends=np.array([[0, 1], [0, 2]]), lengths=np.array([1.0, 3.0]), test=0, validation=0)
        >>> heuristic = learn_heuristic(graph, landmarks_at(graph, [0, 2]), sample, count=1, steps=2)
        >>> heuristic.certify(graph).holds
        True
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
    """Make a heuristic of a trained `LandmarkBound`.

    Its potentials are mixtures of the landmarks' potentials, so they are admissible for any weights.

    Args:
        bound: trained on rows of `landmarks.table()`, in the units of the graph.
        landmarks: their distances.

    Examples:
        >>> from trimetric.graphs import landmarks_at
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)
        >>> landmarks = landmarks_at(graph, [0, 2])
        >>> heuristic = mixture_heuristic(LandmarkBound(4, components=3, directed=True), landmarks)
        >>> heuristic.certify(graph).holds
        True
    """
    with torch.no_grad():
        table = torch.from_numpy(landmarks.table().astype(np.float64))
        potentials = deepcopy(bound).double().potentials(table).numpy()
    return PotentialHeuristic(np.ascontiguousarray(potentials), bound.directed)


def _correction(landmarks: Landmarks, count: int) -> MLP:
    network = MLP(landmarks.numbers_per_node, count)
    last = network.layers[-1]
    if isinstance(last, nn.Linear):  # so that training starts without any correction
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
    return network


def _bound(difference: Tensor, directed: bool) -> Tensor:
    return difference.relu() if directed else difference.abs()
