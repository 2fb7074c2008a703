"""From files to a service that is ready to answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trimetric._support.optional import optional
from trimetric.graphs.files.formats import find_format
from trimetric.graphs.graph import Graph
from trimetric.models.model import Model
from trimetric.routing.road_map import Weight, read_roads
from trimetric.routing.service.limits import Limits

if TYPE_CHECKING:  # what imports FastAPI is imported once it is known to be there
    from trimetric.routing.service.app import Service

NEEDED = ("fastapi", "uvicorn", "httptools", "orjson")


def load_service(
    file: Path,
    *,
    model: Model | None = None,
    only_model: Model | None = None,
    weight: Weight = "time",
    max_snap: float = 500.0,
    limits: Limits | None = None,
    workers: int = 1,
    allow_origin: str | None = None,
    cache: Path | None = None,
) -> Service:
    """Load a map or a model, and prepare all that workers share.

    Args:
        file: a map or a graph; its name is the title of the service.
        model: of the same map, for the learned engine.
        only_model: the model to serve without a map of roads; `file` is then not read.
        weight: what routes minimize; for a graph, what its weights are.
        max_snap: the largest distance from a place to a road, in meters, where a request gives none.
        limits: of a request.
        workers: how many processes will count requests.
        allow_origin: a website whose scripts may read answers; None for none.
        cache: a folder that keeps the parsed map; None for none.

    Returns:
        The service, see `trimetric.routing.service.app`.

    Raises:
        ValueError: if the model is not one of this map.
        InputError: if the map cannot be read.
        MissingExtraError: if the libraries of the service are not installed.
    """
    for module in NEEDED:
        optional(module, needed_for="the service", extra="serve")
    from trimetric.routing.service.app import Service
    from trimetric.routing.service.counters import Counters
    from trimetric.routing.service.engine import Engine
    from trimetric.routing.service.learned import LearnedEngine

    graph: Graph | None = None
    engines: list[Engine] = []
    if only_model is not None:
        engines.append(LearnedEngine(only_model))
    else:
        from trimetric.routing.service.exact import ExactEngine

        own_weight = None if find_format(file).kind == "map" else weight
        roads = read_roads(file, weight=own_weight, cache=cache)
        graph = roads.graph
        engines.append(ExactEngine(roads, weight))
        if model is not None:
            learned = LearnedEngine(model, rows_of_nodes(model, graph))
            if learned.annotations[0] != engines[0].annotations[0]:
                learns, wants = learned.annotations[0], engines[0].annotations[0]
                raise ValueError(f"model: expected one of the {wants} that routes minimize, got one of the {learns}")
            engines.append(learned)
    service = Service(
        title=title_of(file),
        engines=tuple(engines),
        graph=graph,
        limits=limits or Limits(),
        max_snap=max_snap,
        counters=Counters(workers),
        allow_origin=allow_origin,
    )
    service.prepare()
    return service


def title_of(file: Path) -> str:
    """Make a title of the name of a file.

    Args:
        file: a map or a model.

    Examples:
        >>> title_of(Path("maps/porto_portugal.osm.pbf"))
        'Porto Portugal'
    """
    words = file.name.split(".")[0].replace("_", " ").strip() or file.name
    return words.title() if words.islower() else words


def rows_of_nodes(model: Model, graph: Graph) -> np.ndarray:
    """Find the row of a model for each node of a graph, by their ids.

    Args:
        model: with ids.
        graph: whose nodes the model must know.

    Raises:
        ValueError: if the model does not know a node.
    """
    rows = {str(name): row for row, name in enumerate(model.ids or ())}
    found = np.array([rows.get(name, -1) for name in graph.ids()], np.int64)
    if (found < 0).any():
        missing = int((found < 0).sum())
        raise ValueError(
            f"model: expected a model of this map, got one that does not know {missing:,} of its {len(found):,} nodes"
        )
    return found


def service_text(service: Service, *, workers: int, where: str) -> str:
    """Say what is served, for people.

    Args:
        service: from `load_service`.
        workers: how many processes answer requests.
        where: the address.
    """
    from trimetric.routing.service.page_endpoints import describe

    about = describe(service)
    limits = service.limits
    costs = " and ".join(about["annotations"])
    lines = [
        f"{about['title']}: {about['nodes']:,} nodes, {costs}, routes minimize the {about['cost']}; "
        f"engines: {', '.join(about['engines'])}",
        f"workers: {workers}; limits of a request: {limits.coordinates:,} places, {service.max_snap:g} m from a road, "
        f"{limits.cells:,} pairs, {limits.seconds:g} s, a body of {limits.body_bytes:,} and headers of "
        f"{limits.header_bytes:,} bytes, {limits.arrival_seconds:g} s to arrive, {limits.connections:,} connections",
        f"websites whose scripts may read answers: {service.allow_origin or 'none'}",
        f"listening on {where}, with a map at {where}/ and documentation at {where}/docs",
    ]
    return "\n".join(lines)
