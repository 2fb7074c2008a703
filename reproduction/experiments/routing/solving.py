"""What PyVRP's solutions gain or lose by a repair of the matrix, at equal processor time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reproduction.experiments.routing.data import GENERATED, instance_files, load_matrix
from reproduction.frame.experiment import Experiment, Result, Scale
from reproduction.frame.findings import Finding, check, find
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import Column, Measured, Table, summarize
from trimetric.nearness import closure, nearest_metric

VARIANTS = ("given", "decrease-only", "nearest")
SECONDS = {"quick": 0.2, "default": 4.0, "paper": 60.0}
SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Cell:
    """One run of the solver."""

    instance: str
    variant: str
    """the matrix that the solver sees"""
    seconds: float
    """of the processor"""
    seed: int


class RoutingSolve(Experiment[Cell]):
    """Costs of solutions by the matrix that the solver saw, by the given matrix, and by its shortest paths.

    A vehicle that drives the detour where one is shorter pays the costs of the shortest paths, whatever the solver saw.
    So these are what solutions of all variants are compared by.
    """

    name: ClassVar[str] = "routing-solve"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        files = [name for name, file in instance_files().items() if file.suffix == ".txt"]
        names = (GENERATED,) if scale == "quick" else (*files, GENERATED)
        return [
            Cell(name, variant, SECONDS[scale] if name != GENERATED else SECONDS["quick"], seed)
            for seed in seeds or SEEDS
            for name in names
            for variant in VARIANTS
        ]

    def run(self, cell: Cell) -> list[Result]:
        pyvrp: Any = import_module("pyvrp")
        given = load_matrix(cell.instance)
        problem = _problem(cell.instance, given)
        solved = with_matrix(problem, repaired(given, cell.variant))
        result = pyvrp.solve(solved, ProcessorTime(cell.seconds), seed=cell.seed, display=False, collect_stats=False)
        routes = [[stop.idx for stop in route if stop.is_client()] for route in result.best.routes()]
        paths = closure(given)
        numbers = {"cost": float(result.best.distance()), "feasible": float(result.is_feasible())}
        for name, matrix in (("given", given), ("paths", paths)):
            same = pyvrp.Solution(with_matrix(problem, matrix), routes)
            numbers |= {f"{name} cost": float(same.distance()), f"{name} feasible": float(same.is_feasible())}
        numbers["iterations"] = float(result.num_iterations)
        return [Result(name, value) for name, value in numbers.items()]

    def findings(self, rows: list[Row]) -> dict[str, Finding]:
        names = [name for name in dict.fromkeys(row.settings["instance"] for row in rows) if name != GENERATED]
        checks = []
        for variant in VARIANTS[1:]:
            pairs = [(_cost(rows, name, variant), _cost(rows, name, "given")) for name in names]
            lower = [ours.value < given.value for ours, given in pairs if ours is not None and given is not None]
            checks.append(check(f"{variant}: a lower mean cost than with the given matrix", lower, "instances"))
        found = find(*checks)
        return {} if found is None else {"table_routing_solve": found}

    def tables(self, rows: list[Row]) -> list[Table]:
        names = list(dict.fromkeys(row.settings["instance"] for row in rows))
        cells: dict[tuple[str, str], Measured | str | None] = {}
        for name in names:
            for variant in VARIANTS:
                cells[name, f"{variant}: cost"] = _cost(rows, name, variant)
                cells[name, f"{variant}: feasible as given"] = summarize(
                    pick(rows, "given feasible", {"instance": name, "variant": variant})
                )
        columns = [Column(f"{variant}: cost", better=None, format=",.0f") for variant in VARIANTS]
        columns += [Column(f"{variant}: feasible as given", better=None, format=".0%") for variant in VARIANTS]
        title = "Cost of solutions when vehicles drive the detours, by the matrix that the solver saw"
        return [Table(label="table_routing_solve", title=title, columns=columns, rows=names, cells=cells)]


def _cost(rows: list[Row], name: str, variant: str) -> Measured | None:
    return summarize(pick(rows, "paths cost", {"instance": name, "variant": variant}))


class ProcessorTime:
    """Stops a run of PyVRP after so much time of the processor, so that other processes do not shorten it.

    Args:
        seconds: from the first call.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.started: float | None = None

    def __call__(self, best_cost: int) -> bool:  # noqa: ARG002
        if self.started is None:
            self.started = time.process_time()
        return time.process_time() - self.started > self.seconds


def repaired(given: NDArray[np.float64], variant: str) -> NDArray[Any]:
    """The matrix that the solver sees.

    Args:
        given: of the instance.
        variant: one of `VARIANTS`.
    """
    if variant == "given":
        return given
    method = "active-set" if variant == "nearest" else "decrease-only"
    return nearest_metric(given, method=method, integers=True).matrix


def with_matrix(problem: Any, matrix: NDArray[Any]) -> Any:
    """The problem of PyVRP with other distances and durations.

    Args:
        problem: of PyVRP.
        matrix: whole numbers, used as both.
    """
    whole = np.ascontiguousarray(matrix, np.int64)
    return problem.replace(distance_matrices=[whole], duration_matrices=[whole])


def _problem(name: str, given: NDArray[np.float64]) -> Any:
    pyvrp: Any = import_module("pyvrp")
    if name != GENERATED:
        return pyvrp.read(_file(name))
    model = pyvrp.Model()
    places = [model.add_location(x=i, y=0) for i in range(len(given))]
    depot = model.add_depot(places[0])
    for place in places[1:]:
        model.add_client(place, delivery=[1])
    model.add_vehicle_type(4, capacity=[4], start_depot=depot, end_depot=depot)
    for i, start in enumerate(places):
        for j, end in enumerate(places):
            if i != j:
                model.add_edge(start, end, distance=int(given[i, j]), duration=int(given[i, j]))
    return model.data()


def _file(name: str) -> Path:
    return instance_files()[name]
