"""Training on pairs of objects and their distances: `fit`, `fit_many` and what they take."""

from trimetric._support.moved import renamed
from trimetric.training.config import Epoch as Epoch
from trimetric.training.config import History as History
from trimetric.training.config import TrainingConfig as TrainingConfig
from trimetric.training.distilling import DistillationConfig as DistillationConfig
from trimetric.training.distilling import distil as distil
from trimetric.training.fitting import fit as fit
from trimetric.training.fitting import fit_many as fit_many
from trimetric.training.learning import LearnedPairs as LearnedPairs
from trimetric.training.learning import learn_pairs as learn_pairs
from trimetric.training.losses import CustomLoss as CustomLoss
from trimetric.training.pair_errors import PairErrors as PairErrors
from trimetric.training.teachers import Probe as Probe
from trimetric.training.teachers import Teacher as Teacher

__getattr__ = renamed(
    __name__,
    {
        name: f"trimetric.{name}"
        for name in ("MetrizeReport", "Metrized", "MetrizedScores", "metrize", "metrize_scores")
    },
)
