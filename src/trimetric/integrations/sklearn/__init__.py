"""scikit-learn estimators that learn a distance, and a distance as a metric of scikit-learn."""

from trimetric.integrations.sklearn.estimators import DistanceRegressor as DistanceRegressor
from trimetric.integrations.sklearn.estimators import LearnedMetricTransformer as LearnedMetricTransformer
from trimetric.integrations.sklearn.metric_callable import MetricCallable as MetricCallable
from trimetric.integrations.sklearn.metric_classifier import MetricClassifier as MetricClassifier
from trimetric.integrations.sklearn.metric_learner import MetricLearner as MetricLearner
from trimetric.integrations.sklearn.neighbors import NeighborsTransformer as NeighborsTransformer
