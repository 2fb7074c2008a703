"""The tables: pointmaze beside what was published, heads, and objectives."""

from __future__ import annotations

from dataclasses import replace

from reproduction.experiments.rl.cells import (
    BATCH,
    COMPARED_MAZE,
    COMPARED_STEPS,
    DIRECTED,
    LONG_HEAD,
    LONG_STEPS,
    MAIN,
    NONE,
    OBJECTIVE_NAMES,
    POINTMAZES,
    STEPS,
    TELEPORTS,
)
from reproduction.experiments.rl.heads import HEADS
from reproduction.experiments.rl.published import published
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import Column, Measured, Table, summarize

Cells = dict[tuple[str, str], Measured | str | None]


def measured(
    rows: list[Row],
    metric: str,
    world: str,
    head: str = MAIN,
    objective: str = "sqrt",
    *,
    factor: float = 1.0,
    steps: int = COMPARED_STEPS,
) -> Measured | None:
    """Summarize a number over the seeds of a world, head and objective.

    Args:
        rows: where to look.
        metric: its name.
        world: the name of the data.
        head: of the distance.
        objective: by which it was learned.
        factor: by which it is multiplied, such as 100 for percent.
        steps: of the training; runs with other budgets, quick ones too, are left out.
    """
    learned = head != NONE
    where = {
        "world": world,
        "head": head,
        "objective": objective if learned else NONE,
        "steps": steps if learned else 0,
    }
    found = summarize(pick(rows, metric, where))
    if found is None or factor == 1.0:
        return found
    spread = None if found.spread is None else factor * found.spread
    return replace(found, value=factor * found.value, spread=spread, worst=factor * found.worst)


def in_maze(rows: list[Row], metric: str, world: str, *, factor: float = 1.0) -> Measured | None:
    """Summarize a number of the main distance in a maze, which trains longer than those that are compared.

    Args:
        rows: where to look.
        metric: its name.
        world: the name of the data.
        factor: by which it is multiplied.
    """
    return measured(rows, metric, world, factor=factor, steps=STEPS[world.split("-")[0]])


def minutes(rows: list[Row], world: str) -> Measured | None:
    """CPU minutes until the actor is there: data, distance, local policy, planners, and the distillation."""
    parts = [in_maze(rows, f"seconds {part}", world) for part in ("data", "distance", "local", "planners", "actor")]
    if any(part is None for part in parts):
        return None
    whole = [part for part in parts if part is not None]
    return replace(whole[0], value=sum(part.value for part in whole) / 60, spread=None)


def pointmaze_table(rows: list[Row]) -> Table:
    """Success in the six data sets, ours and published."""
    ours = ("actor", "waypoints", "graph")
    baselines = {
        "Euclidean waypoints": "waypoints",
        "Euclidean graph": "graph",
        "actor of it": "actor",
        "clone": "clone",
    }
    columns = [*ours, *baselines, *published(), "CPU minutes"]
    cells: Cells = {}
    for world in POINTMAZES:
        for name in ours:
            cells[world, name] = in_maze(rows, f"{name} success", world, factor=100)
        for name, policy in baselines.items():
            cells[world, name] = measured(rows, f"{policy} success", world, NONE, factor=100)
        for method, values in published().items():
            cells[world, method] = str(values[world]) if world in values else "-"
        cells[world, "CPU minutes"] = minutes(rows, world)
    return Table(
        label="table_rl_pointmaze",
        title="Pointmaze of OGBench: episodes that arrive, in percent",
        columns=[Column(name, None, ".1f") for name in columns],
        rows=list(POINTMAZES),
        cells=cells,
        corner="data",
        note=(
            "Five tasks with 50 episodes each (Euclidean planners: 10), grouped MRN, the constrained objective with "
            "roots. Compare actors with actors: `actor`, `actor of it` and `clone` are networks from observation and "
            "goal to action, as the published ones are; ours is distilled from a graph search over the distance. "
            "`waypoints` plans with the learned distance alone; `graph` searches and needs near distances. Nothing "
            "is learned in the Euclidean columns but how to walk to near places. The data follow OGBench's recipe, but "
            "are not its files. CPU minutes: everything until the actor is there, on a shared core."
        ),
        trained_in="steps",
    )


