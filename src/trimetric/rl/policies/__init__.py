"""Policies: from an observation and a goal to an action."""

from trimetric.rl.policies.actor import ActorPolicy as ActorPolicy
from trimetric.rl.policies.actor import LocalPolicy as LocalPolicy
from trimetric.rl.policies.distilling import distil_policy as distil_policy
from trimetric.rl.policies.dynamics import Dynamics as Dynamics
from trimetric.rl.policies.dynamics import learn_dynamics as learn_dynamics
from trimetric.rl.policies.goal_sets import NearestGoalPolicy as NearestGoalPolicy
from trimetric.rl.policies.graph import GraphPolicy as GraphPolicy
from trimetric.rl.policies.greedy import GreedyPolicy as GreedyPolicy
from trimetric.rl.policies.greedy import LoggedMoves as LoggedMoves
from trimetric.rl.policies.learning import clone_behavior as clone_behavior
from trimetric.rl.policies.learning import learn_actor as learn_actor
from trimetric.rl.policies.learning import learn_local_policy as learn_local_policy
from trimetric.rl.policies.policy import Policy as Policy
from trimetric.rl.policies.policy import load_policy as load_policy
from trimetric.rl.policies.policy import save_policy as save_policy
from trimetric.rl.policies.recipe import LearnedPolicy as LearnedPolicy
from trimetric.rl.policies.recipe import learn_policy as learn_policy
from trimetric.rl.policies.waypoints import WaypointPolicy as WaypointPolicy
