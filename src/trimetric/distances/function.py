"""A plain Python function as a distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric._audit.axioms import NOTHING, Axioms
from trimetric._support import checks
from trimetric.distances.base import Distance

PairedFunction = Callable[[Tensor, Tensor], Any]


class FunctionDistance(Distance):
    """Any function of two batches of points.  **It promises nothing**, unless you say so.

    The function is always called with two tensors of the same shape `(n, dim)`, so it may be anything that
    compares rows: a scikit-learn model, a simulator, a call to a service.  It may return a tensor or a NumPy array.
    It gets copies, and may change them.  If it leaves torch, as `x.numpy()` does, its values have no gradient.

    A model file contains no code, so a `Model` with a Python function cannot be saved.  If the function is a
    `torch.nn.Module` that is a subclass of `trimetric.Described`, the model can be saved.

    Args:
        function: maps two tensors `(n, dim)` to n numbers.
        dim: size of the last axis.
        symmetric: whether it promises f(x, y) = f(y, x).

    Examples:
        >>> distance = FunctionDistance(lambda x, y: np.abs(x.numpy() - y.numpy()).sum(axis=1), 2)
        >>> distance(torch.zeros(3, 2), torch.ones(3, 2))
        tensor([2., 2., 2.])
    """

    def __init__(self, function: PairedFunction, dim: int, *, symmetric: bool = False) -> None:
        if isinstance(function, type) or not callable(function):
            got = f"the class {function.__name__}" if isinstance(function, type) else type(function).__name__
            raise TypeError(f"function: expected a function of two tensors, got {got}")
        super().__init__(dim, num_components=1, pool="mean")
        self.function = function
        self.axioms: Axioms = NOTHING.but(symmetric=checks.boolean("symmetric", symmetric))

    def extra_repr(self) -> str:
        return f"{getattr(self.function, '__name__', type(self.function).__name__)}, dim={self.dim}"

    def components(
        self, x: Float[Tensor, "*#batch dim"], y: Float[Tensor, "*#batch dim"]
    ) -> Float[Tensor, "*#batch 1"]:
        left, right = torch.broadcast_tensors(x, y)
        values = self._ask(left, right)
        if not torch.compiler.is_compiling():
            values = _checked(values, left.shape[:-1].numel())
        return values.to(x).reshape(*left.shape[:-1], 1)

    def _ask(self, x: Tensor, y: Tensor) -> Any:
        """What the function says of copies of the points; without gradients where it cannot have them."""
        if torch.compiler.is_compiling() or not (x.requires_grad or y.requires_grad):
            return self.function(self._copy(x), self._copy(y))
        try:
            return self.function(self._copy(x), self._copy(y))
        except RuntimeError as error:
            if "requires grad" not in str(error):
                raise
        return self.function(self._copy(x.detach()), self._copy(y.detach()))

    def _copy(self, points: Tensor) -> Tensor:
        return points.clone(memory_format=torch.contiguous_format).view(-1, self.dim)

    @property
    def definition_floats(self) -> int:
        weights = 0 if not isinstance(self.function, nn.Module) else sum(p.shape[0] for p in self.function.parameters())
        return 4 * self.dim + 4 + weights


def _checked(values: object, count: int) -> Tensor:
    """The values as a tensor, if they are one real number for each pair."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        # A copy, as torch takes no array that is read-only, reversed or of long doubles.
        values = torch.from_numpy(np.array(values, np.float64 if values.dtype.kind == "f" else None))
    if isinstance(values, Tensor) and tuple(values.shape) == (count,) and not values.is_complex():
        return values
    got = type(values).__name__
    if isinstance(values, (Tensor, np.ndarray)):
        got = f"shape {tuple(values.shape)} and dtype {values.dtype}"
    raise ValueError(
        f"function: expected a tensor or NumPy array of shape ({count},), one real number for each pair, got {got}"
    )
