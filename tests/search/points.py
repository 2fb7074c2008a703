"""Points that are hard to search among."""

from __future__ import annotations

import torch
import zoo
from torch import Tensor


def hard_points(kind: str, dim: int, dtype: torch.dtype, *, n: int = 80, seed: int = 1) -> tuple[Tensor, Tensor]:
    """Points and queries."""
    generator = torch.Generator().manual_seed(seed)
    points = torch.randn(n, dim, generator=generator, dtype=dtype)
    if kind == "awkward":
        points = zoo.awkward_points(n, dim, dtype)
    if kind == "duplicates":
        points = points[torch.randint(20, (n,), generator=generator)]
    if kind == "grid":
        points = torch.randint(3, (n, dim), generator=generator).to(dtype)
    if kind == "outliers":
        points[::30] *= 1e6
    if kind == "shifted":
        points = points + 1000
    queries = torch.cat([points[::9], points[:5] + 0.1 * torch.randn(5, dim, generator=generator, dtype=dtype)])
    return points, queries
