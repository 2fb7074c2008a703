"""The methods that are compared: from labeled objects to a function that measures distances."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from trimetric.integrations.sklearn import MetricLearner

Distances = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[Any]]
"""from each query to each labeled object"""

STEPS = 120
BATCH_SIZE = 128
HEADS: dict[str, dict[str, Any]] = {
    "Euclidean Siamese": {"head": "euclidean"},
    "wide, symmetric": {"head": "wide", "symmetric": True},
    "interval": {"head": "interval"},
}
OURS = {
    f"{loss}, {'MLP' if widths else 'linear'}": {"loss": loss, "encoder_widths": widths}
    for loss in ("triplet", "nt_xent")
    for widths in ((), (64,))
}
"""the settings of every head"""

SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "no learning": {"features": {}},
    "LMNN": {
        f"{k} neighbors, regularization {share}": {"n_neighbors": k, "regularization": share}
        for k in (3, 7)
        for share in (0.5, 0.1)
    },
    "NCA": {
        f"{'at most 8 dimensions' if few else 'all dimensions'}, {rounds} iterations": {
            "few": few,
            "max_iter": rounds,
        }
        for few in (False, True)
        for rounds in (30, 100)
    },
    # The prior "covariance" is refused by data with constant or redundant features, so gamma alone is varied.
    "ITML": {f"gamma {gamma}": {"gamma": gamma, "max_iter": 50} for gamma in (0.01, 0.1, 1.0, 10.0)},
    **dict.fromkeys(HEADS, OURS),
}
"""four settings for each method that learns, one of which is chosen on the validation part"""


def learn(
    method: str, setting: str, objects: NDArray[np.float64], y: NDArray[np.int64], *, seed: int, steps: int
) -> Distances:
    """Learn a distance.

    Args:
        method: a key of `SETTINGS`.
        setting: one of its settings.
        objects: what to learn from.
        y: their classes.
        seed: of the method.
        steps: of the optimizer, for methods that are ours.
    """
    options = SETTINGS[method][setting]
    if method == "no learning":
        return cdist
    if method in HEADS:
        epochs = -(-steps // -(-len(objects) // BATCH_SIZE))
        learner = MetricLearner(
            **HEADS[method],
            **options,
            epochs=epochs,
            batch_size=BATCH_SIZE,
            learning_rate=1e-2,
            standardize=False,
            random_state=seed,
        )
        return learner.fit(objects, y).pairwise
    options = dict(options)
    if method == "NCA":
        options["n_components"] = min(8, objects.shape[1]) if options.pop("few") else None
    kind = getattr(_metric_learn(), "ITML_Supervised" if method == "ITML" else method)
    found = kind(random_state=seed, **options).fit(objects, y)
    return lambda queries, labeled: cdist(found.transform(queries), found.transform(labeled))


@functools.cache
def _metric_learn() -> Any:
    """The library metric-learn 0.7, which calls scikit-learn by a keyword that was renamed in 1.6 and removed in 1.8.

    Nothing else of it is changed: `force_all_finite=` is passed on as `ensure_all_finite=`.
    """
    library = import_module("metric_learn")
    for name, module in list(sys.modules.items()):
        if name.startswith("metric_learn"):
            for check in ("check_array", "check_X_y"):
                if hasattr(module, check):
                    setattr(module, check, _with_new_keyword(getattr(module, check)))
    return library


def _with_new_keyword(check: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(check)
    def renamed(*given: Any, force_all_finite: bool = True, **named: Any) -> Any:
        return check(*given, ensure_all_finite=force_all_finite, **named)

    return renamed
