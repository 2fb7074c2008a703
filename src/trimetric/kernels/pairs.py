"""What the kernels of all pairs read and return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

# What all_pairs keeps of n points: tensors with n rows, nested as the object that made them likes.
Projection = Any
# The projections of n and of m points to the components (n, m, k) of all pairs.
PairFunction = Callable[[Projection, Projection], Tensor]
