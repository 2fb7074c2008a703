"""States that float32 cannot tell apart are refused, and steps that do not follow each other are not chained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from trimetric.rl import GreedyPolicy, KnownMoves, LoggedMoves, Trajectories, Transitions, goal_model
from trimetric.rl import read_transitions as read


def chain(places: np.ndarray, **options: np.ndarray) -> Transitions:
    costs = np.ones(len(places) - 1)
    return Transitions(observations=places[:-1], next_observations=places[1:], costs=costs, **options)


@pytest.mark.parametrize(
    "places",
    [
        np.array([[1.0], [1.0 + 1e-12], [2.0]]),
        np.array([[16_777_216], [16_777_217], [16_777_219]]),
        np.array([[1e-50], [2e-50], [2.0]]),
    ],
)
def test_states_that_float32_merges_are_refused(places: np.ndarray, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"observations: expected rows that float32 can tell apart, got .* in row 1"):
        chain(places)
    arrays = {"observations": places[:-1], "next_observations": places[1:], "costs": np.ones(2)}
    np.savez(tmp_path / "log.npz", **arrays)
    with pytest.raises(ValueError, match=r"log.npz: observations: expected rows that float32 can tell apart"):
        read(tmp_path / "log.npz")


def test_the_argument_with_the_merged_state_is_named() -> None:
    with pytest.raises(ValueError, match=r"^next_observations: expected rows that float32"):
        chain(np.array([[1.0], [2.0], [2.0 + 1e-12]]))


def test_states_that_stay_apart_are_taken() -> None:
    generator = np.random.default_rng(0)
    places = generator.random((50, 3))
    assert KnownMoves(chain(places)).num_states == 50
    assert KnownMoves(chain(np.array([[0.1], [0.2], [0.1], [-0.0], [0.0]]))).num_states == 3


def test_logged_moves_refuse_merged_states_and_know_minus_zero() -> None:
    def log(seen: np.ndarray) -> Trajectories:
        return Trajectories(observations=seen, ends=np.array([3]), actions=np.array([1, 0, 1, 0]))

    with pytest.raises(ValueError, match="trajectories: expected observations that float32 can tell apart"):
        LoggedMoves.from_log(log(np.array([[16_777_216], [16_777_217], [3], [4]])))
    moves = LoggedMoves.from_log(log(np.array([[-0.0], [1.0], [0.0], [2.0]], dtype=np.float32)))
    assert len(moves.states) == 3
    assert moves(torch.tensor([[-0.0], [0.0]]))[1].tolist() == [[False, True]] * 2


def test_a_state_without_a_known_action_has_none() -> None:
    log = Trajectories(observations=np.array([[0.0], [1.0], [2.0]]), ends=np.array([2]), actions=np.array([1, 0, 0]))
    policy = GreedyPolicy(model=goal_model(log, dim=4), leads_to=LoggedMoves.from_log(log))
    assert policy(torch.tensor([[0.0], [1.0]]), torch.tensor([[1.0], [2.0]])).tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"observations: expected states in which the log knows an action, .* row 1"):
        policy(torch.tensor([[0.0], [2.0]]), torch.tensor([[1.0], [1.0]]))


def test_actions_below_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="actions: expected numbers from 0, got -1 in row 1"):
        chain(np.arange(4.0)[:, None], actions=np.array([0, -1, 2]))


def test_a_shuffled_buffer_is_not_one_episode() -> None:
    line = np.arange(6.0, dtype=np.float32)[:, None]
    regular = {
        "observations": line[:-1],
        "next_observations": line[1:],
        "actions": np.zeros((5, 1), dtype=np.float32),
        "terminals": np.array([0, 0, 0, 0, 1]),
    }
    assert Trajectories.from_ogbench(regular).num_episodes == 1
    order = np.array([0, 2, 1, 3, 4])
    shuffled = regular | {name: regular[name][order] for name in ("observations", "next_observations")}
    with pytest.raises(ValueError, match=r"data\['next_observations'\]: expected .* the next row .* in row 0"):
        Trajectories.from_ogbench(shuffled)


def test_noise_of_a_body_at_rest_is_no_reason_to_refuse_a_log() -> None:
    places = np.random.default_rng(0).random((400, 2))
    places[10] = places[9] + 1e-12
    log = Transitions(observations=places[:-1], next_observations=places[1:], costs=np.ones(399))
    assert len(log.states) == 399
