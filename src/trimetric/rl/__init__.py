"""Value functions of goal-conditioned problems: V(s, g) = -d(phi(s), phi(g)), learned and planned with."""

import typing as _typing
from importlib.util import find_spec as _find_spec

from trimetric.rl.learning.encoder import GridEncoder as GridEncoder
from trimetric.rl.learning.from_transitions import Method as Method
from trimetric.rl.learning.from_transitions import hold_out_goals as hold_out_goals
from trimetric.rl.learning.from_transitions import learn_from_transitions as learn_from_transitions
from trimetric.rl.learning.from_transitions import transitions_config as transitions_config
from trimetric.rl.learning.splits import Split as Split
from trimetric.rl.learning.splits import some_pairs as some_pairs
from trimetric.rl.learning.splits import split_pairs as split_pairs
from trimetric.rl.learning.splits import validation_split as validation_split
from trimetric.rl.learning.temporal_difference import learn_values as learn_values
from trimetric.rl.learning.temporal_difference import paper_config as paper_config
from trimetric.rl.learning.temporal_difference import value_model as value_model
from trimetric.rl.learning.temporal_difference import values_of as values_of
from trimetric.rl.planning.known_moves import Agent as Agent
from trimetric.rl.planning.known_moves import KnownMoves as KnownMoves
from trimetric.rl.planning.known_moves import Plan as Plan
from trimetric.rl.planning.known_moves import PlanScore as PlanScore
from trimetric.rl.planning.known_moves import goal_pairs as goal_pairs
from trimetric.rl.planning.known_moves import judge as judge
from trimetric.rl.planning.known_moves import plan as plan
from trimetric.rl.planning.walks import Score as Score
from trimetric.rl.planning.walks import evaluate as evaluate
from trimetric.rl.planning.walks import follow as follow
from trimetric.rl.planning.walks import greedy_actions as greedy_actions
from trimetric.rl.transitions.collecting import bins_of as bins_of
from trimetric.rl.transitions.collecting import collect as collect
from trimetric.rl.transitions.log import Transitions as Transitions
from trimetric.rl.transitions.log import read_transitions as read_transitions
from trimetric.rl.worlds.maps import FOUR_ROOM as FOUR_ROOM
from trimetric.rl.worlds.maps import MAZE as MAZE
from trimetric.rl.worlds.maps import GridMap as GridMap
from trimetric.rl.worlds.maps import random_maze as random_maze
from trimetric.rl.worlds.maps import read_map as read_map
from trimetric.rl.worlds.world import World as World

if _typing.TYPE_CHECKING:
    from trimetric.rl.worlds.environment import GridEnvironment as GridEnvironment

if _find_spec("gymnasium") is not None:
    from trimetric.rl.worlds.environment import register as _register

    _register()


def __getattr__(name: str) -> _typing.Any:
    if name == "GridEnvironment":  # needs Gymnasium, the rest does not
        from trimetric.rl.worlds.environment import GridEnvironment

        return GridEnvironment
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
