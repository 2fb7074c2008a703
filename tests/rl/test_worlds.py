"""Grid worlds: maps from text, exact values, Gymnasium environments."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

import trimetric as tm
from trimetric.rl import FOUR_ROOM, World, random_maze, read_map

WORLDS = [(name, asymmetric) for name in ("FourRoom", "Maze") for asymmetric in (False, True)]
ONE_WAY = """
#######
#  >  #
#  #  #
#  <  #
#######
"""


@pytest.mark.parametrize(("name", "pairs"), [("FourRoom", 4556), ("Maze", 2450)])
def test_the_pairs_are_as_many_as_in_the_paper(name: str, pairs: int) -> None:
    assert len(World(name).pairs()) == pairs


@pytest.mark.parametrize(("name", "asymmetric"), WORLDS)
def test_exact_values_are_those_of_value_iteration(name: str, asymmetric: bool) -> None:
    world = World(name, asymmetric=asymmetric, seed=3)
    n = world.num_states
    values = torch.full((n, n), -1e9, dtype=torch.float64).fill_diagonal_(0)
    ends = world.next_state.clamp(min=0)
    for _ in range(n):
        values = torch.maximum(values, (values[ends] - world.cost.unsqueeze(2)).amax(dim=1)).fill_diagonal_(0)
    torch.testing.assert_close(values, world.values, rtol=0, atol=1e-12)
    assert torch.allclose(world.values, world.values.T) != asymmetric


def test_moves_south_and_west_are_dearer_by_up_to_five() -> None:
    world = World("FourRoom", asymmetric=True, seed=1)
    possible = world.next_state >= 0
    assert (world.cost[:, :2][possible[:, :2]] == 1).all()
    dear = world.cost[:, 2:][possible[:, 2:]]
    assert 1 <= dear.min() < 1.5
    assert 5.5 < dear.max() <= 6
    assert dear.unique().numel() == dear.numel()
    assert not torch.equal(world.cost, World("FourRoom", asymmetric=True, seed=2).cost)
    assert torch.equal(world.cost, World("FourRoom", asymmetric=True, seed=1).cost)


def test_the_old_spelling_of_neighbors_warns() -> None:
    grid = read_map(ONE_WAY)
    with pytest.warns(DeprecationWarning, match=r"GridMap\.neighbours is now GridMap\.neighbors"):
        assert np.array_equal(grid.neighbours(), grid.neighbors())


def test_an_observation_is_one_hot_in_each_cell() -> None:
    world = World("Maze")
    assert world.observations.shape == (50, 3, 11, 11)
    assert (world.observations.sum(dim=1) == 1).all()
    row, column = world.grid.cells[7]
    assert world.observations[7, 2].nonzero().tolist() == [[row, column]]


def test_states_are_numbered_in_reading_order() -> None:
    cells = World("FourRoom").grid.cells
    assert cells[0].tolist() == [1, 1]
    assert cells[-1].tolist() == [9, 9]
    assert (np.diff(cells[:, 0] * 11 + cells[:, 1]) > 0).all()


def test_a_one_way_door_is_passed_in_its_direction_only() -> None:
    world = World(ONE_WAY)
    left, door, right = (world.state_at(1, column) for column in (2, 3, 4))
    east, west = 1, 3
    assert world.next_state[left, east] == door
    assert world.next_state[door].tolist() == [-1, right, -1, -1]
    assert world.next_state[right, west] == -1
    assert world.distances[left, right] == 2
    assert world.distances[right, left] == 6  # down, through the other door, up


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("###\n###", r"map: expected at least two free cells, a state and a goal, got 0"),
        ("", r"map: expected at least two free cells"),
        ("#####\n# # #\n#####", r"got no way from \(1, 1\) to \(1, 3\) \(row, column\), nor for 1 other"),
        ("#####\n#  >#\n#####", r"map: expected every free cell to be reachable"),
        ("####\n#  #\n###", r"map: expected lines of 4 characters, got 3 in line 3"),
        ("####\n# x#\n####", r"got 'x' in line 2, column 3"),
    ],
)
def test_bad_maps_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        World(read_map(text))


def test_an_unknown_name_is_no_map() -> None:
    with pytest.raises(ValueError, match=r"grid: expected a map, its text, or one of FourRoom, Maze, got 'FiveRoom'"):
        World("FiveRoom")
    with pytest.raises(ValueError, match=r"size: expected an odd number from 5 on, got 10"):
        random_maze(10, seed=0)


def test_random_mazes_have_one_loop() -> None:
    for seed in range(5):
        world = World(random_maze(seed=seed))
        assert world.num_states == 50
        assert (world.next_state >= 0).sum() == 2 * 50  # a tree has 2 (n - 1) moves, the loop adds two
    assert World(random_maze(21, seed=0)).num_states == 200


@pytest.mark.parametrize("name", ["FourRoom", "Maze"])
@pytest.mark.parametrize("mode", ["rgb_array", "ansi"])
def test_the_environments_pass_the_checker(name: str, mode: str) -> None:
    made = gymnasium.make(f"trimetric/{name}-v0", asymmetric=True, render_mode=mode)
    check_env(made.unwrapped)
    made.close()


def test_an_episode_follows_the_model() -> None:
    environment = gymnasium.make("trimetric/FourRoom-v0", asymmetric=True, cost_seed=4, render_mode="ansi")
    world = environment.unwrapped.world  # type: ignore[attr-defined]
    seen, info = environment.reset(options={"state": 0, "goal": 9})
    assert (info["state"], info["goal"]) == (0, 9)
    assert environment.render().count("A") == environment.render().count("G") == 1  # type: ignore[union-attr]
    assert torch.equal(torch.from_numpy(seen["desired_goal"]).permute(2, 0, 1).float(), world.observations[9])
    assert info["action_mask"].tolist() == [0, 1, 1, 0]
    assert environment.step(0)[1] == -1  # into the wall
    total, state = 0.0, 0
    while state != 9:
        ahead = world.cost[state] + world.distances[world.next_state[state].clamp(min=0), 9]
        _, reward, terminated, truncated, info = environment.step(int(ahead.argmin()))
        total, state = total + float(reward), info["state"]
        assert not truncated
        assert terminated == (state == 9)
    assert total == pytest.approx(world.values[0, 9].item())
    assert environment.reset(seed=1)[1]["goal"] == environment.reset(seed=1)[1]["goal"]


def test_own_maps_and_wrong_arguments() -> None:
    environment = gymnasium.make("trimetric/FourRoom-v0", grid=ONE_WAY)
    assert environment.observation_space["observation"].shape == (5, 7, 3)  # type: ignore[index]
    with pytest.raises(ValueError, match=r"options: expected a state and a goal from 0 to 13, got 'goal' = 99"):
        environment.unwrapped.reset(options={"goal": 99})
    with pytest.raises(ValueError, match=r"action: expected a whole number from 0 to 3, got 7"):
        environment.unwrapped.step(7)
    with pytest.raises(ValueError, match=r"render_mode: expected one of rgb_array, ansi or None, got 'film'"):
        tm.rl.GridEnvironment(FOUR_ROOM, render_mode="film")  # type: ignore[arg-type]


def test_without_gymnasium_only_the_environments_are_missing() -> None:
    code = """
import sys
sys.modules["gymnasium"] = None
import trimetric as tm
print(tm.rl.World("Maze").num_states)
try:
    tm.rl.GridEnvironment
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["50", 'an environment needs gymnasium: pip install "trimetric[values]"']
