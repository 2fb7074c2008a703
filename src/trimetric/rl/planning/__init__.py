"""Planning with a distance: in a world, over the known moves of a log, and in an environment."""

from trimetric._support.moved import renamed as _renamed
from trimetric.rl.planning.agent import Agent as Agent
from trimetric.rl.planning.in_world import MAX_STEPS as MAX_STEPS
from trimetric.rl.planning.in_world import GoalValue as GoalValue
from trimetric.rl.planning.in_world import evaluate_values as evaluate_values
from trimetric.rl.planning.in_world import follow as follow
from trimetric.rl.planning.in_world import greedy_actions as greedy_actions
from trimetric.rl.planning.in_world import score as score
from trimetric.rl.planning.in_world import spl_of_pairs as spl_of_pairs
from trimetric.rl.planning.outcome import Plan as Plan
from trimetric.rl.planning.outcome import Score as Score
from trimetric.rl.planning.over_moves import goal_pairs as goal_pairs
from trimetric.rl.planning.over_moves import judge as judge
from trimetric.rl.planning.over_moves import plan as plan

__getattr__ = _renamed(
    __name__,
    {"Walks": "trimetric.rl.Plan", "PlanScore": "trimetric.rl.Score", "evaluate": "trimetric.rl.evaluate_values"},
)
