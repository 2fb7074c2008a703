"""Value functions of goal-conditioned problems: V(s, g) = -d(phi(s), phi(g)), learned and planned with."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from trimetric.values.maps import FOUR_ROOM as FOUR_ROOM
from trimetric.values.maps import MAZE as MAZE
from trimetric.values.maps import GridMap as GridMap
from trimetric.values.maps import random_maze as random_maze
from trimetric.values.maps import read_map as read_map
from trimetric.values.worlds import World as World

if TYPE_CHECKING:
    from trimetric.values.environment import GridEnvironment as GridEnvironment

if find_spec("gymnasium") is not None:
    from trimetric.values.environment import register as _register

    _register()


def __getattr__(name: str) -> Any:
    if name == "GridEnvironment":  # needs Gymnasium, the rest does not
        from trimetric.values.environment import GridEnvironment

        return GridEnvironment
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
