"""Value functions of goal-conditioned problems: V(s, g) = -d(phi(s), phi(g)), learned and planned with."""

import typing as _typing
from importlib.util import find_spec as _find_spec

from trimetric.values.collecting import bins_of as bins_of
from trimetric.values.collecting import collect as collect
from trimetric.values.encoder import GridEncoder as GridEncoder
from trimetric.values.known_moves import Agent as Agent
from trimetric.values.known_moves import KnownMoves as KnownMoves
from trimetric.values.known_moves import Plan as Plan
from trimetric.values.known_moves import PlanScore as PlanScore
from trimetric.values.known_moves import goal_pairs as goal_pairs
from trimetric.values.known_moves import judge as judge
from trimetric.values.known_moves import plan as plan
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
from trimetric.values.splits import validation_split as validation_split
from trimetric.values.transition_learning import Method as Method
from trimetric.values.transition_learning import hold_out_goals as hold_out_goals
from trimetric.values.transition_learning import learn_from_transitions as learn_from_transitions
from trimetric.values.transition_learning import transitions_config as transitions_config
from trimetric.values.transitions import Transitions as Transitions
from trimetric.values.transitions import read_transitions as read_transitions
from trimetric.values.worlds import World as World

if _typing.TYPE_CHECKING:
    from trimetric.values.environment import GridEnvironment as GridEnvironment

if _find_spec("gymnasium") is not None:
    from trimetric.values.environment import register as _register

    _register()


def __getattr__(name: str) -> _typing.Any:
    if name == "GridEnvironment":  # needs Gymnasium, the rest does not
        from trimetric.values.environment import GridEnvironment

        return GridEnvironment
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
