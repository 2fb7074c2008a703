"""The drawings of Figure 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Plot

from reproduction.frame.figures import Figure, has_line
from reproduction.frame.styles import BLUE, VERMILLION, styles_of

NODES = "ABCD"
PLACES = {"A": (0, 1), "B": (-1, 0), "C": (1, 0), "D": (0, -1)}
EDGES = [("A", "B"), ("A", "C"), ("D", "B"), ("D", "C")]
RED, GRAY = VERMILLION, "#8a8f98"


@dataclass(frozen=True)
class Ball:
    """A fit in the plane."""

    mse: float
    points: list[list[float]]
    """the four embedded nodes"""
    norms: list[float]
    """norms of unit vectors in evenly spaced directions: the ball of radius r reaches r / norm in each"""


def embeddings(balls: dict[str, Ball]) -> Figure:
    """Draw the graph, and each learned unit ball (around A) with the embedded nodes."""
    plot = Plot(figsize=(3.1 * (1 + len(balls)), 3.3), layout="constrained")
    graph, *others = plot.subplots(1, 1 + len(balls), squeeze=False)[0]
    for first, second in EDGES:
        (x0, y0), (x1, y1) = PLACES[first], PLACES[second]
        graph.plot([x0, x1], [y0, y1], color=GRAY, lw=2, zorder=1)
        graph.text((x0 + x1) * 0.62, (y0 + y1) * 0.62, "1", color=GRAY, ha="center", va="center", fontsize=11)
    for node, (x, y) in PLACES.items():
        graph.scatter(x, y, s=420, color=BLUE, zorder=2)
        graph.text(x, y, node, color="white", ha="center", va="center", fontsize=12, weight="bold", zorder=3)
    graph.set(title="the graph", xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))
    for axis, (name, ball) in zip(others, balls.items(), strict=True):
        _ball(axis, ball)
        axis.set_title(f"{name}: MSE {ball.mse:.3f}")
    for axis in (graph, *others):
        axis.set_aspect("equal")
        axis.set_xticks([])
        axis.set_yticks([])
    errors = "; ".join(f"{name}, MSE {ball.mse:.3f}" for name, ball in balls.items())
    return Figure(
        label="figure_motivation",
        title="The graph, the embeddings and the learned balls",
        alt="A graph of four nodes, a cycle A, B, D, C with edges of length 1, and the nodes as each model embeds them "
        f"in the plane, with its unit ball around A in red: {errors}.",
        plot=plot,
        stem="figure1",
    )


def _ball(axis: Axes, ball: Ball) -> None:
    (x0, y0), *_ = ball.points
    points = [(x - x0, y - y0) for x, y in ball.points]  # A is the center of the balls
    reach = 1.3 * max(abs(value) for point in points for value in point)
    turns = [2 * math.pi * i / len(ball.norms) for i in range(len(ball.norms))]
    edge = [(math.cos(t) / norm, math.sin(t) / norm) for t, norm in zip(turns, ball.norms, strict=True)]
    xs, ys = zip(*edge, edge[0], strict=True)
    axis.fill(xs, ys, color=RED, alpha=0.12, lw=0)
    axis.plot(xs, ys, color=RED, lw=2)
    axis.plot([2 * x for x in xs], [2 * y for y in ys], color=RED, lw=1, ls=":")
    axis.scatter(*zip(*points, strict=True), s=60, color=BLUE, zorder=3)
    axis.set(xlim=(-reach, reach), ylim=(-reach, reach))
    # Nodes that the model cannot distinguish share a label.
    labels: dict[tuple[int, int], list[str]] = {}
    for node, (x, y) in zip(NODES, points, strict=True):
        labels.setdefault((round(8 * x / reach), round(8 * y / reach)), []).append(node)
    for nodes in labels.values():
        axis.annotate(
            ", ".join(nodes),
            points[NODES.index(nodes[0])],
            xytext=(7, 7),
            textcoords="offset points",
            color=BLUE,
            fontsize=12,
            weight="bold",
        )


def dimensions(errors: dict[str, dict[int, float]], floor: float) -> Figure | None:
    """Draw the error by the dimension of the space, and the floor of Euclidean spaces; None for one dimension."""
    if not has_line(errors.values()):
        return None
    plot = Plot(figsize=(6.2, 3.2), layout="constrained")
    axis = plot.subplots()
    axis.axhline(floor, color=GRAY, lw=1, ls="--")
    axis.text(10, floor * 1.04, "Euclidean floor", color=GRAY, ha="right", va="bottom", fontsize=9)
    styles = styles_of(errors)
    for number, (name, by_dim) in enumerate(errors.items()):
        # Euclidean and Mahalanobis coincide: the second one is drawn smaller, so that both are visible.
        look = {**styles[name].options(), "markersize": 9 - 3 * (number % 2)}
        axis.plot(list(by_dim), list(by_dim.values()), label=name, **look)
    axis.set(
        xlabel="dimension of the embedding", ylabel="best MSE", xticks=sorted({d for e in errors.values() for d in e})
    )
    axis.set_ylim(-0.004, floor * 1.35)
    axis.legend(frameon=False, fontsize=9, loc="center right")
    axis.spines[["top", "right"]].set_visible(False)
    lines = "; ".join(
        f"{name} {', '.join(f'{mse:.4f} in R^{dim}' for dim, mse in by_dim.items())}" for name, by_dim in errors.items()
    )
    return Figure(
        label="figure_motivation_dimensions",
        title="The error by the dimension of the space",
        alt=f"Best MSE by dimension: {lines}. The floor of all Euclidean spaces is {floor:.4f}.",
        plot=plot,
        stem="figure1-dimensions",
    )
