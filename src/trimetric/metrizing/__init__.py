"""Turn any function, or any table of scores, into a metric: `metrize`, `metrize_scores` and what they return."""

from trimetric.metrizing.functions import Metrized as Metrized
from trimetric.metrizing.functions import metrize as metrize
from trimetric.metrizing.report import MetrizeReport as MetrizeReport
from trimetric.metrizing.scores import MetrizedScores as MetrizedScores
from trimetric.metrizing.scores import metrize_scores as metrize_scores
