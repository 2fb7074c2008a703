"""What a network reads of a node: its distances to and from landmarks, clean or as noisy as in the paper."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trimetric._support import checks
from trimetric._support.renamed import old_keywords
from trimetric.graphs.paths.landmarks import Landmarks

NOISE = 0.2
DISTRACTORS = 96


@old_keywords(normalise="normalize")
def landmark_features(
    landmarks: Landmarks,
    *,
    noise: float = NOISE,
    distractors: int = DISTRACTORS,
    normalize: Literal["feature", "all"] = "feature",
    seed: int = 0,
) -> NDArray[np.float32]:
    """The paper's features, one row per node: 32 landmarks make 128, or 160 where the graph is directed.

    Distances to (and from, where they differ) the landmarks at mean 0 and standard deviation 1, noise from
    N(0, .2) drawn once for each node, and normally distributed features that say nothing.

    Args:
        landmarks: their distances.
        noise: standard deviation of the noise; 0 for none.
        distractors: how many features that say nothing.
        normalize: each feature by its own mean and deviation, or "all" by those of all distances together.
        seed: of noise and distractors.
    """
    checks.finite_number("noise", noise, above=-1e-300)
    checks.one_of("normalize", normalize, ("feature", "all"))
    random = np.random.default_rng(seed)
    table = landmarks.table()
    features = np.empty((len(table), table.shape[1] + distractors), np.float32)
    known = features[:, : table.shape[1]]
    axis = 0 if normalize == "feature" else None
    mean, spread = table.mean(axis=axis, dtype=np.float64), table.std(axis=axis, dtype=np.float64)
    known[:] = (table - mean) / np.where(spread > 0, spread, 1.0)
    if noise:
        known += noise * random.standard_normal(known.shape, np.float32)
    features[:, table.shape[1] :] = random.standard_normal((len(table), distractors), np.float32)
    return features
