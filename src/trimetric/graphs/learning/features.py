"""Features of nodes: their distances to and from landmarks, clean or as noisy as in the paper."""

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
    """Compute the paper's features: with 32 landmarks, 128 per node, or 160 if the graph is directed.

    They are the distances to (and from, if they differ) the landmarks, scaled to mean 0 and standard deviation 1,
    plus noise from N(0, .2) that is drawn once for each node; and additional normally distributed features that carry
    no information.

    Args:
        landmarks: their distances.
        noise: standard deviation of the noise; 0 for none.
        distractors: number of features that carry no information.
        normalize: "feature" scales each feature by its own mean and deviation, "all" by those of all distances.
        seed: for noise and distractors.

    Returns:
        `(n, features)` in float32.

    Examples:
        >>> from trimetric.graphs import Graph, landmarks_at
        >>> graph = Graph.from_arcs(4, [0, 1, 2, 3], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=False)
        >>> landmark_features(landmarks_at(graph, [0]), noise=0, distractors=0).ravel().round(1)
        array([-1.3, -0.6,  0.6,  1.3], dtype=float32)
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
