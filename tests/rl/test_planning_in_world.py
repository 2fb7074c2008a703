"""Greedy walks by a value function in a world."""

from __future__ import annotations

import pytest
import torch

from trimetric.rl import (
    World,
    evaluate_values,
    follow,
    greedy_actions,
    some_pairs,
)
from trimetric.rl.planning import Plan, spl_of_pairs


@pytest.mark.parametrize("name", ["FourRoom", "Maze"])
@pytest.mark.parametrize("asymmetric", [False, True])
def test_the_exact_values_plan_perfectly(name: str, asymmetric: bool) -> None:
    world = World(name, asymmetric=asymmetric)
    for pairs in (world.pairs(), some_pairs(world.pairs(), 100, seed=1)):
        for convention in ("zero", "learned"):
            score = evaluate_values(world, world.values, pairs, goal_value=convention)  # type: ignore[arg-type]
            assert score.success == 1
            assert score.spl == pytest.approx(1, abs=1e-12)
            assert score.mse == 0


def test_walks_are_those_of_a_loop_over_pairs() -> None:
    world = World("Maze", asymmetric=True)
    torch.manual_seed(0)
    values = world.values + 3 * torch.randn(2, 50, 50)
    actions = greedy_actions(world, values)
    walks = follow(world, actions, max_steps=30)
    for member, start, goal in ((0, 0, 49), (1, 17, 3), (0, 30, 31), (1, 8, 8)):
        state, cost = start, 0.0
        for _ in range(30):
            if state == goal:
                break
            ahead = [
                -world.cost[state, a]
                + (0 if (after := int(world.next_state[state, a])) == goal else values[member, after, goal])
                for a in range(4)
            ]
            action = int(torch.tensor([float(option) for option in ahead]).argmax())
            cost += world.cost[state, action].item()
            state = int(world.next_state[state, action])
        assert walks.reached[member, start, goal] == (state == goal)
        assert walks.cost[member, start, goal].item() == pytest.approx(cost)
    assert 0.02 < walks.reached.double().mean() < 0.98


def test_spl_is_at_most_success_and_one_for_a_cheapest_path() -> None:
    world = World("FourRoom", asymmetric=True)
    torch.manual_seed(0)
    values = world.values + 2 * torch.randn(68, 68)
    walks = follow(world, greedy_actions(world, values))
    spl = spl_of_pairs(world, walks)
    assert (spl <= walks.reached.double()).all()
    assert ((spl == 1) == (walks.reached & (walks.cost <= world.distances * (1 + 1e-12)))).all()
    score = evaluate_values(world, values, world.pairs())
    assert 0 < score.spl < score.success < 1
    longer = Plan(walks.reached, 2 * walks.cost)
    assert (spl_of_pairs(world, longer) <= spl).all()


def test_random_policies_get_nearly_nowhere() -> None:
    world = World("FourRoom")
    scores = []
    for seed in range(3):
        torch.manual_seed(seed)
        scores.append(evaluate_values(world, -100 * torch.rand(68, 68), world.pairs()).spl)
    assert 0 < max(scores) < 0.15


def test_a_learned_value_of_the_goal_may_send_the_agent_away() -> None:
    world = World("FourRoom")
    wrong = world.values - 50 * torch.eye(68)
    assert evaluate_values(world, wrong, world.pairs(), goal_value="zero").spl == pytest.approx(1)
    assert evaluate_values(world, wrong, world.pairs(), goal_value="learned").success == 0
