"""OGBench's own environment of each maze, which holds the MuJoCo model, the walls and the tasks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal

from trimetric._support.optional import optional

Maze = Literal["medium", "large", "giant", "teleport"]


@contextmanager
def _without_screen() -> Iterator[None]:
    """Keep MuJoCo from looking for a window system while it is imported, unless there is one or the user chose."""
    quiet = "MUJOCO_GL" not in os.environ and "DISPLAY" not in os.environ
    if quiet:
        os.environ["MUJOCO_GL"] = "disabled"
    try:
        yield
    finally:
        if quiet:
            del os.environ["MUJOCO_GL"]


with _without_screen():
    optional("ogbench.locomaze", needed_for="pointmaze", extra="rl")  # registers the environments
    gymnasium = optional("gymnasium", needed_for="pointmaze", extra="rl")
    mujoco = optional("mujoco", needed_for="pointmaze", extra="rl")


@cache
def load_environment(maze: Maze) -> Any:
    """Make the environment of a maze, once for each; it needs no screen."""
    return gymnasium.make(f"pointmaze-{maze}-v0").unwrapped
