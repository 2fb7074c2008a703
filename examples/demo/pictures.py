"""The pictures of the page, each a small one: a phone shows them below each other."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from examples.demo.city_data import City
from examples.demo.city_models import CityModel
from examples.demo.drawing import BACK, BLUE, GREEN, INK, LINE, ORANGE, PURPLE, RED, SOFT, STYLE, inline_svg
from examples.demo.four_nodes import DISTANCES, NODES, PlaneFit
from examples.demo.repair import Repair

SQUARE = (3.2, 3.4)
LARGE = 15
"""font size of labels in pictures that a page shows four in a row"""
MODEL_COLORS = {"Wide Norm": BLUE, "Deep Norm": PURPLE, "Euclidean": GREEN, "MLP": RED}
MARKERS = {"Wide Norm": "o", "Deep Norm": "D", "Euclidean": "s", "MLP": "^"}
GRAPH_PLACES = ((0, 1), (-1, 0), (1, 0), (0, -1))


@dataclass(frozen=True)
class Picture:
    """A picture of the page.

    Attributes:
        caption: below it.
        svg: the element.
    """

    caption: str
    svg: str


@mpl.rc_context(STYLE)
def plane_pictures(fits: Mapping[str, PlaneFit]) -> list[Picture]:
    """Draw the graph, then each embedding with the unit ball of its norm around A.

    Args:
        fits: by the name of the model.
    """
    figure, axes = _square("the graph")
    for i, j in itertools.combinations(range(len(NODES)), 2):
        if DISTANCES[i, j] == 1:
            (x0, y0), (x1, y1) = GRAPH_PLACES[i], GRAPH_PLACES[j]
            axes.plot([x0, x1], [y0, y1], color=SOFT, lw=2, zorder=1)
            axes.text((x0 + x1) * 0.64, (y0 + y1) * 0.64, "1", ha="center", va="center", fontsize=LARGE)
    for node, (x, y) in zip(NODES, GRAPH_PLACES, strict=True):
        axes.scatter(x, y, s=520, color=INK, zorder=2)
        axes.text(x, y, node, color=BACK, ha="center", va="center", fontsize=LARGE, weight="bold", zorder=3)
    axes.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))
    alt = "A cycle of four nodes, A, B, D, C, with edges of length 1"
    pictures = [Picture("Opposite nodes are 2 apart.", inline_svg(figure, name="graph", alt=alt))]
    for name, fit in fits.items():
        figure, axes = _square(name)
        _draw_ball(axes, fit, MODEL_COLORS[name])
        alt = f"{name}: the four nodes in the plane, and the unit ball around A; mean squared error {fit.mse:.5f}"
        svg = inline_svg(figure, name=name.replace(" ", ""), alt=alt)
        pictures.append(Picture(f"Mean squared error {fit.mse:.5f}.", svg))
    return pictures


def _square(title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=SQUARE, layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, fontsize=LARGE)
    axes.set(xticks=[], yticks=[], aspect="equal")
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure, axes


def _draw_ball(axes: Axes, fit: PlaneFit, color: str) -> None:
    points = fit.points - fit.points[0]
    reach = 1.05 * max(np.abs(2 * fit.ball).max(), 1.2 * np.abs(points).max())
    edge = np.vstack([fit.ball, fit.ball[:1]])
    axes.fill(*edge.T, color=color, alpha=0.15, lw=0)
    axes.plot(*edge.T, color=color, lw=2)
    axes.plot(*(2 * edge).T, color=color, lw=1, ls=":")
    axes.scatter(*points.T, s=60, color=INK, zorder=3)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
    for node, point in zip(NODES, points, strict=True):
        axes.annotate(node, point, xytext=(7, 7), textcoords="offset points", fontsize=LARGE, weight="bold")


@mpl.rc_context(STYLE)
def city_map(city: City) -> Picture:
    """Draw the streets, and the way there and back of the tested pair whose two directions differ most.

    Args:
        city: the city.
    """
    truth = city.matrix
    source, target = max(city.telling_pairs(), key=lambda pair: abs(truth[pair] - truth[pair[::-1]]))
    figure, axes = _square("the one-way city")
    streets = {(int(i), int(j)) for i, j in city.streets()}
    for i, j in sorted(streets):
        a, b = city.places[i], city.places[j]
        axes.plot(*np.stack([a, b]).T, color=LINE, lw=1.5, zorder=1)
        if (j, i) not in streets:
            arrow = {"arrowstyle": "-|>", "color": SOFT, "lw": 0, "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", a + 0.65 * (b - a), a + 0.35 * (b - a), arrowprops=arrow, zorder=2)
    ways = ((source, target, BLUE, "-", 0.09), (target, source, ORANGE, "--", -0.09))
    for start, end, color, dashes, shift in ways:
        way = city.places[city.route(start, end)] + shift
        label = f"{city.names[start]} to {city.names[end]}: {truth[start, end]:.1f} min"
        axes.plot(*way.T, color=color, ls=dashes, lw=3, zorder=3, label=label)
    for node in (source, target):
        axes.scatter(*city.places[node], s=210, color=INK, zorder=4)
        place = {"ha": "center", "va": "center", "fontsize": 8, "weight": "bold", "zorder": 5}
        x, y = city.places[node]
        axes.text(x, y, city.names[node], color=BACK, **place)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), fontsize=9)
    alt = f"Streets of the city, and the shortest ways from {city.names[source]} to {city.names[target]} and back"
    caption = "Arrows are one-way streets. Uphill (to the top) takes longer."
    return Picture(caption, inline_svg(figure, name="map", alt=alt))


@mpl.rc_context(STYLE)
def city_pictures(city: City, models: Mapping[str, CityModel]) -> list[Picture]:
    """Draw predictions over truth for each model, on the pairs that none of them saw.

    Args:
        city: the truth.
        models: by name.
    """
    truth = city.minutes[city.tested]
    top = 1.08 * max(truth.max(), *(model.matrix[*city.ends[city.tested].T].max() for model in models.values()))
    pictures = []
    for name, model in models.items():
        figure = Figure(figsize=SQUARE, layout="constrained")
        axes = figure.subplots()
        axes.plot([0, top], [0, top], color=SOFT, lw=1)
        predicted = model.matrix[*city.ends[city.tested].T]
        axes.scatter(truth, predicted, s=9, color=MODEL_COLORS[name], marker=MARKERS[name], alpha=0.6, lw=0)
        axes.set(title=name, xlabel="true minutes", ylabel="predicted minutes", aspect="equal")
        axes.set(xlim=(0, top), ylim=(min(0, predicted.min()), top))
        alt = f"{name}: predicted over true minutes of {len(truth)} pairs that it was not trained on"
        svg = inline_svg(figure, name=f"city-{name.replace(' ', '')}", alt=alt)
        pictures.append(Picture(f"Mean relative error {model.errors.mean_relative_error:.1%}.", svg))
    return pictures


@mpl.rc_context(STYLE)
def repair_pictures(repair: Repair) -> list[Picture]:
    """Draw what each repair changed, by place.

    Args:
        repair: the results.
    """
    kinds = {"nearest metric": repair.nearest, "shortest paths": repair.paths}
    changes = {name: times.matrix - repair.measured.matrix for name, times in kinds.items()}
    reach = max(float(np.abs(change).max()) for change in changes.values()) or 1.0
    pictures = []
    for name, change in changes.items():
        figure = Figure(figsize=(4.6, 4.6), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(change, cmap="PuOr_r", vmin=-reach, vmax=reach, interpolation="nearest")
        numbers = range(len(repair.names))
        axes.set_xticks(numbers, repair.names, rotation=90, fontsize=8)
        axes.set_yticks(numbers, repair.names, fontsize=8)
        axes.set_title(name)
        figure.colorbar(image, ax=axes, shrink=0.7, label="change in minutes", location="bottom")
        alt = f"Change of each travel time by {name}: {kinds[name].raised} raised, {kinds[name].lowered} lowered"
        svg = inline_svg(figure, name=f"repair-{name.replace(' ', '-')}", alt=alt)
        caption = f"{kinds[name].raised} times raised (orange), {kinds[name].lowered} lowered (purple)."
        pictures.append(Picture(caption, svg))
    return pictures
