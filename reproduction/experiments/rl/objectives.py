"""The objectives by name, as they come: no settings were tuned for these worlds."""

from __future__ import annotations

from collections.abc import Callable

from trimetric import rl

LARGEST = {"medium": 300.0, "large": 500.0, "giant": 1000.0, "teleport": 500.0, "directed": 400.0}
"""about the largest distance in each world, which "softplus" must be told"""


def make_objective(name: str, world: str) -> rl.Objective:
    """Build an objective.

    Args:
        name: one of `OBJECTIVES`.
        world: the name of the data.
    """
    return OBJECTIVES[name](LARGEST[world.split("-")[0]])


OBJECTIVES: dict[str, Callable[[float], rl.Objective]] = {
    "sqrt": lambda _: rl.Constrained(push="sqrt"),
    "log": lambda _: rl.Constrained(push="log"),
    "linear": lambda _: rl.Constrained(push="linear"),
    "softplus": lambda reach: rl.Constrained(push="softplus", reach=reach),
    "TD": lambda _: rl.TemporalDifference(),
    "contrastive": lambda _: rl.Contrastive(),
    "TMD": lambda _: rl.ActionInvariant(),
    "MQE": lambda _: rl.Multistep(),
    "Eikonal": lambda _: rl.Eikonal(),
}
