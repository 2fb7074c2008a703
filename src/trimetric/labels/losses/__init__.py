"""Losses of distances against labels: a file each."""

from trimetric.labels.losses.base import LabelLoss as LabelLoss
from trimetric.labels.losses.contrastive import ContrastiveLoss as ContrastiveLoss
from trimetric.labels.losses.multi_similarity import MultiSimilarityLoss as MultiSimilarityLoss
from trimetric.labels.losses.named import LabelLossName as LabelLossName
from trimetric.labels.losses.named import make_label_loss as make_label_loss
from trimetric.labels.losses.nt_xent import NTXentLoss as NTXentLoss
from trimetric.labels.losses.proxy import ProxyLoss as ProxyLoss
from trimetric.labels.losses.triplet import TripletLoss as TripletLoss
