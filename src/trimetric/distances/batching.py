"""How many objects and pairs are computed at once, and how each object is computed only once."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

# The one chunking rule of the package.  Without gradients nothing has to be kept, so memory stays bounded, and what a
# distance makes of a thousand pairs stays in cache, in memory that the C library keeps for the next chunk: a 32x32 Wide
# Norm takes twice as long with 4096.  With gradients the caller chooses the batch.
OBJECTS_AT_ONCE = 8192
PAIRS_AT_ONCE = 1024


def in_chunks(function: Callable[..., Tensor], *columns: Tensor, size: int) -> Tensor:
    """Compute `function(*columns)`, `size` rows at a time where no gradient is recorded.

    Args:
        function: a function of tensors of n rows each that computes each row on its own, and returns n rows.
        columns: its arguments.
        size: the number of rows per call, such as `OBJECTS_AT_ONCE` or `PAIRS_AT_ONCE`.

    Returns:
        The n rows of the result.

    Examples:
        >>> with torch.no_grad():
        ...     in_chunks(torch.add, torch.arange(5), torch.ones(5, dtype=torch.long), size=2)
        tensor([1, 2, 3, 4, 5])
    """
    # A compiled or exported program has one shape for all sizes, which a loop over chunks does not.
    if torch.is_grad_enabled() or torch.compiler.is_compiling() or len(columns[0]) <= size:
        return function(*columns)
    parts = zip(*(column.split(size) for column in columns), strict=True)
    return torch.cat([function(*part) for part in parts])


def distinct_rows(objects: Tensor | None, start: Tensor, end: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Keep the rows that pairs refer to, each once.

    Args:
        objects: a table of objects, one row each; None if the indices themselves are the objects.
        start: the row where each pair starts, `(n,)`.
        end: the row where each pair ends, `(n,)`.

    Returns:
        The rows in use, and `start` and `end` as indices of these.

    Examples:
        >>> distinct_rows(torch.tensor([10, 11, 12, 13]), torch.tensor([3, 3]), torch.tensor([1, 3]))
        (tensor([11, 13]), tensor([1, 1]), tensor([0, 1]))
    """
    rows, ends = torch.unique(torch.stack([start, end], dim=1), return_inverse=True)
    return rows if objects is None else objects[rows], ends[:, 0], ends[:, 1]
