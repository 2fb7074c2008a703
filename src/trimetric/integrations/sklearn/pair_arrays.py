"""The forms in which pairs of objects come as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

PairsLike = ArrayLike | tuple[ArrayLike, ArrayLike]


def side_by_side(X: PairsLike) -> Any:  # noqa: N803
    """Pairs in any form as `(n, 2 d)`; anything else is left to scikit-learn's checks."""
    if isinstance(X, tuple):
        if len(X) != 2 or any(np.ndim(end) != 2 for end in X) or np.shape(X[0]) != np.shape(X[1]):
            raise ValueError(
                f"X: expected a tuple of two arrays of one shape (n, d), got shapes {[np.shape(end) for end in X]}"
            )
        return np.concatenate([np.asarray(end) for end in X], axis=1)
    if isinstance(X, list) and _depth(X) == 3:
        X = np.asarray(X)  # noqa: N806
    if isinstance(X, (np.ndarray, Tensor)) and X.ndim == 3:
        if X.shape[1] != 2:
            raise ValueError(f"X: expected pairs of shape (n, 2, d), got shape {tuple(X.shape)}")
        return np.asarray(X).reshape(len(X), -1)
    return X


def _depth(value: Any) -> int:
    """How deep lists are nested, by their first items."""
    return 1 + _depth(value[0]) if isinstance(value, (list, tuple)) and value else int(np.ndim(value))
