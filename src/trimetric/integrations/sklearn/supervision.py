"""The forms in which it is said what is known about objects: classes, pairs, triplets and quadruplets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trimetric._support.optional import needing

with needing("trimetric.integrations.sklearn", "sklearn"):
    from sklearn.utils.multiclass import check_classification_targets


def tuples_of(X: Any) -> NDArray[Any] | None:  # noqa: N803
    """Tuples of objects as an array `(n, t, d)` with t = 2, 3 or 4; None for objects, which scikit-learn checks.

    Args:
        X: objects or tuples of objects.

    Examples:
        >>> tuples_of([[[0.0], [1.0]]]).shape
        (1, 2, 1)
    """
    if (X.ndim if hasattr(X, "ndim") else np.asarray(X).ndim) != 3:
        return None
    array = np.asarray(X)
    if array.shape[1] not in (2, 3, 4) or not array.size:
        raise ValueError(
            "X: expected pairs (n, 2, d), triplets (n, 3, d) or quadruplets (n, 4, d) in a 3-dimensional array, got "
            f"shape {array.shape}"
        )
    return array


def class_numbers(y: ArrayLike) -> NDArray[np.int64]:
    """Classes as numbers from 0.

    Args:
        y: the class of each object.

    Examples:
        >>> class_numbers(["b", "a", "b"])
        array([1, 0, 1])
    """
    check_classification_targets(y)
    values, numbers = np.unique(np.asarray(y), return_inverse=True)
    if len(values) < 2:
        raise ValueError("y: expected at least 2 classes, got 1 class")
    return numbers.astype(np.int64)


def similar_pairs(y: ArrayLike | None, tuples: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Which pairs are similar; None for triplets and quadruplets.

    Args:
        y: +1 or -1 for each pair; None for triplets and quadruplets.
        tuples: `(n, t, d)`.

    Examples:
        >>> similar_pairs([1, -1], np.zeros((2, 2, 3)))
        array([ True, False])
    """
    if tuples.shape[1] > 2:
        if y is not None:
            raise ValueError(
                f"y: expected None with tuples of {tuples.shape[1]}, whose order says which distance is shorter, got "
                "an array"
            )
        return None
    if y is None:
        raise ValueError("y: expected +1 (similar) or -1 (dissimilar) for each pair, got None")
    signs = np.asarray(y)
    if signs.shape != (len(tuples),) or not np.isin(signs, (-1, 1)).all():
        got = f"shape {signs.shape}" if signs.shape != (len(tuples),) else f"values {np.unique(signs)[:5].tolist()}"
        raise ValueError(f"y: expected +1 (similar) or -1 (dissimilar) for each of {len(tuples)} pairs, got {got}")
    if len(np.unique(signs)) < 2:
        raise ValueError(f"y: expected similar and dissimilar pairs, got only {signs[0]:+g}")
    return signs == 1
