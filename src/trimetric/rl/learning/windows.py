"""What the pictures of a grid world have in common, so that a convolution is computed once for it."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from trimetric.rl.learning.row_sums import RowSums

PLACES = 9


class Windows:
    """The distinct 3 x 3 and 5 x 5 windows of several pictures of one size.

    Pictures of two states of a world differ in two cells only: in the four rooms, 212 of the 68 x 81 windows that the
    first convolution sees are distinct, and 903 of the 68 x 49 that the second one sees.  At each of the 49 positions
    most states show the same window; a dense layer on top is its value for that window, plus the differences for the
    states that show another one.

    Args:
        pictures: observations of all states (n, planes, height, width).

    Attributes:
        first: the distinct 3 x 3 windows, one row each.
        second: map from the nine products of each of their features to the sums of each distinct 5 x 5 window.
        rows: map from the features of those to the inputs of the dense layer, position by position: the features that
            most states show, then the distinct differences from them.
        states: map from the products of these to what each state adds, and, in the last row, to the sum over all
            positions of what most states show.

    Examples:
        >>> from trimetric.rl import World
        >>> windows = Windows(World("FourRoom").observations)
        >>> len(windows.first), windows.second.shape[0]
        (212, 903)
    """

    def __init__(self, pictures: Float[Tensor, "n planes height width"]) -> None:
        n, _, height, width = pictures.shape
        seen = F.unfold(pictures, 3).transpose(1, 2)
        self.first, numbers = torch.unique(seen.flatten(0, 1), dim=0, return_inverse=True)
        places = F.unfold(numbers.view(n, 1, height - 2, width - 2).double(), 3).long().transpose(1, 2)
        distinct, shown = torch.unique(places.flatten(0, 1), dim=0, return_inverse=True)
        shown = shown.view(n, -1)

        targets = torch.arange(len(distinct)).repeat_interleave(PLACES)
        sources = (distinct * PLACES + torch.arange(PLACES)).flatten()
        self.second = RowSums(targets, sources, torch.ones(len(sources)), (len(distinct), len(self.first) * PLACES))
        self.rows, self.states = _differences(shown, len(distinct))


def _differences(shown: Tensor, distinct: int) -> tuple[RowSums, RowSums]:
    """Make the maps `rows` and `states` from the window that each state shows at each position."""
    n, positions = shown.shape
    common = shown.mode(dim=0).values
    others = [torch.unique(shown[shown[:, p] != common[p], p]) for p in range(positions)]
    height = 1 + max(len(windows) for windows in others)
    targets, sources, weights, sums, parts = [], [], [], [], []
    for p, windows in enumerate(others):
        start = p * height
        sums.append(torch.tensor([n]))
        parts.append(torch.tensor([start]))
        targets.append(torch.tensor([start]))
        sources.append(common[p : p + 1])
        weights.append(torch.ones(1))
        here = start + 1 + torch.arange(len(windows))
        for source, sign in ((windows, 1.0), (common[p].expand(len(windows)), -1.0)):
            targets.append(here)
            sources.append(source)
            weights.append(torch.full((len(windows),), sign))
        states, which = (shown[:, p, None] == windows).nonzero().unbind(1)
        sums.append(states)
        parts.append(start + 1 + which)
    rows = RowSums(torch.cat(targets), torch.cat(sources), torch.cat(weights), (positions * height, distinct))
    summed = torch.cat(sums)
    states = RowSums(summed, torch.cat(parts), torch.ones(len(summed)), (n + 1, positions * height))
    return rows, states
