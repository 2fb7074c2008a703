"""Grid worlds as Gymnasium environments."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from trimetric._support import checks
from trimetric._support.optional import needing
from trimetric.rl.worlds.maps import MOVES, GridMap
from trimetric.rl.worlds.world import World

with needing("an environment", "values"):
    import gymnasium
    from gymnasium import spaces

EPISODE_STEPS = 121
COLORS = {"empty": (196, 64, 54), "wall": (60, 140, 74), "agent": (58, 96, 178), "goal": (240, 190, 60)}
CELL_PIXELS = 16

Observation = dict[str, np.ndarray]


class GridEnvironment(gymnasium.Env[Observation, np.int64]):
    """A grid world with goals to reach: the reward of a step is minus its cost, and the episode ends at the goal.

    Observations are dictionaries of `observation`, `achieved_goal` (the same) and `desired_goal`: pictures
    (height, width, 3) whose planes are empty, wall and agent, or cells (row, column).  The actions are north, east,
    south and west.  An action that a wall or a one-way door forbids leaves the agent where it is, at a cost of 1;
    `info["action_mask"]` tells which actions can be taken.  `reset(options={"state": 3, "goal": 7})` chooses start and
    goal.

    Args:
        grid: a map, its text or its name, as for `World`.
        asymmetric: whether moves south and west cost more, as for `World`.
        cost_seed: seed of the asymmetric costs.
        observations: "pictures", or "cells" for row and column, which suit large maps.
        render_mode: "rgb_array", "ansi" or None.

    Examples:
        >>> environment = GridEnvironment("Maze", observations="cells")
        >>> seen, info = environment.reset(seed=0, options={"state": 0, "goal": 2})
        >>> seen["observation"].tolist(), seen["desired_goal"].tolist(), info["action_mask"].tolist()
        ([1.0, 1.0], [1.0, 3.0], [0, 1, 0, 0])
        >>> seen, reward, ended, _, _ = environment.step(1)
        >>> seen["observation"].tolist(), reward, ended
        ([1.0, 2.0], -1.0, False)
    """

    metadata: ClassVar[dict[str, Any]] = {  # pyright: ignore[reportIncompatibleVariableOverride]
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": 8,
    }

    def __init__(
        self,
        grid: GridMap | str = "FourRoom",
        *,
        asymmetric: bool = False,
        cost_seed: int = 0,
        observations: Literal["pictures", "cells"] = "pictures",
        render_mode: Literal["rgb_array", "ansi"] | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode: expected one of rgb_array, ansi or None, got {render_mode!r}")
        checks.one_of("observations", observations, ("pictures", "cells"))
        self.world = World(grid, asymmetric=asymmetric, seed=cost_seed)
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(len(MOVES))  # type: ignore[assignment]
        seen: Any = spaces.Box(0, 1, (*self.world.grid.shape, 3), np.uint8)
        if observations == "cells":
            seen = spaces.Box(0, np.array(self.world.grid.shape, dtype=np.float32) - 1, dtype=np.float32)
        keys = ("observation", "achieved_goal", "desired_goal")
        self.observation_space = spaces.Dict(dict.fromkeys(keys, seen))  # type: ignore[assignment]
        self._seen = (
            self.world.grid.cells.astype(np.float32)
            if observations == "cells"
            else self.world.observations.permute(0, 2, 3, 1).byte().numpy()
        )
        self._next, self._cost = self.world.next_state.numpy(), self.world.cost.numpy()
        self.state = self.goal = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: seed of the random start and goal, of this episode and the next ones.
            options: numbers of the states to use instead: "state", "goal" or both.

        Returns:
            The first observation, and "state", "goal" and "action_mask".
        """
        super().reset(seed=seed)
        self.state, self.goal = self.np_random.choice(self.world.num_states, size=2, replace=False).tolist()
        for name, value in (options or {}).items():
            if name not in ("state", "goal") or not 0 <= value < self.world.num_states:
                raise ValueError(
                    f"options: expected a state and a goal from 0 to {self.world.num_states - 1}, "
                    f"got {name!r} = {value!r}"
                )
            setattr(self, name, int(value))
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one step.

        Args:
            action: 0 to 3: north, east, south or west.

        Returns:
            The observation, the reward, whether the goal is reached, False (an episode is never cut here), and "state",
            "goal" and "action_mask".
        """
        if not self.action_space.contains(action):
            raise ValueError(f"action: expected a whole number from 0 to 3, got {action!r}")
        after = int(self._next[self.state, action])
        reward = -float(self._cost[self.state, action]) if after >= 0 else -1.0
        self.state = after if after >= 0 else self.state
        return self._observe(), reward, self.state == self.goal, False, self._info()

    def render(self) -> Any:
        """Draw the map with agent and goal: an array of pixels, a text, or None, as `render_mode` says."""
        if self.render_mode is None:
            return None
        agent, goal = (tuple(self.world.grid.cells[end]) for end in (self.state, self.goal))
        if self.render_mode == "ansi":
            signs = self.world.grid.signs.copy()
            signs[goal], signs[agent] = "G", "A"
            return "\n".join("".join(row) for row in signs) + "\n"
        colors = np.where(self.world.grid.walls[..., None], COLORS["wall"], COLORS["empty"]).astype(np.uint8)
        colors[goal], colors[agent] = COLORS["goal"], COLORS["agent"]
        return colors.repeat(CELL_PIXELS, axis=0).repeat(CELL_PIXELS, axis=1)

    def _observe(self) -> Observation:
        here, there = self._seen[self.state], self._seen[self.goal]
        return {"observation": here.copy(), "achieved_goal": here.copy(), "desired_goal": there.copy()}

    def _info(self) -> dict[str, Any]:
        mask = (self._next[self.state] >= 0).astype(np.int8)
        return {"state": self.state, "goal": self.goal, "action_mask": mask}


def register() -> None:
    """Make `gymnasium.make("trimetric/FourRoom-v0")` and `"trimetric/Maze-v0"` work, with the class's arguments."""
    for name in ("FourRoom", "Maze"):
        if f"trimetric/{name}-v0" not in gymnasium.registry:
            gymnasium.register(
                id=f"trimetric/{name}-v0",
                entry_point="trimetric.rl.worlds.environment:GridEnvironment",
                max_episode_steps=EPISODE_STEPS,
                kwargs={"grid": name},
            )
