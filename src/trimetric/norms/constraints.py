"""Maps from a free ("raw") parameter to the constrained value that a guarantee needs.

A module stores `raw_weight` and reads it through a property `weight = nonnegative(raw_weight)`.  The value
therefore satisfies the constraint at every moment, whatever an optimizer, `load_state_dict`, weight averaging or a
`.data` edit does to the raw tensor: nothing is cached that could become stale.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F


def nonnegative(raw: Tensor) -> Tensor:
    r"""$|w|$: the map that trained best (docs/evidence/heads.md), and its own inverse on values $\ge 0$."""
    return raw.abs()


def positive(raw: Tensor, *, minimum: float) -> Tensor:
    r"""$m + \mathrm{softplus}(w)$: bounded away from 0, where a bare softplus underflows to it."""
    return F.softplus(raw) + minimum


def raw_of_positive(value: float, *, minimum: float) -> float:
    """The raw number that `positive` maps to `value`."""
    return math.log(math.expm1(value - minimum))


def unit_interval(raw: Tensor) -> Tensor:
    r"""$1/(1+e^{-w}) \in [0, 1]$."""
    return torch.sigmoid(raw)


def raw_of_unit_interval(value: float) -> float:
    """The raw number that `unit_interval` maps to `value`."""
    return math.log(value / (1 - value))
