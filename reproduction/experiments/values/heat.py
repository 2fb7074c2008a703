"""Maps of the value functions: each cell has two triangles, for the path from the first cell and the path back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Plot

from reproduction.experiments.values.heads import SHOWN
from reproduction.experiments.values.tables import WORLDS
from reproduction.frame.figures import Figure
from reproduction.frame.rows import Row, longest_trained, pick
from trimetric.rl import World

COLORS = ListedColormap(["#f0f0f0", "#595959", "#0072b2"])
"""empty, wall and agent; the paper has red, green and blue, of which not all readers can tell the first two apart"""
PICTURES = {
    "values": ("figure_value_iteration_value_heatmaps", "learned values", "viridis"),
    "squared errors": ("figure_value_iteration_se_heatmaps", "squared errors", "magma"),
    "spl": ("figure_value_iteration_spl_heatmaps", "SPL", "cividis"),
}
UPPER = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5)])
LOWER = np.array([(-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)])

Ways = Sequence[Sequence[float]]
"""a number for each state, from the first one to it, and from it to the first one"""


def figures(rows: list[Row]) -> list[Figure]:
    """Draw all maps that have rows."""
    if not rows:
        return []
    there = [world for world in WORLDS if any(find_maps(rows, world, head) for head in SHOWN)]
    maps = [_picture(rows, kind, there) for kind in PICTURES] if there else []
    shown = [world for world in ("4-Room asym", "Maze asym") if world in there]
    return [*([_viz(rows, shown)] if shown else []), _dataset(), *maps]


def find_maps(rows: list[Row], world: str, head: str) -> dict[str, Ways] | None:
    """Find the values, squared errors and SPL of the longest run of seed 0."""
    found: dict[str, Ways] = {}
    for kind in ("values", "spl"):
        where = {**WORLDS[world], "head": head, "split": "goal"}
        chosen = longest_trained([row for row in pick(rows, f"picture {kind}", where) if row.seed == 0])
        if not chosen:
            return None
        found[kind] = chosen[0].value
    exact = exact_values(world)
    errors = [(np.array(found["values"][i]) - exact[i]) ** 2 for i in range(2)]
    found["squared errors"] = [way.tolist() for way in errors]
    return found


@cache
def make_world(name: str) -> World:
    return World(WORLDS[name]["world"], asymmetric=WORLDS[name]["asymmetric"], seed=0)  # type: ignore[arg-type]


def exact_values(name: str) -> list[np.ndarray]:
    values = make_world(name).values.numpy()
    return [values[0], values[:, 0]]


def _picture(rows: list[Row], kind: str, worlds: list[str]) -> Figure:
    label, words, colors = PICTURES[kind]
    heads = [head for head in SHOWN if any(find_maps(rows, world, head) for world in worlds)]
    exact = kind == "values"
    columns = ["exact", *heads] if exact else heads
    plot = Plot(figsize=(1.9 * len(columns), 2.0 * len(worlds)), layout="constrained")
    axes = plot.subplots(len(worlds), len(columns), squeeze=False)
    for line, world in zip(axes, worlds, strict=True):
        found = {head: ways[kind] for head in heads if (ways := find_maps(rows, world, head)) is not None}
        if exact:
            found["exact"] = [way.tolist() for way in exact_values(world)]
        limits = _limits(kind, found)
        for ax, column in zip(line, columns, strict=True):
            _ground(ax, world)
            if column in found:
                drawn = _triangles(ax, world, found[column], colors, limits)
                if column == next(iter(found)):
                    plot.colorbar(drawn, ax=list(line), shrink=0.8)
            else:
                ax.text(0.5, 0.3, "no run", transform=ax.transAxes, ha="center", bbox={"fc": "white", "ec": "none"})
        line[0].set_ylabel(world)
    _set_titles(axes[0], columns)
    return Figure(
        label=label,
        title=f"Value functions: {words} with three quarters of the goals seen (upper triangles: from the first cell, "
        "lower: to it)",
        alt=f"A map for each world and head; each cell is split into two triangles, colored by the {words} of the way "
        "from the top left cell and of the way to it.",
        plot=plot,
        stem=label,
    )


def _limits(kind: str, found: dict[str, Ways]) -> tuple[float, float]:
    if kind == "spl":
        return 0.0, 1.0
    if kind == "values":
        return min(min(way) for way in found["exact"]), 0.0
    # Otherwise the largest errors of one head would leave the others black.
    numbers = np.concatenate([np.concatenate([np.array(way) for way in ways]) for ways in found.values()])
    return 0.0, float(np.quantile(numbers, 0.9))


def _viz(rows: list[Row], worlds: list[str]) -> Figure:
    heads = ("WN", "MLP")
    plot = Plot(figsize=(2.2 * 6, 2.3 * len(worlds)), layout="constrained")
    axes = plot.subplots(len(worlds), 6, squeeze=False)
    for line, world in zip(axes, worlds, strict=True):
        found = {head: ways for head in heads if (ways := find_maps(rows, world, head)) is not None}
        _board(line[0], world)
        _draw_exact(plot, line[1], world)
        for start, kind, colors in ((2, "squared errors", "magma"), (4, "spl", "cividis")):
            limits = _limits(kind, {head: ways[kind] for head, ways in found.items()}) if found else (0.0, 1.0)
            for ax, head in zip(line[start : start + 2], heads, strict=True):
                _ground(ax, world)
                if head in found:
                    plot.colorbar(_triangles(ax, world, found[head][kind], colors, limits), ax=ax)
        line[0].set_ylabel(world)
    names = ["world", "exact values", *(f"SE, {head}" for head in heads), *(f"SPL, {head}" for head in heads)]
    _set_titles(axes[0], names)
    return Figure(
        label="figure_value_it_viz",
        title="Worlds, exact values, squared errors and SPL of Wide Norm and MLP, three quarters of the goals seen",
        alt="For each asymmetric world: its map, its exact values from and to the top left cell, then squared errors "
        "and SPL of the Wide Norm and of the MLP.",
        plot=plot,
        stem="figure_value_it_viz",
    )


def _dataset() -> Figure:
    names = {"4-Room": "4-Room asym", "Maze": "Maze asym"}
    plot = Plot(figsize=(11.5, 5.2), layout="constrained")
    axes = plot.subplots(2, 4)
    for line, (title, name) in zip(axes, names.items(), strict=True):
        world = make_world(name)
        _board(line[0], name)
        line[0].set_ylabel(title)
        _rewards(line[1], name, world)
        for ax, each in zip(line[2:], (name, name.replace("asym", "sym")), strict=True):
            _draw_exact(plot, ax, each)
    _set_titles(axes[0], ("world", "rewards, asymmetric", "values, asymmetric", "values, symmetric"))
    return Figure(
        label="figure_value_it_dataset",
        title="The environments: maps, rewards (dots: 1 to 6 for moves west and south) and exact values",
        alt="The four rooms and the maze, the reward of each move as a colored dot at its side of the cell, "
        "and the exact values from (upper triangles) and to (lower triangles) the top left cell.",
        plot=plot,
        stem="figure_value_it_dataset",
    )


def _set_titles(axes: Iterable[Axes], titles: Sequence[str]) -> None:
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, fontsize=10)


def _draw_exact(plot: Plot, ax: Axes, name: str) -> None:
    """Draw the exact values of a world, with a color bar."""
    _ground(ax, name)
    exact = [way.tolist() for way in exact_values(name)]
    plot.colorbar(_triangles(ax, name, exact, "viridis", _limits("values", {"exact": exact})), ax=ax)


def _rewards(ax: Axes, name: str, world: World) -> None:
    """Draw a dot in each cell at the side to which a move leads."""
    _ground(ax, name)
    state, action = (world.next_state >= 0).nonzero().unbind(1)
    side = np.array([(0, -0.3), (0.3, 0), (0, 0.3), (-0.3, 0)])[action.numpy()]
    center = world.grid.cells[state.numpy()][:, ::-1]
    dots = ax.scatter(*(center + side).T, c=-world.cost[state, action].numpy(), s=5, cmap="plasma")
    ax.figure.colorbar(dots, ax=ax)  # type: ignore[union-attr]


def _board(ax: Axes, name: str) -> None:
    """Draw walls, empty cells and the agent in the first state."""
    ax.imshow(make_world(name).observations[0].argmax(dim=0).numpy(), cmap=COLORS, vmin=0, vmax=2)
    ax.set(xticks=[], yticks=[])


def _ground(ax: Axes, name: str) -> None:
    grid = make_world(name).grid
    ax.imshow(grid.walls, cmap=ListedColormap(["white", "#595959"]), vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[])


def _triangles(ax: Axes, name: str, ways: Ways, colors: str, limits: tuple[float, float]) -> PolyCollection:
    cells = make_world(name).grid.cells[:, ::-1]
    polygons = np.concatenate([cells[:, None] + half for half in (UPPER, LOWER)])
    drawn = PolyCollection(list(polygons), array=np.concatenate([np.array(way) for way in ways]), cmap=colors)
    drawn.set_clim(*limits)
    ax.add_collection(drawn)
    return drawn
