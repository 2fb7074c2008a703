"""Walk greedily by a value function in a world whose moves are known, and score the walks."""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from trimetric._support import checks
from trimetric.rl.planning.outcome import Plan, Score
from trimetric.rl.worlds.world import World

MAX_STEPS = 121
GoalValue = Literal["zero", "learned"]


def greedy_actions(
    world: World, values: Float[Tensor, "*members n n"], *, goal_value: GoalValue = "zero"
) -> Int[Tensor, "*members n n"]:
    r"""Choose $\arg\max_a\, r(s, a) + V(s', g)$ for all states s and goals g at once; the first one among equals.

    Args:
        world: the world to act in.
        values: V(s, g) of all states and goals (..., n, n).
        goal_value: with "zero", V(g, g) is 0 whatever the network predicts, since the episode ends there.  A metric is
            always 0 there; other networks are not, and with "learned" their walks may pass by their goals.

    Returns:
        Numbers of actions (..., n, n).

    Examples:
        >>> world = World("####\n#  #\n####")
        >>> greedy_actions(world, world.values)[0, 1].item()  # the goal is to the east
        1
    """
    checks.one_of("goal_value", goal_value, ("zero", "learned"))
    n = world.num_states
    if values.shape[-2:] != (n, n):
        raise ValueError(f"values: expected the last axes ({n}, {n}), got shape {tuple(values.shape)}")
    if goal_value == "zero":
        values = values.masked_fill(torch.eye(n, dtype=torch.bool), 0)
    ahead = values[..., world.next_state.clamp(min=0), :]  # members, n, 4, n
    return (ahead - world.cost.unsqueeze(-1)).argmax(dim=-2)


def follow(world: World, actions: Int[Tensor, "*members n n"], *, max_steps: int = MAX_STEPS) -> Plan:
    """Take the given actions from every state to every goal.

    Args:
        world: the world to walk in.
        actions: action in each state for each goal (..., n, n), as `greedy_actions` chooses them.
        max_steps: number of steps after which a walk ends without success.

    Returns:
        The walks (..., n, n), without their paths.

    Examples:
        >>> world = World("FourRoom")
        >>> walks = follow(world, greedy_actions(world, world.values))
        >>> bool(walks.reached.all()), bool((walks.cost == world.distances).all())
        (True, True)
    """
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
    return Plan(state == goal, cost)


def spl_of_pairs(world: World, walks: Plan) -> Float[Tensor, "*members n n"]:
    """Compute the SPL of each state and goal: 1 for a cheapest path, 0 where the goal was not reached.

    Args:
        world: the world of the walks.
        walks: walks of all states and goals, as `follow` takes them.

    Returns:
        The SPL (..., n, n).

    Examples:
        >>> world = World("Maze")
        >>> spl_of_pairs(world, follow(world, greedy_actions(world, world.values))).min().item()
        1.0
    """
    return walks.spl(world.distances)


def evaluate_values(
    world: World,
    values: Float[Tensor, "n n"],
    pairs: Int[Tensor, "k 2"],
    *,
    goal_value: GoalValue = "zero",
    max_steps: int = MAX_STEPS,
) -> Score:
    """Score the greedy policy of a value function.

    Args:
        world: the world to walk in.
        values: V(s, g) of all states and goals (n, n).
        pairs: states and goals to score, by number (k, 2).
        goal_value: as for `greedy_actions`.
        max_steps: number of steps after which a walk ends without success.

    Returns:
        Means over the pairs.

    Examples:
        >>> world = World("Maze", asymmetric=True)
        >>> score = evaluate_values(world, world.values, world.pairs())
        >>> score.success, round(score.spl, 6), score.mse
        (1.0, 1.0, 0.0)
    """
    walks = follow(world, greedy_actions(world, values, goal_value=goal_value), max_steps=max_steps)
    return score(world, values, walks, pairs)


def score(world: World, values: Float[Tensor, "n n"], walks: Plan, pairs: Int[Tensor, "k 2"]) -> Score:
    """Score walks that have been taken already.

    Args:
        world: the world of the walks.
        values: V(s, g) of all states and goals (n, n).
        walks: walks of all states and goals, as `follow` takes them.
        pairs: states and goals to score, by number (k, 2).

    Returns:
        Means over the pairs.
    """
    if not len(pairs):
        raise ValueError("pairs: expected at least one pair of a state and a goal, got none")
    ends = tuple(pairs.unbind(1))
    return Score(
        success=walks.reached[ends].double().mean().item(),
        spl=spl_of_pairs(world, walks)[ends].mean().item(),
        pairs=len(pairs),
        mse=(values[ends].double() - world.values[ends]).square().mean().item(),
    )
