"""Logged transitions: files, random walks, learning from them alone, planning over known moves."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import Tensor

import trimetric as tm
from trimetric.distances import Distance
from trimetric.rl import (
    Agent,
    KnownMoves,
    Transitions,
    World,
    bins_of,
    collect,
    goal_pairs,
    hold_out_goals,
    judge,
    learn_from_transitions,
    plan,
    read_transitions,
    transitions_config,
)
from trimetric.rl.learning.constraints import constrained_loss, constraints, reach_of
from trimetric.rl.planning.pictures import save_plan
from trimetric.rl.worlds.environment import GridEnvironment
from trimetric.training.losses import CustomLoss

ONE_WAY = """
#########
#   >   #
#   #   #
#   #   #
#   <   #
#########
"""


def walk(steps: int = 2500, **arguments: Any) -> Transitions:
    return collect(GridEnvironment(ONE_WAY, observations="cells", **arguments), steps, seed=0)


@pytest.fixture(scope="module")
def log() -> Transitions:
    return walk(asymmetric=True)


def arrays(n: int = 4) -> dict[str, np.ndarray]:
    return {"observations": np.zeros((n, 2)), "next_observations": np.ones((n, 2)), "costs": np.ones(n)}


class Looked(Distance):
    """The exact distance of a world, looked up by cell."""

    def __init__(self, world: World, noise: float = 0.0) -> None:
        super().__init__(2, num_components=1, pool="mean")
        torch.manual_seed(0)
        self.matrix = (world.distances + noise * torch.rand(world.distances.shape)).float()
        self.number = torch.full(world.grid.shape, -1)
        self.number[tuple(world.grid.cells.T)] = torch.arange(world.num_states)

    def components(self, x: Tensor, y: Tensor) -> Tensor:
        x, y = torch.broadcast_tensors(x, y)
        ends = [self.number[tuple(end.long().unbind(-1))] for end in (x, y)]
        return self.matrix[tuple(ends)].unsqueeze(-1)


def network(log: Transitions, head: Any = None) -> tm.Siamese:
    torch.manual_seed(0)
    encoder = tm.MLP(2, 32, widths=(64, 64), waves=3)
    encoder.standardize.measure(KnownMoves(log).states)
    return tm.Siamese(encoder, tm.Calibrated(head or tm.IntervalQuasimetric(32)))


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


class Counter(gymnasium.Env):
    """Steps of a counter to 5, seen as the space says."""

    def __init__(self, space: spaces.Space, reward: float = -1.5) -> None:
        self.observation_space, self.action_space = space, spaces.Discrete(2)
        self.reward, self.at = reward, 0

    def _seen(self) -> Any:
        seen = {"Discrete": self.at + 3, "MultiDiscrete": np.array([self.at, 1]), "Box": np.array([self.at * 1.0])}
        return seen[type(self.observation_space).__name__]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = 0 if options is None else options["at"]
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at += int(action)
        return self._seen(), self.reward, self.at == 5, False, {}


def test_walks_of_discrete_spaces() -> None:
    env = Counter(spaces.Discrete(6, start=3))
    hot = collect(env, 60, seed=0)
    assert hot.states.shape == (6, 6)
    assert (hot.states.sum(axis=1) == 1).all()
    assert (hot.observations[0] == np.eye(6)[0]).all()
    plain = collect(env, 60, seed=0, discrete="coordinates")
    assert (plain.observations[:, 0] == hot.observations.argmax(axis=1)).all()
    assert plain.terminals is not None
    assert (plain.next_observations[plain.terminals] == 5).all()
    assert plain.terminals.sum() > 2
    assert (plain.observations[1:][plain.terminals[:-1]] == 0).all()  # a new episode
    pair = collect(Counter(spaces.MultiDiscrete([6, 2])), 60, seed=0)
    assert pair.states.shape == (6, 8)
    assert (pair.states[:, 6:] == [0, 1]).all()


def test_walks_repeat_actions_and_sum_their_costs() -> None:
    env = Counter(spaces.Box(0, 6, (1,)))
    log = collect(env, 40, seed=0, repeat=3, reset_options={"at": 1})
    rise = (log.next_observations - log.observations)[:, 0]
    assert set(rise.tolist()) == {0.0, 1.0, 3.0}  # 1 from 4 to 5, where the episode ends
    assert set(log.costs[rise != 1].tolist()) == {4.5}
    assert set(log.costs[rise == 1].tolist()) == {1.5}
    coarse = collect(env, 40, seed=0, observe=bins_of(env, 2))
    assert set(coarse.states[:, 0].tolist()) == {1.5, 4.5}


def test_environments_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="env: expected rewards below 0, as a step costs something, got 1"):
        collect(Counter(spaces.Box(0, 6, (1,)), reward=1.0), 5, seed=0)
    with pytest.raises(ValueError, match="env: expected Box, Discrete, MultiDiscrete or MultiBinary observations"):
        collect(Counter(spaces.Text(5)), 5, seed=0)
    with pytest.raises(ValueError, match="env: expected an 'observation' in its dictionaries, got picture"):
        collect(Counter(spaces.Dict(picture=spaces.Discrete(3))), 5, seed=0)
    with pytest.raises(ValueError, match="bins: expected an environment with bounded Box observations"):
        bins_of(Counter(spaces.Discrete(3)), 4)


def test_exact_distances_plan_perfectly_and_wrong_ones_do_not(log: Transitions) -> None:
    world, moves = World(ONE_WAY, asymmetric=True), KnownMoves(log)
    pairs = goal_pairs(moves, torch.arange(moves.num_states), 300, seed=0)
    found = plan(Looked(world), moves, pairs)
    score = judge(moves, pairs, found)
    assert (score.success, score.spl) == (1, pytest.approx(1))
    assert score.pairs == int((pairs[:, 0] != pairs[:, 1]).sum())
    for path, (start, goal) in zip(found.paths.tolist(), pairs.tolist(), strict=True):
        assert (path[0], path[-1]) == (start, goal)
        steps = [step for step in itertools.pairwise(path) if step[0] != step[1]]
        assert set(steps) <= set(map(tuple, moves.edges.tolist()))
    wrong = judge(moves, pairs, plan(Looked(world, noise=30), moves, pairs, max_steps=50))
    assert wrong.spl <= wrong.success < 0.7


def test_bounds_are_cheapest_paths_up_to_the_horizon(log: Transitions) -> None:
    moves = KnownMoves(log)
    exact = moves.distances_from(torch.arange(moves.num_states))
    ends, bounds = constraints(moves, 7.0, 400, seed=0)
    torch.testing.assert_close(exact[tuple(ends[len(moves.edges) :].T)], bounds[len(moves.edges) :])
    assert torch.equal(ends[: len(moves.edges)], moves.edges)
    assert bounds[len(moves.edges) :].max() <= 7
    assert len(ends) > 2 * len(moves.edges)
    assert len(ends[len(moves.edges) :].unique(dim=0)) == len(ends) - len(moves.edges)
    alone, costs = constraints(moves, 0.0, 400, seed=0)
    assert torch.equal(alone, moves.edges.repeat(400 // len(moves.edges), 1))
    assert torch.equal(costs[: len(moves.edges)], moves.costs)
    assert reach_of(moves) == exact[: moves.num_states].max()


def test_the_loss_is_a_push_or_a_hinge() -> None:
    loss = constrained_loss(10.0, (3.0, 12.0), 2.0).of
    predicted = torch.tensor([1.0, 6.0, 4.0, 30.0], requires_grad=True)
    targets = torch.tensor([2.0, 4.0, torch.inf, torch.inf])
    assert loss(predicted, targets, 0.5)[1] == 3.0
    value = loss(predicted, targets, 0.0)
    assert value[:2].tolist() == [0, 1.5]
    (gradient,) = torch.autograd.grad(value.sum(), predicted)
    assert gradient[0] == 0
    assert gradient[1] == pytest.approx(1.5)
    assert -0.5 < gradient[2] < -0.49  # almost 1 a unit of 2
    assert -1e-6 < gradient[3] <= 0


def test_learning_from_a_log_alone_finds_the_way_to_unseen_goals(log: Transitions) -> None:
    moves = KnownMoves(log)
    seen, held = hold_out_goals(moves, 0.2, seed=1)
    pairs = goal_pairs(moves, held, 200, seed=0)
    config = transitions_config(epochs=15, learning_rate=3e-3)
    model = network(log)
    learn_from_transitions(model, moves, goals=seen, pairs=8000, config=config, progress="silent")
    assert judge(moves, pairs, plan(model, moves, pairs)).success > 0.9
    # No distance is longer than a path, by more than its moves are: the triangle inequality.
    exact = moves.distances_from(torch.arange(moves.num_states))
    learned = tm.all_pairs(model, moves.states).double()
    excess = (learned[tuple(moves.edges.T)] / moves.costs).max().clamp(min=1)
    assert (learned <= excess * exact * (1 + 1e-5)).all()


def test_temporal_differences_over_known_moves(log: Transitions) -> None:
    moves = KnownMoves(log)
    pairs = goal_pairs(moves, torch.arange(moves.num_states), 200, seed=0)
    model = network(log)
    config = transitions_config(epochs=40, learning_rate=3e-3)
    learn_from_transitions(
        model,
        moves,
        method="td",
        pairs=2000,
        polyak=0.3,
        config=tm.TrainingConfig(**{**vars(config), "batch_size": 256}),
        progress="silent",
    )
    assert judge(moves, pairs, plan(model, moves, pairs)).success > 0.8


def test_a_table_of_points_reads_numbers(log: Transitions) -> None:
    moves = KnownMoves(log)
    torch.manual_seed(0)
    table = tm.Siamese(torch.nn.Embedding(moves.num_states, 8), tm.Calibrated(tm.WideNorm(8, components=4, width=4)))
    history = learn_from_transitions(
        table,
        moves,
        pairs=2000,
        penalty=(1, 1),  # a rising one raises the loss
        config=transitions_config(epochs=4, learning_rate=1e-2),
        progress="silent",
    )
    assert history.epochs[-1].loss < history.epochs[0].loss
    assert plan(table, moves, goal_pairs(moves, torch.arange(5), 10, seed=0), max_steps=3).paths.shape[1] <= 4
    short = tm.Siamese(torch.nn.Embedding(3, 8), tm.Euclidean(8))
    with pytest.raises(ValueError, match=r"model: expected a table of the \d+ states of the log, got 3"):
        learn_from_transitions(short, moves)


def test_a_stopped_run_goes_on_bit_for_bit(tmp_path: Path, log: Transitions) -> None:
    file, config = tmp_path / "run.safetensors", transitions_config(epochs=3)
    undisturbed, stopped = network(log), network(log)
    learn_from_transitions(undisturbed, log, pairs=2000, config=config, progress="silent")

    class StopError(Exception):
        pass

    calls = iter(range(100))

    def interrupt(*_: object) -> None:
        if next(calls) == 7:  # one call is of the calibration
            raise StopError

    hook = stopped.encoder.register_forward_hook(interrupt)
    often = tm.TrainingConfig(**{**vars(config), "checkpoint_seconds": 0.0})
    with pytest.raises(StopError):
        learn_from_transitions(stopped, log, pairs=2000, config=often, checkpoint=file, progress="silent")
    hook.remove()
    learn_from_transitions(stopped, log, pairs=2000, config=config, checkpoint=file, progress="silent")
    for name, value in undisturbed.state_dict().items():
        assert torch.equal(value, stopped.state_dict()[name])
    with pytest.raises(RuntimeError, match="belongs to another run: the custom loss differs"):
        learn_from_transitions(
            stopped, log, pairs=2000, penalty=(9, 9), config=config, checkpoint=file, progress="silent"
        )


def test_a_loss_of_ones_own_is_what_is_trained() -> None:
    torch.manual_seed(0)
    x, y, targets = torch.randn(50, 4), torch.randn(50, 4), torch.rand(50)
    losses = []
    for loss in (None, CustomLoss(lambda p, t, _: 3 * (p - t).square(), "three times")):
        torch.manual_seed(1)
        model = tm.NormInduced(tm.WideNorm(4, components=3, width=2))
        history = tm.fit(
            model, (x, y), targets, loss=loss, config=tm.TrainingConfig(epochs=1, batch_size=50), progress="silent"
        )
        losses.append(history.epochs[0].loss)
    assert losses[1] == pytest.approx(3 * losses[0])


def test_the_agent_acts_in_the_world_itself(log: Transitions) -> None:
    world, moves = World(ONE_WAY, asymmetric=True), KnownMoves(log)
    env = GridEnvironment(ONE_WAY, asymmetric=True, observations="cells")
    for start, goal in ((0, 20), (25, 3), (11, 12)):
        here, _ = env.reset(seed=0, options={"state": start, "goal": goal})
        target = int((moves.states == torch.from_numpy(here["desired_goal"])).all(dim=1).nonzero()[0])
        agent, cost, done = Agent(Looked(world), log, target), 0.0, False
        for _ in range(40):
            here, reward, done, _, _ = env.step(agent(here["observation"]))
            cost -= reward
            if done:
                break
        assert done
        assert cost == pytest.approx(world.distances[start, goal].item())
    with pytest.raises(ValueError, match="transitions: expected a log with actions, got none"):
        Agent(Looked(world), Transitions(**arrays()), 0)


def test_a_picture_is_drawn(tmp_path: Path, log: Transitions) -> None:
    moves = KnownMoves(log)
    pairs = goal_pairs(moves, torch.tensor([2, 9]), 4, seed=0)
    file = save_plan(tmp_path / "plan.png", {"exact": Looked(World(ONE_WAY, asymmetric=True))}, moves, pairs)
    assert file.stat().st_size > 10_000


def test_bad_arguments_are_named(log: Transitions) -> None:
    model = network(log)
    for arguments, message in [
        ({"method": "magic"}, "method: expected one of 'constrained', 'td', got 'magic'"),
        ({"reach": -1.0}, "reach: expected a finite number above 0"),
        ({"horizon": -1.0}, "horizon: expected a cost >= 0, got -1.0"),
        ({"goals": torch.tensor([10**6])}, "goals: expected numbers of states from 0 to"),
        ({"pairs": 0}, "pairs: expected a positive integer, got 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            learn_from_transitions(model, log, **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="fraction: expected a part from 0 to below 1, got 1"):
        hold_out_goals(KnownMoves(log), 1, seed=0)
    with pytest.raises(ValueError, match="observations: expected one of 'pictures', 'cells', got 'words'"):
        GridEnvironment(observations="words")  # type: ignore[arg-type]
