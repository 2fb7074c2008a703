"""A learned distance as a function of two vectors, for code that was written for symmetric metrics."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Literal

from numpy.typing import ArrayLike

from trimetric._support import checks

Asymmetry = Literal["refuse", "max", "mean", "directed"]


class MetricCallable:
    r"""`metric(x, y)` of two vectors, as scikit-learn's `metric=` takes it.

    scikit-learn's tree algorithms assume that $d(x, y) = d(y, x)$, and so does its brute-force search among the fitted
    points, which computes one half of the matrix and mirrors it.  With an asymmetric distance both silently return
    wrong neighbors.  So for a distance that does not promise symmetry, `asymmetry` says what to do:

    - `"refuse"`: raise an error at once;
    - `"max"` or `"mean"` of $d(x, y)$ and $d(y, x)$, which is symmetric and keeps the triangle inequality of $d$
      (Proposition 8): correct with every algorithm;
    - `"directed"`: $d(x, y)$ from query to fitted point.  Correct with `algorithm="brute"` for queries other than the
      fitted points; where scikit-learn would assume symmetry, the call raises an error.

    Args:
        distance: a function of two vectors.
        symmetric: whether it promises d(x, y) = d(y, x).
        asymmetry: what to do if it does not.

    Examples:
        >>> uphill = lambda x, y: max(y - x, 0)
        >>> MetricCallable(uphill, symmetric=False, asymmetry="mean")(1.0, 3.0)
        1.0
    """

    def __init__(
        self, distance: Callable[[ArrayLike, ArrayLike], float], *, symmetric: bool, asymmetry: Asymmetry = "refuse"
    ) -> None:
        checks.one_of("asymmetry", asymmetry, ("refuse", "max", "mean", "directed"))
        if not symmetric and asymmetry == "refuse":
            raise ValueError(
                "asymmetry: expected 'max', 'mean' or 'directed' for a distance that is not symmetric, got 'refuse'; "
                "scikit-learn assumes d(x, y) = d(y, x) and would return wrong neighbors. "
                "nearest_neighbors() and metric='precomputed' with pairwise() need no symmetry"
            )
        self.distance = distance
        self.asymmetry: Asymmetry = "refuse" if symmetric else asymmetry

    def __call__(self, x: ArrayLike, y: ArrayLike) -> float:
        if self.asymmetry == "directed":
            _refuse_where_symmetry_is_assumed()
        there = self.distance(x, y)
        if self.asymmetry not in ("max", "mean"):
            return there
        back = self.distance(y, x)
        return max(there, back) if self.asymmetry == "max" else (there + back) / 2


def _refuse_where_symmetry_is_assumed() -> None:
    """Nothing that a metric is given tells who asks, so look at the caller: within scikit-learn only the loop
    over all pairs of two different sets is known to be right."""
    caller = sys._getframe(2)
    module = caller.f_globals.get("__name__", "")
    if not module.startswith("sklearn."):
        return
    x, y = caller.f_locals.get("X"), caller.f_locals.get("Y")
    if module != "sklearn.metrics.pairwise" or x is None or y is None or x is y:
        raise ValueError(
            "metric: expected algorithm='brute' and queries other than the fitted points for a directed distance, "
            f"got a call from {module} that assumes symmetry; "
            "use nearest_neighbors(), or metric='precomputed' with pairwise()"
        )
