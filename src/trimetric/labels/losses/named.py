"""The losses that can be chosen by name."""

from __future__ import annotations

from typing import Literal

from trimetric._support import checks
from trimetric.labels.losses.base import LabelLoss
from trimetric.labels.losses.contrastive import ContrastiveLoss
from trimetric.labels.losses.multi_similarity import MultiSimilarityLoss
from trimetric.labels.losses.nt_xent import NTXentLoss
from trimetric.labels.losses.proxy import ProxyLoss
from trimetric.labels.losses.triplet import TripletLoss

LabelLossName = Literal["triplet", "contrastive", "nt_xent", "multi_similarity", "proxy"]

LABEL_LOSSES: dict[LabelLossName, type[LabelLoss]] = {
    "triplet": TripletLoss,
    "contrastive": ContrastiveLoss,
    "nt_xent": NTXentLoss,
    "multi_similarity": MultiSimilarityLoss,
    "proxy": ProxyLoss,
}


def make_label_loss(loss: LabelLossName | LabelLoss) -> LabelLoss:
    """Make the loss of that name, with its default settings.

    Args:
        loss: "triplet", "contrastive", "nt_xent", "multi_similarity" or "proxy"; a loss is returned as it is.

    Examples:
        >>> make_label_loss("triplet")
        TripletLoss(margin=0.5, mining='semihard')
    """
    if isinstance(loss, LabelLoss):
        return loss
    if not isinstance(loss, str):
        raise TypeError(f"loss: expected a LabelLoss or a name, such as 'triplet', got {type(loss).__name__}")
    checks.one_of("loss", loss, LABEL_LOSSES)
    return LABEL_LOSSES[loss]()
