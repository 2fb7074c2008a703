"""Learning a distance from labels: classes, similar and dissimilar pairs, triplets and quadruplets."""

from trimetric.labels.fitting import fit_labels as fit_labels
from trimetric.labels.fitting import fit_tuples as fit_tuples
from trimetric.labels.losses import ContrastiveLoss as ContrastiveLoss
from trimetric.labels.losses import LabelLoss as LabelLoss
from trimetric.labels.losses import LabelLossName as LabelLossName
from trimetric.labels.losses import MultiSimilarityLoss as MultiSimilarityLoss
from trimetric.labels.losses import NTXentLoss as NTXentLoss
from trimetric.labels.losses import ProxyLoss as ProxyLoss
from trimetric.labels.losses import TripletLoss as TripletLoss
from trimetric.labels.losses import make_label_loss as make_label_loss
