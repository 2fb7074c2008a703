"""What the rows say about the questions that the experiment asks."""

from __future__ import annotations

from reproduction.experiments.rl.cells import DIRECTED, NONE, OBJECTIVE_NAMES, POINTMAZES
from reproduction.experiments.rl.heads import HEADS
from reproduction.experiments.rl.published import published
from reproduction.experiments.rl.tables import in_maze, measured
from reproduction.frame.findings import Finding, check, find
from reproduction.frame.rows import Row

PLANNERS = {"medium": 95.0, "large": 95.0, "giant": 80.0}
"""success in percent that waypoints were asked to reach"""


def pointmaze_finding(rows: list[Row]) -> Finding | None:
    """Whether actors reach QRL's success, and waypoints what was asked."""
    actors = {world: in_maze(rows, "actor success", world, factor=100) for world in POINTMAZES}
    planners = {world: in_maze(rows, "waypoints success", world, factor=100) for world in POINTMAZES}
    return find(
        check(
            "actors at least as successful as the published QRL",
            [found.value >= published()["QRL"][world] for world, found in actors.items() if found is not None],
            "data sets",
        ),
        check(
            "waypoints reach what was asked (95 %, giant 80 %)",
            [found.value >= PLANNERS[world.split("-")[0]] for world, found in planners.items() if found is not None],
            "data sets",
        ),
    )


def directed_finding(rows: list[Row]) -> Finding | None:
    """Whether asymmetric heads do better than the symmetric one, and Euclidean planners fail."""
    symmetric = measured(rows, "graph success", DIRECTED, "Euclidean")
    others = [
        measured(rows, "graph success", DIRECTED, name)
        for name, head in HEADS.items()
        if head.asymmetric and head.metric
    ]
    straight = [measured(rows, f"{name} success", DIRECTED, NONE) for name in ("waypoints", "graph")]
    return find(
        check(
            "asymmetric metrics arrive more often than the symmetric head, by a search over their distances",
            [] if symmetric is None else [found.value > symmetric.value for found in others if found is not None],
            "heads",
        ),
        check(
            "Euclidean planners fail in most episodes",
            [found.value < 0.5 for found in straight if found is not None],
            "planners",
        ),
    )


def objectives_finding(rows: list[Row]) -> Finding | None:
    """Which objective recovers the directed distances best."""
    found = {
        name: value
        for name in OBJECTIVE_NAMES
        if (value := measured(rows, "correlation", DIRECTED, objective=name)) is not None
    }
    if len(found) < 2:
        return None
    best = max(found, key=lambda name: found[name].value)
    return Finding(f"{best} has the highest correlation with exact distances, {found[best].value:.3f}, of {len(found)}")
