"""How well policies reach goals, why they fail, and what a learned distance got wrong."""

from trimetric.rl.evaluation.evaluating import evaluate as evaluate
from trimetric.rl.evaluation.result import Evaluation as Evaluation
from trimetric.rl.evaluation.result import Mean as Mean
from trimetric.rl.evaluation.result import comparison_table as comparison_table
from trimetric.rl.evaluation.result import mean_over_seeds as mean_over_seeds
