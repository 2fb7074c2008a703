"""A picture of a learned graph: predicted against true distances, and the error by distance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from trimetric._support.atomic import replacing
from trimetric.graphs.learning.learned_graph import LearnedGraph

MOST_DOTS = 5000
DISTANCES = 12  # buckets


def save_map_picture(learned: LearnedGraph, file: Path | str) -> Path:
    """Draw the test pairs: predicted against true distances, and the mean relative error by distance.

    The error of the bound that landmarks far from each other give is drawn beside that of the model.

    Args:
        learned: what `learn_graph` returned.
        file: a .png, .svg or .pdf file.

    Returns:
        The path of the file.

    Examples:
        >>> import tempfile
        >>> from trimetric.graphs import learn_graph, torus3d
        >>> learned = learn_graph(torus3d(seed=0, side=3), dim=4, epochs=1, progress="silent")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_map_picture(learned, Path(folder) / "errors.png").stat().st_size > 0
        True
    """
    from trimetric.graphs.learning.bounds import landmark_bounds

    sample = learned.sample
    ends, truth = sample.ends[sample.test_rows], sample.lengths[sample.test_rows]
    predicted = learned.model.between_rows(ends).double().cpu().numpy()
    bound = landmark_bounds(learned.landmarks, ends)[0]
    unit = learned.model.notes.get("unit")
    label = "distance" if unit is None else f"distance in {unit}"

    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(truth[:MOST_DOTS], predicted[:MOST_DOTS], ".", markersize=2, alpha=0.4)
    largest = float(truth.max(initial=0.0))
    left.plot([0, largest], [0, largest], color="black", linewidth=0.8)
    left.set(xlabel=f"true {label}", ylabel=f"predicted {label}", title=f"{len(truth):,} pairs held out")
    positive = truth > 0
    for name, values in (("model", predicted), ("landmarks from below", bound)):
        middles, errors = errors_by_distance(values[positive], truth[positive])
        right.plot(middles, 100 * errors, marker="o", markersize=3, label=name)
    right.set(xlabel=f"true {label}", ylabel="mean relative error in %", xlim=(0, None), ylim=(0, None))
    right.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)  # above, clear of the lines
    path = Path(file)
    with replacing(path) as part:
        figure.savefig(part, format=path.suffix.removeprefix("."), dpi=150)
    return path


def errors_by_distance(
    predicted: np.ndarray, truth: np.ndarray, *, buckets: int = DISTANCES
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the mean relative error of pairs that are about as far apart.

    Args:
        predicted: predicted distances.
        truth: true distances above 0.
        buckets: how many groups of equal size to make, from short to long.

    Returns:
        The median distance and the mean relative error of each group that is not empty.

    Examples:
        >>> errors_by_distance(np.array([1.0, 3.0]), np.array([1.0, 4.0]), buckets=2)
        (array([1., 4.]), array([0.  , 0.25]))
    """
    order = np.argsort(truth, kind="stable")
    groups = [group for group in np.array_split(order, buckets) if len(group)]
    middles = np.array([np.median(truth[group]) for group in groups])
    return middles, np.array([np.mean(np.abs(predicted[group] / truth[group] - 1)) for group in groups])
