"""Walk greedily by a value function, and judge the walks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from trimetric._support import checks
from trimetric.rl.worlds.world import World

MAX_STEPS = 121
GoalValue = Literal["zero", "learned"]


@dataclass(frozen=True)
class Walks:
    """Where the greedy agent of each state and goal got to."""

    reached: Bool[Tensor, "*members n n"]
    cost: Float[Tensor, "*members n n"]
    """of the path, up to the goal or the last step"""


@dataclass(frozen=True)
class Score:
    """Means over pairs of a state and a goal."""

    success: float
    spl: float
    """success weighted by path length: the cost of a cheapest path over that of the path taken, 0 without success"""
    mse: float
    """of the values against the exact ones"""


def greedy_actions(
    world: World, values: Float[Tensor, "*members n n"], *, goal_value: GoalValue = "zero"
) -> Int[Tensor, "*members n n"]:
    r"""$\arg\max_a\, r(s, a) + V(s', g)$ for all states s and goals g at once; the first of equal ones.

    With `goal_value="zero"` V(g, g) is 0 whatever the network says: the episode ends there.  A metric says so itself;
    the others do not, and under `"learned"` may walk past their goals.
    """
    checks.one_of("goal_value", goal_value, ("zero", "learned"))
    n = world.num_states
    if values.shape[-2:] != (n, n):
        raise ValueError(f"values: expected the last axes ({n}, {n}), got shape {tuple(values.shape)}")
    if goal_value == "zero":
        values = values.masked_fill(torch.eye(n, dtype=torch.bool), 0)
    ahead = values[..., world.next_state.clamp(min=0), :]  # members, n, 4, n
    return (ahead - world.cost.unsqueeze(-1)).argmax(dim=-2)


def follow(world: World, actions: Int[Tensor, "*members n n"], *, max_steps: int = MAX_STEPS) -> Walks:
    """Take these actions from every state to every goal, until there or `max_steps` are up."""
    checks.positive_int("max_steps", max_steps)
    n = world.num_states
    goal = torch.arange(n)
    state = goal.unsqueeze(1).expand(actions.shape).contiguous()
    cost = torch.zeros(actions.shape, dtype=torch.float64)
    flat = actions.reshape(-1, n * n)
    for _ in range(max_steps):
        walking = state != goal
        if not walking.any():
            break
        action = flat.gather(1, (state * n + goal).reshape(-1, n * n)).view_as(state)
        cost += torch.where(walking, world.cost[state, action], 0)
        state = torch.where(walking, world.next_state[state, action], state)
    return Walks(state == goal, cost)


def spl_of_pairs(world: World, walks: Walks) -> Float[Tensor, "*members n n"]:
    """The SPL of each state and goal: 1 for a cheapest path, 0 where the goal was not reached."""
    best = world.distances
    ratio = best / torch.maximum(walks.cost, best).clamp(min=torch.finfo(torch.float64).tiny)
    return torch.where(walks.reached, ratio, 0).masked_fill(torch.eye(world.num_states, dtype=torch.bool), 1)


def evaluate(
    world: World,
    values: Float[Tensor, "n n"],
    pairs: Int[Tensor, "k 2"],
    *,
    goal_value: GoalValue = "zero",
    max_steps: int = MAX_STEPS,
) -> Score:
    """How well the greedy policy of these values does on these pairs of a state and a goal."""
    walks = follow(world, greedy_actions(world, values, goal_value=goal_value), max_steps=max_steps)
    return score(world, values, walks, pairs)


def score(world: World, values: Float[Tensor, "n n"], walks: Walks, pairs: Int[Tensor, "k 2"]) -> Score:
    """The means over some pairs, of walks that are there already."""
    if not len(pairs):
        raise ValueError("pairs: expected at least one pair of a state and a goal, got none")
    ends = tuple(pairs.unbind(1))
    return Score(
        success=walks.reached[ends].double().mean().item(),
        spl=spl_of_pairs(world, walks)[ends].mean().item(),
        mse=(values[ends].double() - world.values[ends]).square().mean().item(),
    )
