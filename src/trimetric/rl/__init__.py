"""Value functions of goal-conditioned problems: V(s, g) = -d(phi(s), phi(g)), learned and planned with."""

import typing as _typing
from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec

from trimetric._support.moved import renamed as _renamed
from trimetric.rl.evaluation import Along as Along
from trimetric.rl.evaluation import Diagnosis as Diagnosis
from trimetric.rl.evaluation import Evaluation as Evaluation
from trimetric.rl.evaluation import Failures as Failures
from trimetric.rl.evaluation import Mean as Mean
from trimetric.rl.evaluation import StepRatio as StepRatio
from trimetric.rl.evaluation import classify_failures as classify_failures
from trimetric.rl.evaluation import comparison_table as comparison_table
from trimetric.rl.evaluation import diagnose as diagnose
from trimetric.rl.evaluation import evaluate as evaluate
from trimetric.rl.evaluation import mean_over_seeds as mean_over_seeds
from trimetric.rl.evaluation import save_value_fields as save_value_fields
from trimetric.rl.learning import GridEncoder as GridEncoder
from trimetric.rl.learning import LearnedDistance as LearnedDistance
from trimetric.rl.learning import LearnedGoals as LearnedGoals
from trimetric.rl.learning import Method as Method
from trimetric.rl.learning import Split as Split
from trimetric.rl.learning import goal_model as goal_model
from trimetric.rl.learning import hold_out_goals as hold_out_goals
from trimetric.rl.learning import learn_distance as learn_distance
from trimetric.rl.learning import learn_from_transitions as learn_from_transitions
from trimetric.rl.learning import learn_goal_distance as learn_goal_distance
from trimetric.rl.learning import learn_values as learn_values
from trimetric.rl.learning import paper_config as paper_config
from trimetric.rl.learning import some_pairs as some_pairs
from trimetric.rl.learning import split_pairs as split_pairs
from trimetric.rl.learning import transitions_config as transitions_config
from trimetric.rl.learning import validation_split as validation_split
from trimetric.rl.learning import value_model as value_model
from trimetric.rl.learning import values_of as values_of
from trimetric.rl.objectives import ActionInvariant as ActionInvariant
from trimetric.rl.objectives import Constrained as Constrained
from trimetric.rl.objectives import Contrastive as Contrastive
from trimetric.rl.objectives import Eikonal as Eikonal
from trimetric.rl.objectives import Multistep as Multistep
from trimetric.rl.objectives import Objective as Objective
from trimetric.rl.objectives import TemporalDifference as TemporalDifference
from trimetric.rl.planning import Agent as Agent
from trimetric.rl.planning import Plan as Plan
from trimetric.rl.planning import Score as Score
from trimetric.rl.planning import evaluate_values as evaluate_values
from trimetric.rl.planning import follow as follow
from trimetric.rl.planning import goal_pairs as goal_pairs
from trimetric.rl.planning import greedy_actions as greedy_actions
from trimetric.rl.planning import judge as judge
from trimetric.rl.planning import plan as plan
from trimetric.rl.planning import spl_of_pairs as spl_of_pairs
from trimetric.rl.policies import ActorPolicy as ActorPolicy
from trimetric.rl.policies import Dynamics as Dynamics
from trimetric.rl.policies import GraphPolicy as GraphPolicy
from trimetric.rl.policies import GreedyPolicy as GreedyPolicy
from trimetric.rl.policies import LearnedPolicy as LearnedPolicy
from trimetric.rl.policies import LocalPolicy as LocalPolicy
from trimetric.rl.policies import LoggedMoves as LoggedMoves
from trimetric.rl.policies import NearestGoalPolicy as NearestGoalPolicy
from trimetric.rl.policies import Policy as Policy
from trimetric.rl.policies import WaypointPolicy as WaypointPolicy
from trimetric.rl.policies import clone_behavior as clone_behavior
from trimetric.rl.policies import distil_policy as distil_policy
from trimetric.rl.policies import learn_actor as learn_actor
from trimetric.rl.policies import learn_dynamics as learn_dynamics
from trimetric.rl.policies import learn_local_policy as learn_local_policy
from trimetric.rl.policies import learn_policy as learn_policy
from trimetric.rl.policies import load_policy as load_policy
from trimetric.rl.policies import save_policy as save_policy
from trimetric.rl.trajectories import Trajectories as Trajectories
from trimetric.rl.trajectories import read_trajectories as read_trajectories
from trimetric.rl.trajectories import record as record
from trimetric.rl.transitions import KnownMoves as KnownMoves
from trimetric.rl.transitions import Transitions as Transitions
from trimetric.rl.transitions import bins_of as bins_of
from trimetric.rl.transitions import collect as collect
from trimetric.rl.transitions import read_transitions as read_transitions
from trimetric.rl.worlds import FOUR_ROOM as FOUR_ROOM
from trimetric.rl.worlds import MAZE as MAZE
from trimetric.rl.worlds import DirectedPoint as DirectedPoint
from trimetric.rl.worlds import ExactDistances as ExactDistances
from trimetric.rl.worlds import Flow as Flow
from trimetric.rl.worlds import GridMap as GridMap
from trimetric.rl.worlds import GymnasiumTasks as GymnasiumTasks
from trimetric.rl.worlds import MountainCar as MountainCar
from trimetric.rl.worlds import Pendulum as Pendulum
from trimetric.rl.worlds import Task as Task
from trimetric.rl.worlds import TaskWorld as TaskWorld
from trimetric.rl.worlds import World as World
from trimetric.rl.worlds import directed_trajectories as directed_trajectories
from trimetric.rl.worlds import random_maze as random_maze
from trimetric.rl.worlds import random_trajectories as random_trajectories
from trimetric.rl.worlds import read_map as read_map

if _typing.TYPE_CHECKING:
    from trimetric.rl.worlds.environment import GridEnvironment as GridEnvironment
    from trimetric.rl.worlds.pointmaze.recipe import pointmaze_trajectories as pointmaze_trajectories
    from trimetric.rl.worlds.pointmaze.simulator import PointMaze as PointMaze

if _find_spec("gymnasium") is not None:
    from trimetric.rl.worlds.environment import register as _register

    _register()

_old_name = _renamed(__name__, {"PlanScore": "trimetric.rl.Score"}, stacklevel=3)


_OPTIONAL = {  # need Gymnasium or MuJoCo; the rest does not
    "GridEnvironment": "trimetric.rl.worlds.environment",
    "PointMaze": "trimetric.rl.worlds.pointmaze.simulator",
    "pointmaze_trajectories": "trimetric.rl.worlds.pointmaze.recipe",
}


def __getattr__(name: str) -> _typing.Any:
    return getattr(_import_module(_OPTIONAL[name]), name) if name in _OPTIONAL else _old_name(name)
