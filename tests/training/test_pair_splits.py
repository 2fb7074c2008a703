"""No information of a held-out pair reaches training: by its reverse, by a repetition, or through equal objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproduction.experiments.leaderboard.problems import PROBLEMS, distances, examples
from trimetric._support import pair_splits
from trimetric._support.pair_splits import contradiction, hold_out
from trimetric.cli import main
from trimetric.graphs import Graph, ShortestPaths, random_pairs, sample_pairs
from trimetric.training.config import History

pytestmark = pytest.mark.usefixtures("empty_folder")

Pair = frozenset[Any]
OBJECTS = 6


def pair_lists(smallest: int = 1) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Pairs of a few objects, so that reverses and repetitions are frequent."""
    number = st.integers(0, OBJECTS - 1)
    return st.lists(st.tuples(number, number).filter(lambda pair: pair[0] != pair[1]), min_size=smallest, max_size=40)


equalities = st.lists(st.integers(0, 2), min_size=OBJECTS, max_size=OBJECTS)
"""a kind for each object; objects of one kind are equal"""


def disjoint(train: Iterator[Pair] | list[Pair], held: Iterator[Pair] | list[Pair]) -> bool:
    return not set(train) & set(held)


class SeenError(Exception):
    """Ends what is tested before it trains."""


@contextmanager
def seen_by(module: Any, *, end: type[BaseException] = SeenError) -> Iterator[dict[str, Any]]:
    """What a module hands to `fit`, which ends before it starts."""
    seen: dict[str, Any] = {}

    def fit(_: object, pairs: Any, targets: Any, **named: Any) -> History:
        seen.update(named, pairs=pairs, targets=targets)
        raise end

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "fit", fit)
        yield seen


def as_values(seen: dict[str, Any]) -> tuple[list[Pair], list[Pair]]:
    """The unordered pairs to train on and those held out, each object as what a network sees of it."""
    objects = seen["objects"]

    def pairs(ends: Any) -> list[Pair]:
        numbers = ends.tolist()
        if objects is None:
            return [frozenset(pair) for pair in numbers]
        rows = [tuple(row) for row in objects.tolist()]
        return [frozenset((rows[i], rows[j])) for i, j in numbers]

    return pairs(seen["pairs"]), [] if seen["validation"] is None else pairs(seen["validation"][0])


# The one function that splits


@settings(deadline=None)
@given(pairs=pair_lists(), kinds=equalities, fraction=st.floats(0, 0.99), seed=st.integers(0, 99), cover=st.booleans())
def test_nothing_of_a_held_out_pair_is_trained_on(
    pairs: list[tuple[int, int]], kinds: list[int], fraction: float, seed: int, cover: bool
) -> None:
    same_as = np.array([kinds.index(kind) for kind in kinds])
    split = hold_out(np.array(pairs), fraction, seed=seed, same_as=same_as, cover=cover)
    assert sorted([*split.train, *split.held_out]) == list(range(len(pairs)))
    assert len(split.train)
    as_one = [frozenset(same_as[list(pair)].tolist()) for pair in pairs]
    held = {as_one[row] for row in split.held_out}
    assert disjoint([as_one[row] for row in split.train], list(held))
    assert split.unordered == len(held)
    if cover:
        assert {end for row in split.train for end in as_one[row]} == {end for pair in as_one for end in pair}
    elif fraction and len(set(as_one)) > 1:
        assert abs(split.unordered - max(1, fraction * len(set(as_one)))) <= 1


def test_the_seed_decides_and_a_fraction_is_checked() -> None:
    ends = np.array([(i, j) for i in range(20) for j in range(20) if i != j])
    first, again, other = (hold_out(ends, 0.2, seed=seed).held_out.tolist() for seed in (0, 0, 1))
    assert first == again != other
    assert len(first) == 2 * 38
    with pytest.raises(ValueError, match="fraction: expected a part from 0 to below 1, got 1"):
        hold_out(ends, 1, seed=0)


