"""Value functions of goal-conditioned problems: V(s, g) = -d(phi(s), phi(g)), learned and planned with."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from trimetric.values.encoder import GridEncoder as GridEncoder
from trimetric.values.learning import learn_values as learn_values
from trimetric.values.learning import paper_config as paper_config
from trimetric.values.learning import value_model as value_model
from trimetric.values.learning import values_of as values_of
from trimetric.values.maps import FOUR_ROOM as FOUR_ROOM
from trimetric.values.maps import MAZE as MAZE
from trimetric.values.maps import GridMap as GridMap
from trimetric.values.maps import random_maze as random_maze
from trimetric.values.maps import read_map as read_map
from trimetric.values.planning import Score as Score
from trimetric.values.planning import evaluate as evaluate
from trimetric.values.planning import follow as follow
from trimetric.values.planning import greedy_actions as greedy_actions
from trimetric.values.splits import Split as Split
from trimetric.values.splits import some_pairs as some_pairs
from trimetric.values.splits import split_pairs as split_pairs
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
