"""Learning values: by temporal differences in a world, and from logged transitions alone."""

from trimetric.rl.learning.distance import LearnedDistance as LearnedDistance
from trimetric.rl.learning.distance import learn_distance as learn_distance
from trimetric.rl.learning.encoder import GridEncoder as GridEncoder
from trimetric.rl.learning.from_transitions import Method as Method
from trimetric.rl.learning.from_transitions import learn_from_transitions as learn_from_transitions
from trimetric.rl.learning.from_transitions import transitions_config as transitions_config
from trimetric.rl.learning.from_world import learn_values as learn_values
from trimetric.rl.learning.from_world import paper_config as paper_config
from trimetric.rl.learning.from_world import value_model as value_model
from trimetric.rl.learning.from_world import values_of as values_of
from trimetric.rl.learning.goal_distance import LearnedGoals as LearnedGoals
from trimetric.rl.learning.goal_distance import learn_goal_distance as learn_goal_distance
from trimetric.rl.learning.goal_models import goal_model as goal_model
from trimetric.rl.learning.splits import Split as Split
from trimetric.rl.learning.splits import hold_out_goals as hold_out_goals
from trimetric.rl.learning.splits import some_pairs as some_pairs
from trimetric.rl.learning.splits import split_pairs as split_pairs
from trimetric.rl.learning.splits import validation_split as validation_split
