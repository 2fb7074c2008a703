"""Learned distances that can never break the triangle inequality."""

from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

from trimetric.all_pairs import all_pairs as all_pairs
from trimetric.audit import Audit as Audit
from trimetric.audit import audit as audit
from trimetric.axioms import Axioms as Axioms
from trimetric.distances import Calibrated as Calibrated
from trimetric.distances import ConvexNetwork as ConvexNetwork
from trimetric.distances import Discounted as Discounted
from trimetric.distances import Distance as Distance
from trimetric.distances import IntervalQuasimetric as IntervalQuasimetric
from trimetric.distances import LandmarkBound as LandmarkBound
from trimetric.distances import MLPDistance as MLPDistance
from trimetric.distances import NeuralMetric as NeuralMetric
from trimetric.distances import NormInduced as NormInduced
from trimetric.distances import PoissonQuasimetric as PoissonQuasimetric
from trimetric.distances import RandersMetric as RandersMetric
from trimetric.distances import ResidualMetric as ResidualMetric
from trimetric.distances import SymmetrizedMetric as SymmetrizedMetric
from trimetric.distances import TollMetric as TollMetric
from trimetric.distances import WideMetric as WideMetric
from trimetric.encoders import MLP as MLP
from trimetric.export import export as export
from trimetric.model import Model as Model
from trimetric.norms import Asymmetrized as Asymmetrized
from trimetric.norms import CombinedNorm as CombinedNorm
from trimetric.norms import DeepNorm as DeepNorm
from trimetric.norms import Euclidean as Euclidean
from trimetric.norms import Mahalanobis as Mahalanobis
from trimetric.norms import Norm as Norm
from trimetric.norms import PolyhedralNorm as PolyhedralNorm
from trimetric.norms import PositiveDefinite as PositiveDefinite
from trimetric.norms import Symmetrized as Symmetrized
from trimetric.norms import WideNorm as WideNorm
from trimetric.recommended import recommended as recommended
from trimetric.siamese import Siamese as Siamese
from trimetric.training import fit as fit
from trimetric.training import fit_many as fit_many
from trimetric.training_config import Epoch as Epoch
from trimetric.training_config import History as History
from trimetric.training_config import TrainingConfig as TrainingConfig

__version__ = "0.1.0"

# Imported on first use: they need more than the core does.
_SUBMODULES = ("adapters", "estimators", "nearness")


def __getattr__(name: str) -> _ModuleType:
    if name in _SUBMODULES:
        return _import_module(f"trimetric.{name}")
    raise AttributeError(f"module 'trimetric' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_SUBMODULES])
