from trimetric.distances.base import Distance as Distance
from trimetric.distances.combine import Discounted as Discounted
from trimetric.distances.combine import WideMetric as WideMetric
from trimetric.distances.neural_metric import NeuralMetric as NeuralMetric
from trimetric.distances.norm_induced import NormInduced as NormInduced
from trimetric.distances.norm_induced import as_distance as as_distance
from trimetric.distances.unconstrained import ConvexNetwork as ConvexNetwork
from trimetric.distances.unconstrained import MLPDistance as MLPDistance