def test_contradictions_are_more_than_rounding() -> None:
    ends = np.array([[0, 1], [1, 0], [2, 0], [0, 2], [1, 2]])
    assert contradiction(ends, np.array([2.5, 2.5 + 1e-7, np.inf, np.inf, 7])) is None
    assert contradiction(ends, np.array([2.5, 2.6, np.inf, 3, 7])) == (1, 0)
    assert contradiction(ends, np.array([2.5, 2.5, np.inf, 3, 7])) == (3, 2)
    assert contradiction(ends[:0], np.empty(0)) is None


# All that split pairs by it


@settings(max_examples=30, deadline=None)
@given(pairs=pair_lists(3), kinds=equalities, symmetric=st.booleans(), seed=st.integers(0, 9))
def test_estimators_hold_out_unordered_pairs(
    pairs: list[tuple[int, int]], kinds: list[int], symmetric: bool, seed: int
) -> None:
    pytest.importorskip("sklearn")
    from trimetric.integrations.sklearn import pair_estimator
    from trimetric.integrations.sklearn.estimators import DistanceRegressor

    exact = np.array(kinds, float)[np.array(pairs)][:, :, None]
    targets = np.abs(exact[:, 0] - exact[:, 1])[:, 0]
    # Equal objects may differ by less than the network, which computes in float32, can tell.
    features = exact + (1e-12 * np.array(pairs)[:, :, None] if exact.std() else 0.0)
    model = DistanceRegressor(patience=2, validation_fraction=0.3, symmetric=symmetric, random_state=seed)
    with seen_by(pair_estimator) as seen:
        if len({frozenset(pair.tolist()) for pair in exact[:, :, 0]}) < 2:
            with pytest.raises(ValueError, match="X: expected at least 2 pairs of different objects"):
                model.fit(features, targets)
            return
        with pytest.raises(SeenError):
            model.fit(features, targets)
    train, held = as_values(seen)
    assert len(train) + len(held) == len(pairs)
    assert held
    assert disjoint(train, held)


@settings(max_examples=8, deadline=None)
@given(
    pairs=pair_lists(3).map(lambda pairs: list(dict.fromkeys(pairs))),
    kinds=st.none() | equalities,
    symmetric=st.booleans(),
)
def test_the_command_holds_out_unordered_pairs(
    pairs: list[tuple[int, int]], kinds: list[int] | None, symmetric: bool
) -> None:
    from trimetric.training import learning as module

    rows = "".join(f"{i},{j},{1 + abs(i - j)}\n" for i, j in pairs)
    Path("p.csv").write_text("from,to,distance\n" + rows)
    words = ["fit", "p.csv", "-o", "m.safetensors", "--validation", "0.4", "--quiet", *["--symmetric"] * symmetric]
    if kinds is not None:
        Path("o.csv").write_text("id,x\n" + "".join(f"{i},{kind}\n" for i, kind in enumerate(kinds)))
        words += ["--features", "o.csv"]
    with seen_by(module, end=KeyboardInterrupt) as seen:
        assert main(words) == 130
    train, held = as_values(seen)
    assert len(train) + len(held) == len(pairs)
    assert disjoint(train, held)
    assert {end for pair in held for end in pair} <= {end for pair in train for end in pair}


@settings(max_examples=30, deadline=None)
@given(
    nodes=st.integers(4, 9),
    weights=st.lists(st.integers(1, 9), min_size=36, max_size=36),
    directed=st.booleans(),
    share=st.floats(0.3, 1),
    seed=st.integers(0, 99),
)
def test_samples_of_symmetric_graphs_have_no_pair_in_both_directions(
    nodes: int, weights: list[int], directed: bool, share: float, seed: int
) -> None:
    tails, heads = np.triu_indices(nodes, 1)
    lengths = np.array(weights[: len(tails)], float)
    if directed:  # in name only
        tails, heads, lengths = np.r_[tails, heads], np.r_[heads, tails], np.r_[lengths, lengths]
    graph = Graph.from_arcs(nodes, tails, heads, lengths, directed=directed)
    assert graph.symmetric
    assert graph.num_pairs == nodes * (nodes - 1) // 2
    paths = ShortestPaths(graph, engine="scipy", jobs=1, progress="silent")
    count = max(3, int(share * graph.num_pairs))
    sample = sample_pairs(graph, count, test=1, validation=1, seed=seed, paths=paths)
    assert len({frozenset(pair) for pair in sample.ends.tolist()}) == len(sample.ends) == count
    with pytest.raises(ValueError, match=f"expected at most the {graph.num_pairs} unordered pairs of {nodes} nodes"):
        sample_pairs(graph, graph.num_pairs + 1, test=1, validation=1, paths=paths)


