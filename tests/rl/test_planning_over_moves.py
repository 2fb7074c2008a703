"""Planning over the known moves of a log, and acting by them."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch
from one_way_world import ONE_WAY, Looked, arrays

from trimetric.rl import (
    Agent,
    KnownMoves,
    Transitions,
    World,
    goal_pairs,
    judge,
    plan,
)
from trimetric.rl.planning.pictures import save_plan
from trimetric.rl.worlds.environment import GridEnvironment


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
