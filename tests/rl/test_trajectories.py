"""Logs of episodes: every way in gives the same log, and a bad one is refused with the place."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from trimetric.rl import Trajectories, Transitions, read_trajectories, record


def parts(*, episodes: tuple[int, ...] = (3, 1, 5), features: int = 2, seed: int = 0) -> dict[str, Any]:
    """The arrays of a log with these numbers of steps."""
    random = np.random.default_rng(seed)
    ends = np.cumsum([steps + 1 for steps in episodes]) - 1
    rows = int(ends[-1]) + 1
    return {
        "observations": random.normal(size=(rows, features)).astype(np.float32),
        "ends": ends,
        "actions": random.uniform(-1, 1, size=(rows, 2)).astype(np.float32),
        "costs": random.uniform(0.5, 2, size=rows),
        "terminated": np.array([True, False, True][: len(ends)]),
        "action_range": (-1.0, 1.0),
    }


def assert_same(one: Trajectories, other: Trajectories, *, but: tuple[str, ...] = ()) -> None:
    rows = one.transition_rows
    assert np.array_equal(one.ends, other.ends)
    for name in ("observations", "actions", "costs", "terminated"):
        if name in but:
            continue
        mine, its = getattr(one, name), getattr(other, name)
        assert (mine is None) == (its is None), name
        if mine is not None:
            chosen = rows if name in ("actions", "costs") else slice(None)
            assert np.array_equal(mine[chosen], its[chosen]), name


def test_rows_and_ends() -> None:
    log = Trajectories(**parts())
    assert (len(log), log.num_episodes, log.num_transitions) == (12, 3, 9)
    assert log.transition_rows.tolist() == [0, 1, 2, 4, 6, 7, 8, 9, 10]
    assert np.array_equal(log.rows_of_transitions(np.arange(9)), log.transition_rows)
    assert log.final_row_of(np.arange(12)).tolist() == [3, 3, 3, 3, 5, 5, 11, 11, 11, 11, 11, 11]
    assert log.starts.tolist() == [0, 4, 6]
    costs = parts()["costs"]
    found = log.cost_between(np.array([0, 6, 4]), np.array([3, 11, 5]))
    assert np.allclose(found, [costs[:3].sum(), costs[6:11].sum(), costs[4]])
    assert log.mean_cost == pytest.approx(costs[log.transition_rows].mean())


@pytest.mark.parametrize("name", ["log.npz", "log"])
@pytest.mark.parametrize("drop", [(), ("actions", "action_range", "costs", "terminated"), ("costs",)])
def test_files_give_back_what_was_written(tmp_path: Path, name: str, drop: tuple[str, ...]) -> None:
    log = Trajectories(**{key: value for key, value in parts().items() if key not in drop})
    again = read_trajectories(log.write(tmp_path / name))
    assert_same(log, again)
    assert isinstance(again.observations, np.memmap) == (name == "log")
    if log.action_range is not None and again.action_range is not None:
        assert np.array_equal(log.action_range[0], again.action_range[0])


def test_a_folder_forgets_what_an_earlier_log_had(tmp_path: Path) -> None:
    Trajectories(**parts()).write(tmp_path / "log")
    plain = {key: value for key, value in parts().items() if key in ("observations", "ends")}
    assert read_trajectories(Trajectories(**plain).write(tmp_path / "log")).actions is None


def test_numbers_of_states_and_actions_and_pixels(tmp_path: Path) -> None:
    log = Trajectories(observations=np.array([0, 3, 1]), ends=np.array([2]), actions=np.array([1, 0, 99]))
    assert (log.num_actions, log.observations.dtype) == (2, np.int64)  # the last row has no action
    pixels = Trajectories(observations=np.zeros((4, 3, 8, 8), dtype=np.uint8), ends=np.array([3]))
    assert read_trajectories(pixels.write(tmp_path / "pixels")).observations.dtype == np.uint8
    assert read_trajectories(log.write(tmp_path / "log.npz")).num_actions == 2


def test_arrays_of_ogbench_in_both_layouts(tmp_path: Path) -> None:
    given = parts()
    terminals = np.zeros(12)
    terminals[given["ends"]] = 1
    compact = {"observations": given["observations"], "actions": given["actions"], "terminals": terminals}
    log = Trajectories.from_ogbench(compact)
    assert log.ends.tolist() == [3, 5, 11]
    assert log.terminated is not None
    assert not log.terminated.any()
    rows = log.transition_rows
    last = np.isin(rows + 1, log.ends).astype(float)
    regular = {
        "observations": given["observations"][rows],
        "next_observations": given["observations"][rows + 1],
        "actions": given["actions"][rows],
        "terminals": last,
    }
    assert_same(log, Trajectories.from_ogbench(regular))
    np.savez(tmp_path / "data.npz", **compact)
    assert_same(log, read_trajectories(tmp_path / "data.npz"))
    # As in D4RL: an end is a terminal state or a time limit.
    timeouts = np.array([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    ended = Trajectories.from_ogbench(compact | {"terminals": terminals - timeouts, "timeouts": timeouts})
    assert ended.terminated is not None
    assert ended.terminated.tolist() == [True, False, True]
    # A log that was cut off ends with its last row.
    cut = Trajectories.from_ogbench({name: array[:-2] for name, array in compact.items()})
    assert cut.ends.tolist() == [3, 5, 9]


def test_episodes_and_minari() -> None:
    log = Trajectories(**parts())
    assert log.costs is not None
    assert log.actions is not None
    assert log.terminated is not None
    episodes = [
        {
            "observations": log.observations[start : end + 1],
            "actions": log.actions[start:end],
            "costs": log.costs[start:end],
            "terminated": bool(ended),
        }
        for start, end, ended in zip(log.starts, log.ends, log.terminated, strict=True)
    ]
    assert_same(log, Trajectories.from_episodes(episodes, action_range=(-1, 1)))

    def minari(own: dict[str, Any], sign: float) -> SimpleNamespace:
        steps = len(own["actions"])
        terminations = np.arange(steps) == (steps - 1 if own["terminated"] else -1)
        rewards = sign * own["costs"]
        seen = {"observation": own["observations"], "desired_goal": np.zeros((steps + 1, 2))}
        return SimpleNamespace(observations=seen, actions=own["actions"], rewards=rewards, terminations=terminations)

    space = SimpleNamespace(low=np.full(2, -1.0), high=np.full(2, 1.0))
    for sign, but in ((-1.0, ()), (1.0, ("costs",))):
        found = [minari(own, sign) for own in episodes]
        data = SimpleNamespace(iterate_episodes=lambda found=found: iter(found), action_space=space)
        read = Trajectories.from_minari(data)
        assert_same(log, read, but=but)
        assert (read.costs is None) == bool(but)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_data_set_that_minari_has_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    minari = pytest.importorskip("minari")
    gymnasium = pytest.importorskip("gymnasium")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    env = minari.DataCollector(gymnasium.make("CartPole-v1", max_episode_steps=30), data_format="arrow")
    for seed in range(3):
        env.reset(seed=seed)
        ended = cut = False
        while not (ended or cut):
            _, _, ended, cut, _ = env.step(env.action_space.sample())
    log = Trajectories.from_minari(env.create_dataset("cartpole/test-v0"))
    assert log.num_episodes == 3
    assert log.observations.shape[1:] == (4,)
    assert log.num_actions == 2
    assert log.costs is None  # its rewards are above 0


def test_transitions_are_chained() -> None:
    line = np.arange(6.0)[:, None]
    steps = Transitions(
        observations=line[[0, 1, 2, 5, 4]],
        next_observations=line[[1, 2, 3, 4, 3]],
        costs=np.arange(1.0, 6.0),
        actions=np.array([0, 0, 0, 1, 1]),
        terminals=np.array([False, False, False, False, True]),
    )
    log = Trajectories.from_transitions(steps)
    assert log.observations.ravel().tolist() == [0, 1, 2, 3, 5, 4, 3]
    assert log.ends.tolist() == [3, 6]
    assert log.costs is not None
    assert log.costs[log.transition_rows].tolist() == [1, 2, 3, 4, 5]
    assert log.terminated is not None
    assert log.terminated.tolist() == [False, True]


def test_a_split_keeps_whole_episodes() -> None:
    log = Trajectories(**parts(episodes=(3, 1, 5, 2, 4)) | {"terminated": None})
    train, held = log.split(0.4, seed=1)
    assert (train.num_episodes, held.num_episodes) == (3, 2)
    both = np.concatenate([train.observations, held.observations])
    assert np.array_equal(np.sort(both, axis=0), np.sort(log.observations, axis=0))
    first = log.episodes(np.array([2, 0]))
    assert np.array_equal(first.observations, np.concatenate([log.observations[6:12], log.observations[:4]]))
    assert first.ends.tolist() == [5, 9]
    assert [own.num_episodes for own in log.split(0.4, seed=1)] == [3, 2]


def test_gymnasium_is_recorded() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    from trimetric.rl import GridEnvironment

    log = record(GridEnvironment("Maze", observations="cells"), episodes=3, seed=0, max_steps=20)
    assert log.num_actions == 4
    assert (np.abs(np.diff(log.observations, axis=0))[log.transition_rows].sum(axis=1) <= 1).all()
    again = record(GridEnvironment("Maze", observations="cells"), episodes=3, seed=0, max_steps=20)
    assert_same(log, again)
    swing = record(gymnasium.make("Pendulum-v1"), episodes=1, seed=0)
    assert swing.action_range is not None
    assert swing.action_range[1].tolist() == [2.0]
    assert swing.num_transitions == 200


def changed(name: str, row: Any, value: float) -> dict[str, Any]:
    given = parts()
    given[name][row] = value
    return given


BAD = {
    "NaN": (lambda: changed("observations", (7, 1), np.nan), r"observations: .*got nan in row 7, column 1"),
    "infinite": (lambda: changed("actions", (1, 0), np.inf), r"actions: .*got inf in row 1, column 0"),
    "out of range": (lambda: changed("actions", (8, 1), 1.5), r"actions: .*from -1 to 1, got 1.5 in row 8, column 1"),
    "free step": (lambda: changed("costs", 9, 0.0), r"costs: .*above 0.*got 0 in row 9"),
    "one step": (lambda: parts() | {"ends": np.array([3, 4, 11])}, r"ends: .*two observations.*episode 1 \(row 4\)"),
    "backwards": (lambda: parts() | {"ends": np.array([5, 3, 11])}, r"ends: expected ascending rows.*3 for episode 1"),
    "short": (lambda: parts() | {"ends": np.array([3, 5, 10])}, r"ends: .*row 11.*got 10"),
    "actions": (lambda: parts() | {"actions": np.zeros((11, 2))}, r"actions: expected one for each of the 12 rows"),
    "costs": (lambda: parts() | {"costs": np.ones(3)}, r"costs: expected one for each of the 12 rows"),
    "flags": (lambda: parts() | {"terminated": np.ones(2, dtype=bool)}, r"terminated: expected 3 truth values"),
    "flat": (lambda: parts() | {"observations": np.zeros(12)}, r"observations: expected vectors"),
    "text": (lambda: parts() | {"observations": np.full((12, 2), "x")}, r"observations: expected real numbers"),
    "range": (lambda: parts() | {"action_range": (1.0, -1.0)}, r"action_range: expected lowest values below"),
    "count": (lambda: parts() | {"num_actions": 3}, r"num_actions: expected None for actions that are vectors"),
    "no actions": (lambda: parts() | {"actions": None}, r"action_range: expected None where no actions are known"),
    "too few": (
        lambda: parts() | {"actions": np.arange(12), "action_range": None, "num_actions": 5},
        r"actions: expected numbers from 0 to 4, got 6 in row 6",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_logs_are_refused_with_the_place(case: str) -> None:
    make, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        Trajectories(**make())


def test_bad_files_and_mappings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such file or folder"):
        read_trajectories(tmp_path / "nothing.npz")
    np.savez(tmp_path / "half.npz", observations=np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"half\.npz: expected an array 'ends', got observations"):
        read_trajectories(tmp_path / "half.npz")
    log = Trajectories(**parts())
    log.write(tmp_path / "log")
    spoiled = np.load(tmp_path / "log" / "observations.npy")
    spoiled[4, 0] = np.nan
    np.save(tmp_path / "log" / "observations.npy", spoiled)
    with pytest.raises(ValueError, match=r"log: observations: expected finite numbers, got nan in row 4, column 0"):
        read_trajectories(tmp_path / "log")
    with pytest.raises(ValueError, match="data: expected an array 'terminals', got observations, actions"):
        Trajectories.from_ogbench({"observations": np.zeros((3, 2)), "actions": np.zeros((3, 1))})
    with pytest.raises(ValueError, match=r"episodes\[1\]\['actions'\]: expected 2 rows"):
        Trajectories.from_episodes(
            [
                {"observations": np.zeros((2, 1)), "actions": np.zeros((1, 1))},
                {"observations": np.zeros((3, 1)), "actions": np.zeros((3, 1))},
            ]
        )
    with pytest.raises(ValueError, match=r"episodes\[0\]\['observations'\]: expected at least two rows"):
        Trajectories.from_episodes([{"observations": np.zeros((1, 1))}])
