"""Matrix products by the faster of the two libraries that torch comes with.

`torch.mm` calls MKL, which uses half of the vector unit of AMD's processors with AVX-512; oneDNN uses all of it
(`python -m benchmarks products`).  oneDNN prepares each new shape for up to milliseconds, so `padded` keeps the number
of shapes small.  For other processors, dtypes and small products everything here is `torch.mm`.
"""

from __future__ import annotations

import functools
import platform
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

ROWS = 64
"""numbers of rows are rounded up to a multiple of this"""
WORTH_PREPARING = 1 << 21
"""multiplications below which a call of oneDNN takes longer than the product"""

NARROW = 8
"""the least number of rows and columns of a matrix that oneDNN gets"""


def has_onednn() -> bool:
    """Whether this build of torch can compute products by oneDNN."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


@functools.cache
def prefers_onednn() -> bool:
    """Whether products of this processor are faster by oneDNN, as its maker and its instructions tell."""
    return has_onednn() and torch.backends.cpu.get_cpu_capability().startswith("AVX512") and _made_by_amd()


def _made_by_amd() -> bool:
    described = Path("/proc/cpuinfo")
    text = described.read_text(errors="replace") if described.exists() else platform.processor()
    return "AuthenticAMD" in text


def padded(x: Float[Tensor, "n k"]) -> Float[Tensor, "p k"]:
    """Append rows of zeros up to a number of rows for which oneDNN is likely to be prepared.

    Args:
        x: the rows of a factor.

    Returns:
        `x` itself where that is of no use.
    """
    return with_rows(x, -(-len(x) // ROWS) * ROWS) if len(x) > ROWS and by_onednn(x) else x


def with_rows(x: Float[Tensor, "n k"], count: int) -> Float[Tensor, "p k"]:
    """Append rows of zeros up to a number of rows, that of a padded factor.

    Args:
        x: the rows.
        count: how many there shall be.
    """
    return x if len(x) == count else F.pad(x, (0, 0, 0, count - len(x)))


def times_transposed(
    x: Float[Tensor, "n k"],
    weight: Float[Tensor, "m k"],
    bias: Float[Tensor, " m"] | None = None,
    *,
    relu: bool = False,
) -> Float[Tensor, "n m"]:
    """Compute `x @ weight.mT + bias`, without gradients.

    Args:
        x: the rows.
        weight: the matrix, as layers keep it.
        bias: added to each row.
        relu: whether negative results become 0.

    Examples:
        >>> times_transposed(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [-1.0, 0.0]]), relu=True)
        tensor([[11.,  0.]])
    """
    if uses_onednn(x, weight):
        if not (weight.is_contiguous() or weight.mT.is_contiguous()):
            weight = weight.contiguous()  # other strides take a thousand times as long
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "relu" if relu else "none", [], "")
    found = torch.mm(x, weight.mT) if bias is None else torch.addmm(bias, x, weight.mT)
    return found.relu_() if relu else found


def times(x: Float[Tensor, "n k"], weight: Float[Tensor, "k m"]) -> Float[Tensor, "n m"]:
    """Compute `x @ weight`, without gradients.

    Args:
        x: the rows.
        weight: the matrix.
    """
    return times_transposed(x, weight.mT)


def transposed_times(a: Float[Tensor, "n k"], b: Float[Tensor, "n m"]) -> Float[Tensor, "k m"]:
    """Compute `a.mT @ b`, without gradients.

    Args:
        a: the rows that become columns.
        b: the other rows.
    """
    if a.shape[1] > b.shape[1] and uses_onednn(b.mT, a.mT):  # which copies its first factor
        return times_transposed(b.mT, a.mT).mT.contiguous()
    return times_transposed(a.mT, b.mT)


def uses_onednn(x: Float[Tensor, "n k"], weight: Float[Tensor, "m k"]) -> bool:
    """Whether `times_transposed` calls oneDNN for these factors.

    Args:
        x: the rows.
        weight: the matrix.
    """
    return len(x) * weight.numel() >= WORTH_PREPARING and min(weight.shape) >= NARROW and by_onednn(x)


def by_onednn(x: Tensor) -> bool:
    """Whether large products with factors of this dtype and on this device are computed by oneDNN.

    Args:
        x: a factor, of any size.
    """
    return x.dtype == torch.float32 and x.is_cpu and torch.backends.mkldnn.enabled and prefers_onednn()
