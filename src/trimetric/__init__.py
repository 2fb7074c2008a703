"""Learned distances that can never break the triangle inequality."""

# Names are imported on first use: the command answers `--help` before torch has loaded.  A new public name goes into
# the table, and into the imports for type checkers below it; tests/test_names.py compares the two.  Sub-modules need
# neither: `trimetric.losses` is imported when it is asked for.

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_NAMES = {
    "trimetric.all_pairs": ["all_pairs"],
    "trimetric.audit": ["Audit", "audit"],
    "trimetric.axioms": ["Axioms"],
    "trimetric.distances": [
        "BandMetric",
        "Calibrated",
        "ConvexNetwork",
        "Discounted",
        "Distance",
        "IntervalQuasimetric",
        "LandmarkBound",
        "MLPDistance",
        "NeuralMetric",
        "NormInduced",
        "PoissonQuasimetric",
        "RandersMetric",
        "ResidualMetric",
        "SymmetrizedMetric",
        "TollMetric",
        "WideMetric",
    ],
    "trimetric.encoders": ["MLP"],
    "trimetric.export": ["export"],
    "trimetric.model": ["Model"],
    "trimetric.norms": [
        "Asymmetrized",
        "CombinedNorm",
        "DeepNorm",
        "Euclidean",
        "Mahalanobis",
        "Norm",
        "PolyhedralNorm",
        "PositiveDefinite",
        "Symmetrized",
        "WideNorm",
    ],
    "trimetric.recommended": ["recommended"],
    "trimetric.siamese": ["Siamese"],
    "trimetric.training": ["fit", "fit_many"],
    "trimetric.training_config": ["Epoch", "History", "TrainingConfig"],
}

if TYPE_CHECKING:
    from trimetric import adapters as adapters
    from trimetric import estimators as estimators
    from trimetric import graphs as graphs
    from trimetric import nearness as nearness
    from trimetric import values as values
    from trimetric.all_pairs import all_pairs as all_pairs
    from trimetric.audit import Audit as Audit
    from trimetric.audit import audit as audit
    from trimetric.axioms import Axioms as Axioms
    from trimetric.distances import BandMetric as BandMetric
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

_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_MODULE_OF)
    if name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value
    if not name.startswith("_"):
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    # What this file imports for itself is no part of the package.
    dunder = {name for name in globals() if name.startswith("__")}
    return sorted({*dunder, *_MODULE_OF, "adapters", "estimators", "graphs", "nearness", "values"})


class _Package(ModuleType):
    """Importing a sub-module sets it as an attribute; where a function has the same name, the function is meant."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _MODULE_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
