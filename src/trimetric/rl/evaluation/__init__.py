"""How well policies reach goals, why they fail, and which errors a learned distance makes."""

from trimetric.rl.evaluation.diagnosis import Along as Along
from trimetric.rl.evaluation.diagnosis import Diagnosis as Diagnosis
from trimetric.rl.evaluation.diagnosis import StepRatio as StepRatio
from trimetric.rl.evaluation.diagnosis import diagnose as diagnose
from trimetric.rl.evaluation.evaluating import evaluate as evaluate
from trimetric.rl.evaluation.failures import Failures as Failures
from trimetric.rl.evaluation.failures import classify_failures as classify_failures
from trimetric.rl.evaluation.pictures import save_value_fields as save_value_fields
from trimetric.rl.evaluation.result import Evaluation as Evaluation
from trimetric.rl.evaluation.result import Mean as Mean
from trimetric.rl.evaluation.result import comparison_table as comparison_table
from trimetric.rl.evaluation.result import mean_over_seeds as mean_over_seeds
