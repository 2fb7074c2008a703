"""`trimetric rl evaluate`"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from trimetric._support.optional import needing
from trimetric.cli.general import SeededComputing, unless_given
from trimetric.files.errors import InputError, check_exists

if TYPE_CHECKING:
    from trimetric.rl import TaskWorld

WorldName = Literal[
    "directed",
    "mountain-car",
    "pendulum",
    "pointmaze-medium",
    "pointmaze-large",
    "pointmaze-giant",
    "pointmaze-teleport",
]


@dataclass(frozen=True, kw_only=True)
class RlEvaluate:
    """Let a policy act in a world until its goals are reached: success, SPL and steps, per task.

      trimetric rl evaluate actor.safetensors --world pointmaze-large
      trimetric rl evaluate actor.safetensors --env pointmaze-large-v0 --episodes 10

    The policy is a file that trimetric.rl.save_policy wrote.  An environment of Gymnasium must tell its goals, as
    info["goal"] of its reset or as "desired_goal" of its observations.
    """

    policy: Annotated[Positional[Path], arg(metavar="POLICY")]
    """a policy file"""
    world: Annotated[WorldName | None, unless_given("NAME")] = None
    """a world of this library: directed, mountain-car, pendulum, pointmaze-medium, pointmaze-large, pointmaze-giant or
    pointmaze-teleport"""
    env: Annotated[str | None, unless_given("ID")] = None
    """a Gymnasium environment with goals, instead"""
    episodes: int = 50
    """for each task"""
    max_steps: Annotated[int | None, unless_given("INT")] = None
    """give up an episode after this many steps (default: the limit of the world)"""
    general: SeededComputing = field(default_factory=SeededComputing)

    def run(self) -> int:
        if (self.world is None) == (self.env is None):
            raise InputError("--world: expected the name of a world, or --env, and not both")
        for option, value in (("--episodes", self.episodes), ("--max-steps", self.max_steps)):
            if value is not None and value < 1:
                raise InputError(f"{option}: expected a positive whole number, got {value}")
        check_exists(self.policy)
        device = self.general.torch_device()

        from trimetric._support.tensor_files import CheckpointError
        from trimetric.rl import evaluate, load_policy

        try:
            policy = load_policy(self.policy).to(device)
        except CheckpointError as error:
            raise InputError(" ".join(str(error).split())) from None
        world = self._world()
        if self.max_steps is not None and self.max_steps > world.max_steps:
            raise InputError(
                f"--max-steps: expected at most {world.max_steps}, the limit of the world, got {self.max_steps}"
            )
        try:
            found = evaluate(world, policy, episodes=self.episodes, seed=self.general.seed, max_steps=self.max_steps)
        except (TypeError, ValueError, RuntimeError, IndexError) as error:
            option = "--world" if self.env is None else "--env"
            reason = " ".join(str(error).split())
            raise InputError(f"{option}: {self.policy} cannot act there: {reason}") from None
        low, high = found.interval()
        for task, success in found.per_task().items():
            self.general.say(f"{task}: {100 * success:.0f} %")
        told = f"success {100 * found.success:.1f} % ({100 * low:.0f} to {100 * high:.0f} over tasks)"
        told += f", {found.steps.mean():.1f} steps on average"
        if found.reached.any():
            told += f" and {found.mean_steps:.1f} to the goals that were reached"
        if found.optimal is not None:
            told += f"; SPL {found.spl:.3f}, where the least steps are {found.optimal.mean():.1f} on average"
        self.general.say(f"{found.reached.size:,} episodes in {self.world or self.env}: {told}")
        self.general.answer(
            success=found.success,
            interval=[low, high],
            spl=found.spl,
            steps=float(found.steps.mean()),
            steps_to_goals=found.mean_steps if found.reached.any() else None,
            per_task=found.per_task(),
            episodes=int(found.reached.size),
            seconds_per_action=found.seconds_per_action,
        )
        return 0

    def _world(self) -> TaskWorld:
        from trimetric.rl import DirectedPoint, GymnasiumTasks, MountainCar, Pendulum

        if self.env is None:
            plain = {"directed": DirectedPoint, "mountain-car": MountainCar, "pendulum": Pendulum}
            if self.world in plain:
                return plain[self.world]()
            from trimetric.rl.worlds.pointmaze.simulator import PointMaze

            return PointMaze(str(self.world).removeprefix("pointmaze-"))  # type: ignore[arg-type]
        with needing(f"--env {self.env}", "values"):
            import gymnasium
        if self.env.startswith("pointmaze-"):
            from trimetric.rl.worlds.pointmaze import environment as environment  # registers OGBench's environments
        cells: dict[str, Any] = {"observations": "cells"} if self.env.startswith("trimetric/") else {}
        try:
            return GymnasiumTasks(gymnasium.make(self.env, **cells))
        except (ValueError, gymnasium.error.Error) as error:
            raise InputError(f"--env: {' '.join(str(error).split())}") from None