def directed_table(rows: list[Row]) -> Table:
    """Heads in the directed world."""
    numbers = {
        "success": ("waypoints success", 100.0, ".1f"),
        "SPL": ("waypoints spl", 1.0, ".3f"),
        "graph success": ("graph success", 100.0, ".1f"),
        "graph SPL": ("graph spl", 1.0, ".3f"),
        "correlation": ("correlation", 1.0, ".3f"),
        "of asymmetry": ("asymmetry correlation", 1.0, ".3f"),
        "error": ("error", 1.0, ".3f"),
        "regret": ("regret", 1.0, ".2f"),
        "one step": ("one step", 1.0, ".2f"),
    }
    cells: Cells = {
        (head, name): measured(rows, metric, DIRECTED, head, factor=factor)
        for head in (*HEADS, NONE)
        for name, (metric, factor, _) in numbers.items()
    }
    long = f"{LONG_HEAD}, {LONG_STEPS:,} x {BATCH}"
    for name, (metric, factor, _) in numbers.items():
        cells[long, name] = measured(rows, metric, DIRECTED, LONG_HEAD, factor=factor, steps=LONG_STEPS)
    return Table(
        label="table_rl_directed",
        title="One-way gates and conveyor belts: heads with equal budgets",
        columns=[Column(name, None, form) for name, (_, _, form) in numbers.items()],
        rows=[*HEADS, long, NONE],
        cells=cells,
        corner="head",
        note=(
            "Ten trips with 10 episodes each. `success` and `SPL`: waypoints on the learned distance; `graph`: with a "
            "search (first seed). `none` are the Euclidean planners. Correlation (Spearman) and median relative error "
            "(after the scale) against exact distances, those of the difference between there and back, and the steps "
            "that five steps in the preferred direction lose (a random direction loses 5.7). `Euclidean` is a learned "
            "embedding with a symmetric head."
        ),
        trained_in="steps",
    )


def heads_table(rows: list[Row]) -> Table:
    """Heads in a maze, which is symmetric but for the steps of the log."""
    numbers = {"waypoints": "waypoints success", "graph": "graph success"}
    cells: Cells = {
        (head, name): measured(rows, metric, COMPARED_MAZE, head, factor=100)
        for head in HEADS
        for name, metric in numbers.items()
    }
    cells |= {(head, "one step"): measured(rows, "one step", COMPARED_MAZE, head) for head in HEADS}
    return Table(
        label="table_rl_heads",
        title=f"Heads in {COMPARED_MAZE}: episodes that arrive, in percent",
        columns=[*(Column(name, None, ".1f") for name in numbers), Column("one step", None, ".2f")],
        rows=list(HEADS),
        cells=cells,
        corner="head",
        trained_in="steps",
    )


def objectives_table(rows: list[Row]) -> Table:
    """Objectives in the directed world and in teleport."""
    cells: Cells = {}
    for name in OBJECTIVE_NAMES:
        cells[name, "success"] = measured(rows, "waypoints success", DIRECTED, objective=name, factor=100)
        cells[name, "SPL"] = measured(rows, "waypoints spl", DIRECTED, objective=name)
        cells[name, "correlation"] = measured(rows, "correlation", DIRECTED, objective=name)
        cells[name, "regret"] = measured(rows, "regret", DIRECTED, objective=name)
        cells[name, "one step"] = measured(rows, "one step", DIRECTED, objective=name)
        for world in TELEPORTS:
            cells[name, world] = measured(rows, "waypoints success", world, objective=name, factor=100)
    formats = {"SPL": ".3f", "correlation": ".3f", "regret": ".2f", "one step": ".2f"}
    columns = ["success", *formats, *TELEPORTS]
    return Table(
        label="table_rl_objectives",
        title="Objectives with the same head and budget: waypoints on the learned distance",
        columns=[Column(name, None, formats.get(name, ".1f")) for name in columns],
        rows=list(OBJECTIVE_NAMES),
        cells=cells,
        corner="objective",
        note=(
            "The first columns are of the directed world, the last ones of OGBench's maze with random jumps (percent). "
            "Settings as they come: none was tuned for these worlds."
        ),
        trained_in="steps",
    )