def test_one_weight_makes_a_graph_asymmetric() -> None:
    graph = Graph.from_arcs(3, [0, 1, 2, 0, 1, 2], [1, 2, 0, 2, 0, 1], [1, 1, 1, 1, 1, 2], directed=True)
    assert not graph.symmetric
    assert graph.num_pairs == 6


def test_unordered_samples_are_the_ordered_ones_without_repetitions() -> None:
    ordered, unordered = (random_pairs(2000, 5000, seed=0, unordered=both) for both in (False, True))
    first = list({frozenset(pair): tuple(pair) for pair in reversed(ordered.tolist())}.values())[::-1]
    kept = [tuple(pair) for pair in unordered.tolist()]
    assert set(kept[: len(first)]) <= set(map(tuple, ordered.tolist()))
    assert kept[:1000] == list(map(tuple, ordered[:1000].tolist())), "no repetition among the first ones"


@pytest.mark.parametrize("name", [name for name, problem in PROBLEMS.items() if problem.matrix and not problem.repairs])
def test_problems_that_split_ordered_pairs_are_asymmetric(name: str) -> None:
    matrix, data = distances(name, 0), examples(name, 8, 0)
    assert (matrix != matrix.mT).double().mean() > 0.5
    parts = [set(map(tuple, pairs.tolist())) for pairs, _ in (data.train, data.validation, data.test)]  # type: ignore[union-attr]
    assert len(set.union(*parts)) == sum(map(len, parts))


# What a user sees


def nothing_to_learn(objects: int = 16) -> np.ndarray:
    """Symmetric, within a factor of two (so a metric), and each pair says nothing of another one."""
    upper = np.triu(np.random.default_rng(0).uniform(1, 2, size=(objects, objects)), 1)
    return upper + upper.T


def reported(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, float]:
    capsys.readouterr()
    learned = [
        "--epochs",
        "40",
        "--dim",
        "16",
        "--batch-size",
        "32",
        "--validation",
        "0.3",
        "-o",
        "m.safetensors",
        "--json",
    ]
    assert main(["fit", *words, *learned]) == 0
    return json.loads(capsys.readouterr().out)["errors"]


def test_no_skill_is_reported_where_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("D.npy", nothing_to_learn())
    found = reported(capsys, "D.npy", "--symmetric")
    assert found["mse"] > 0.8 * found["mse_of_mean"]


def test_symmetric_estimators_refuse_contradictory_directions() -> None:
    pytest.importorskip("sklearn")
    from trimetric.integrations.sklearn.estimators import DistanceRegressor

    pairs, y = np.array([[[0.0], [1.0]], [[0.0], [2.0]], [[1.0], [0.0]]]), np.array([2.5, 1.0, 3.0])
    message = "got 3 for pair 2 and 2.5 for its reverse, pair 0"
    with pytest.raises(ValueError, match=f"y: expected the same distance in both .* symmetric=True, {message}"):
        DistanceRegressor(symmetric=True).fit(pairs, y)
    DistanceRegressor(epochs=1).fit(pairs, y)


def test_one_place_splits_pairs() -> None:
    root = Path(pair_splits.__file__).parent
    found = {file.relative_to(root).as_posix() for file in root.rglob("*.py") if "def hold_out(" in file.read_text()}
    assert found == {"pair_splits.py"}
