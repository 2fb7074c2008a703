"""Solve a routing instance before and after a repair of its matrix, with PyVRP and with OR-Tools.

    python -m examples.routing_solvers INSTANCE [--seconds 5] [--seeds 3] [--solver pyvrp]

INSTANCE is a file of VRPLIB with an explicit matrix, such as those of the EURO-NeurIPS vehicle routing competition.
Solutions are compared by the shortest paths of the given matrix: a vehicle that drives the detour where one is shorter
pays these, whatever matrix the solver saw.  Needs `pip install "trimetric[routing]" ortools`.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimetric.nearness import closure, nearest_metric, read_matrix
from trimetric.routing import audit_matrix

Matrix = NDArray[np.int64]


def solve_with_pyvrp(file: Path, matrix: Matrix, seconds: float, seed: int) -> list[list[int]]:
    """Routes as lists of clients, which are numbered from 1.

    Args:
        file: the instance.
        matrix: distances and durations to use instead of its own.
        seconds: of running time.
        seed: of the solver.
    """
    pyvrp: Any = import_module("pyvrp")
    stop: Any = import_module("pyvrp.stop")
    problem = pyvrp.read(file).replace(distance_matrices=[matrix], duration_matrices=[matrix])
    found = pyvrp.solve(problem, stop.MaxRuntime(seconds), seed=seed, display=False)
    return [[1 + visit.idx for visit in route if visit.is_client()] for route in found.best.routes()]


def solve_with_ortools(file: Path, matrix: Matrix, seconds: float, seed: int) -> list[list[int]]:
    """Routes by OR-Tools, with the capacities and time windows of the instance.

    Args:
        file: the instance.
        matrix: distances and durations to use instead of its own.
        seconds: of running time.
        seed: is not used, as this solver has none for its local search.
    """
    del seed
    enums: Any = import_module("ortools.constraint_solver.routing_enums_pb2")
    solver: Any = import_module("ortools.constraint_solver.pywrapcp")
    instance: Any = import_module("vrplib").read_instance(file)
    n, vehicles = len(matrix), int(instance.get("vehicles", len(matrix)))
    manager = solver.RoutingIndexManager(n, vehicles, 0)
    model = solver.RoutingModel(manager)
    rows, service = matrix.tolist(), [int(x) for x in instance.get("service_time", np.zeros(n))]
    demands = [int(x) for x in instance["demand"]]

    def cost(start: int, end: int) -> int:
        return rows[manager.IndexToNode(start)][manager.IndexToNode(end)]

    def duration(start: int, end: int) -> int:
        return cost(start, end) + service[manager.IndexToNode(start)]

    model.SetArcCostEvaluatorOfAllVehicles(model.RegisterTransitCallback(cost))
    load = model.RegisterUnaryTransitCallback(lambda index: demands[manager.IndexToNode(index)])
    model.AddDimension(load, 0, int(instance["capacity"]), True, "load")
    if "time_window" in instance:
        windows = np.asarray(instance["time_window"]).astype(int)
        horizon = int(windows.max())
        model.AddDimension(model.RegisterTransitCallback(duration), horizon, horizon, False, "time")
        time = model.GetDimensionOrDie("time")
        for node in range(1, n):
            time.CumulVar(manager.NodeToIndex(node)).SetRange(*windows[node].tolist())
    options = solver.DefaultRoutingSearchParameters()
    options.first_solution_strategy = enums.FirstSolutionStrategy.PARALLEL_CHEAPEST_INSERTION
    options.local_search_metaheuristic = enums.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    options.time_limit.FromMilliseconds(int(1000 * seconds))
    found = model.SolveWithParameters(options)
    if found is None:
        return []
    routes = []
    for vehicle in range(vehicles):
        index, route = found.Value(model.NextVar(model.Start(vehicle))), []
        while not model.IsEnd(index):
            route.append(manager.IndexToNode(index))
            index = found.Value(model.NextVar(index))
        routes += [route] if route else []
    return routes


SOLVERS = {"pyvrp": solve_with_pyvrp, "ortools": solve_with_ortools}


def cost_of(routes: list[list[int]], matrix: NDArray[Any]) -> int:
    """The total of a matrix along routes from the depot and back.

    Args:
        routes: lists of clients.
        matrix: the costs.
    """
    return int(sum(matrix[[0, *route], [*route, 0]].sum() for route in routes))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("instance", type=Path)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--solver", choices=SOLVERS, default="pyvrp")
    options = parser.parse_args()
    given = read_matrix(options.instance)
    print(audit_matrix(given))
    paths = closure(given)
    for name in ("given", "decrease-only", "nearest"):
        matrix = given.astype(np.int64)
        if name != "given":
            method = "active-set" if name == "nearest" else "decrease-only"
            matrix = nearest_metric(given, method=method, integers=True).matrix
        costs = []
        for seed in range(options.seeds if options.solver == "pyvrp" else 1):
            routes = SOLVERS[options.solver](options.instance, matrix, options.seconds, seed)
            costs.append(cost_of(routes, paths) if routes else float("inf"))
        spread = f" ({min(costs):,.0f} to {max(costs):,.0f})" if len(costs) > 1 else ""
        print(f"{options.solver}, {name:<13} cost {np.mean(costs):,.0f}{spread}")


if __name__ == "__main__":
    main()
