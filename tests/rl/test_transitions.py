"""Logged transitions: files, and the graph of the moves that were seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from one_way_world import ONE_WAY, arrays, walk

from trimetric.rl import (
    KnownMoves,
    Transitions,
    World,
    read_transitions,
)


def test_a_file_gives_back_what_was_written(tmp_path: Path, log: Transitions) -> None:
    file = log.write(tmp_path / "log.npz")
    again = read_transitions(file)
    for name in ("observations", "next_observations", "costs", "actions", "terminals"):
        assert np.array_equal(getattr(again, name), getattr(log, name))
    np.savez(tmp_path / "rewards.npz", **{**arrays(), "costs": np.zeros(0)} | {"rewards": -2 * np.ones(4)})
    with pytest.raises(ValueError, match=r"expected an array 'costs' or an array 'rewards' .*, got observations"):
        read_transitions(tmp_path / "rewards.npz")
    rewarded = {name: value for name, value in arrays().items() if name != "costs"} | {"rewards": -2 * np.ones(4)}
    np.savez(tmp_path / "rewards.npz", **rewarded)
    assert (read_transitions(tmp_path / "rewards.npz").costs == 2).all()


def test_a_file_of_other_transitions_is_kept_on_request(tmp_path: Path, log: Transitions) -> None:
    file = tmp_path / "log.npz"
    log.write(file, overwrite=False)
    before = file.stat().st_mtime_ns
    assert walk(asymmetric=True).write(file, overwrite=False) == file  # the same walk again
    assert file.stat().st_mtime_ns == before
    other = Transitions(**arrays())
    assert not other.holds_same_as(log)
    with pytest.raises(FileExistsError, match=r"log\.npz: exists already and holds something else than these 4 steps"):
        other.write(file, overwrite=False)
    assert read_transitions(file).holds_same_as(log)
    assert read_transitions(other.write(file)).holds_same_as(other)
    file.write_text("notes")
    with pytest.raises(FileExistsError, match="exists already"):
        log.write(file, overwrite=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"observations": None}, r"expected an array 'observations', got next_observations, costs"),
        ({"next_observations": None}, r"expected an array 'next_observations', got observations, costs"),
        ({"costs": None}, r"expected an array 'costs' or an array 'rewards'"),
        ({"costs": np.array([1, np.nan, 1, 1])}, r"costs: expected finite numbers, got 1 NaN .* first in row 1"),
        ({"observations": np.full((4, 2), np.inf)}, r"observations: expected finite numbers, got 8 NaN or infinite"),
        ({"costs": np.array([1.0, 2, 0, 1])}, r"costs: expected all above 0 .*, got 0 in row 2"),
        ({"costs": None, "rewards": np.array([-1.0, 1, -1, -1])}, r"costs: expected all above 0 .*, got -1 in row 1"),
        ({"costs": np.ones(3)}, r"observations: expected one row for each of the 3 costs, .* got shape \(4, 2\)"),
        ({"costs": np.ones((4, 1))}, r"costs: expected one for each step, shape \(n,\), got shape \(4, 1\)"),
        ({"costs": np.ones(0)}, r"costs: expected one for each step"),
        ({"observations": np.zeros(4)}, r"observations: expected one row for each .* got shape \(4,\)"),
        ({"next_observations": np.zeros((4, 3))}, r"next_observations: expected the shape of observations, \(4, 2\)"),
        ({"observations": np.array(["a"] * 4)}, r"observations: expected real numbers, got dtype <U1"),
        ({"actions": np.zeros((4, 2))}, r"actions: expected 4 whole numbers, one for each step, got shape \(4, 2\)"),
        ({"terminals": np.zeros(3, dtype=bool)}, r"terminals: expected 4 whole numbers, .* got shape \(3,\)"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    file = tmp_path / "bad.npz"
    kept = {name: value for name, value in {**arrays(), **change}.items() if value is not None}
    np.savez(file, **kept)
    with pytest.raises(ValueError, match=message) as caught:
        read_transitions(file)
    assert str(caught.value).startswith(f"{file}: ")


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such file"):
        read_transitions(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(ValueError, match=r"text\.npz: "):
        read_transitions(tmp_path / "text.npz")
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(ValueError, match=r"expected an \.npz archive of arrays of numbers, got a single array"):
        read_transitions(tmp_path / "one.npy")


def test_the_graph_of_a_long_walk_is_the_world(log: Transitions) -> None:
    world, moves = World(ONE_WAY, asymmetric=True), KnownMoves(log)
    assert moves.num_states == world.num_states
    numbers = torch.tensor([world.state_at(*cell) for cell in moves.states.int().tolist()])
    found = moves.distances_from(torch.arange(moves.num_states))
    torch.testing.assert_close(found, world.distances[numbers][:, numbers])
    assert len(moves.edges) == int((world.next_state >= 0).sum())
    assert ((moves.next_state >= 0).sum(dim=1).max()) == 4


def test_the_cheapest_of_equal_moves_counts_and_standing_still_is_none() -> None:
    log = Transitions(
        observations=np.array([[0.0], [0], [0], [-0.0], [1]]),
        next_observations=np.array([[1.0], [1], [0], [2], [2]]),
        costs=np.array([3.0, 2, 1, 5, 1]),
    )
    moves = KnownMoves(log)
    assert moves.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert moves.costs.tolist() == [2, 5, 1]
    assert moves.distances_from(torch.tensor([0])).tolist() == [[0, 2, 3]]
    still = np.zeros((2, 1))
    with pytest.raises(ValueError, match="expected some that lead from one state to another"):
        KnownMoves(Transitions(observations=still, next_observations=still, costs=np.ones(2)))
