"""Solve MountainCar from logged random transitions alone: a car too weak for the hill must first roll back to swing up.

Random actions from random places are logged; position and velocity are rounded to 30 values each, so that states recur.
A quasimetric learns how many steps each state is from each other.  Then, from the usual start in the valley, an agent
takes the action with the least mean of its cost and the learned distance to the top.

    python examples/mountain_car.py
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
import tyro
from gymnasium.wrappers import TimeLimit

import trimetric as tm
from trimetric import rl
from trimetric.rl.planning.pictures import save_plan
from trimetric.rl.transitions.collecting import Observe


@dataclass(frozen=True, kw_only=True)
class Config:
    """Settings of the example."""

    steps: int = 15_000
    """number of transitions to log"""
    repeat: int = 8
    """how often each action is taken, in the log and by the agent"""
    bins: int = 30
    """number of values of position and of velocity"""
    epochs: int = 20
    """passes over the pairs"""
    episodes: int = 20
    """number of episodes to judge the agent by"""
    seed: int = 0
    """seed of everything random"""
    picture: Path | None = Path("mountain_car.png")
    """file for a picture of a walk and the learned distance"""


class StartAnywhere(gymnasium.Wrapper):
    """Episodes that start at any position and velocity: a random walk from the valley never gets up the hill."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        _, info = self.env.reset(seed=seed, options=options)
        car: Any = self.env.unwrapped
        space: Any = self.env.observation_space
        car.state = car.np_random.uniform(space.low, space.high)
        return np.array(car.state, dtype=np.float32), info


def drive(agent: rl.Agent, observe: Observe, config: Config) -> tuple[float, float]:
    """Drive episodes of at most 200 steps.

    Args:
        agent: chooses the actions.
        observe: rounds observations as in the log.
        config: settings.

    Returns:
        The share of episodes that reach the top, and the mean number of their steps.
    """
    env, lengths = gymnasium.make("MountainCar-v0"), []
    for episode in range(config.episodes):
        seen, _ = env.reset(seed=config.seed + episode)
        steps, ended, cut = 0, False, False
        while not (ended or cut):
            action = agent(observe(seen))
            for _ in range(config.repeat):
                seen, _, ended, cut, _ = env.step(action)
                steps += 1
                if ended or cut:
                    break
        if ended:
            lengths.append(steps)
    return len(lengths) / config.episodes, float(np.mean(lengths)) if lengths else float("nan")


def run(config: Config) -> tuple[float, float]:
    """Log transitions, learn the distance and drive.

    Args:
        config: settings.

    Returns:
        As for `drive`.
    """
    env = gymnasium.make("MountainCar-v0").unwrapped
    observe = rl.bins_of(env, config.bins)
    walks = StartAnywhere(TimeLimit(env, 40))
    log = rl.collect(walks, config.steps, seed=config.seed, repeat=config.repeat, observe=observe)
    moves = rl.KnownMoves(log)
    if log.terminals is None or not log.terminals.any():
        raise RuntimeError("no step of the log reaches the top; set more --steps")
    top = torch.from_numpy(np.unique(log.ends[1][log.terminals]))
    print(
        f"{len(log):,} transitions: {moves.num_states:,} states, {len(moves.edges):,} moves, "
        f"{len(top)} states at the top"
    )
    torch.manual_seed(config.seed)
    encoder = tm.MLP(2, 64, widths=(128, 128), waves=3)
    encoder.standardize.measure(moves.states)
    model = tm.Siamese(encoder, tm.Calibrated(tm.IntervalQuasimetric(64)))
    settings = rl.transitions_config(epochs=config.epochs, seed=config.seed)
    rl.learn_from_transitions(model, moves, pairs=20_000, config=settings)
    success, steps = drive(rl.Agent(model, log, top), observe, config)
    print(f"from the valley to the top in {success:.0%} of {config.episodes} episodes, in {steps:.0f} steps on average")
    if config.picture is not None:
        valley = (moves.states - torch.tensor([-0.5, 0.0])).div(torch.tensor([1.8, 0.14])).square().sum(dim=1)
        start = valley.argmin()
        with torch.no_grad():
            nearest = top[model(moves.states[start].expand(len(top), -1), moves.states[top]).argmin()]
        walk = torch.stack([start, nearest]).unsqueeze(0)
        save_plan(config.picture, {"MountainCar": model}, moves, walk, labels=("position", "velocity"))
        print(f"picture: {config.picture}")
    return success, steps


if __name__ == "__main__":
    run(tyro.cli(Config, description=__doc__))
