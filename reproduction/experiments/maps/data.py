"""The graphs of map models: two road networks, whose files the user names, and three generated graphs."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric.graphs import Graph, push, read_graph, torus3d, torus3d_pruned

GENERATED = ("3d", "3dr", "push")
SIDES = {"3d": 20, "3dr": 20, "push": 12}
QUICK_SIDE = 5


def workload_folder() -> Path | None:
    """The folder of Jinan's nodes, edges and queries, as the variable TRIMETRIC_JINAN names it; None for none."""
    named = os.environ.get("TRIMETRIC_JINAN")
    return Path(named) if named else None


def map_file() -> Path | None:
    """The map of a city, as the variable TRIMETRIC_MAP names it; None for none."""
    named = os.environ.get("TRIMETRIC_MAP")
    return Path(named) if named else None


def available_graphs() -> tuple[str, ...]:
    """The graphs whose files are there."""
    roads = ("jinan",) if workload_folder() else ()
    return (*roads, *GENERATED, *(("map length", "map time") if map_file() else ()))


def load_graph(name: str, *, quick: bool = False) -> Graph:
    """Read or generate a graph.

    Args:
        name: "jinan", "map length", "map time", or one of `GENERATED`.
        quick: whether a small one will do.
    """
    if name == "jinan":
        folder = workload_folder()
        if folder is None:
            raise ValueError("TRIMETRIC_JINAN: expected the folder of Jinan's nodes, edges and queries, got nothing")
        edges = np.loadtxt(folder / "W_Jinan.edges", delimiter=",")
        tails, heads = edges[:, :2].astype(np.int64).T - 1
        places = np.loadtxt(folder / "W_Jinan.nodes", delimiter=",")
        return Graph.from_arcs(len(places), tails, heads, edges[:, 2], directed=False)
    if name.startswith("map "):
        file = map_file()
        if file is None:
            raise ValueError("TRIMETRIC_MAP: expected a map, got nothing")
        return read_graph(file, weight="time" if name == "map time" else "length")
    side = QUICK_SIDE if quick else SIDES[name]
    return {"3d": torus3d, "3dr": torus3d_pruned, "push": push}[name](seed=0, side=side)


def workload() -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The 100,000 test queries of Jinan: nodes, and their published distances."""
    folder = workload_folder()
    if folder is None:
        raise ValueError("TRIMETRIC_JINAN: expected the folder of Jinan's nodes, edges and queries, got nothing")
    rows = np.loadtxt(folder / "W_Jinan_test.queries", delimiter=",", comments="#")
    return rows[:, :2].astype(np.int64) - 1, rows[:, 2]
