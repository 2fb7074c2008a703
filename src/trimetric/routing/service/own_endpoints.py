"""The paths of this service's own endpoints."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, Response

from trimetric.routing.service.app import Service, answer, read_model
from trimetric.routing.service.documents import field_query, model_body, responses
from trimetric.routing.service.drawing import field_bytes
from trimetric.routing.service.options import read_flag, read_number
from trimetric.routing.service.own import (
    AuditRequest,
    DistancesRequest,
    NearestRequest,
    audit,
    distances,
    nearest_candidates,
)
from trimetric.routing.service.queries import places_of_rows
from trimetric.routing.service.refusals import RefusedError

FIELD_OPTIONS = ("lon", "lat", "engine", "reverse")


def add_own(app: FastAPI, service: Service) -> None:
    """Add `/distances`, `/nearest`, `/audit`, `/field`, `/health` and `/metrics`.

    Args:
        app: to add them to.
        service: all that the endpoints need.
    """

    async def ask(request: Request, kind: Any, function: Any) -> Response:
        asked = await read_model(request, service.limits, kind)
        engine, deadline = service.engine(asked.engine), service.deadline()

        def work() -> dict[str, Any]:
            return function(engine, asked, max_snap=service.max_snap, limits=service.limits, deadline=deadline)

        return await service.compute(_size(asked), work)

    async def distances_endpoint(request: Request) -> Response:
        return await ask(request, DistancesRequest, distances)

    async def nearest_endpoint(request: Request) -> Response:
        return await ask(request, NearestRequest, nearest_candidates)

    async def audit_endpoint(request: Request) -> Response:
        return await ask(request, AuditRequest, audit)

    for path, endpoint, kind, summary in (
        ("/distances", distances_endpoint, DistancesRequest, "A matrix, by any engine, from ids or coordinates"),
        ("/nearest", nearest_endpoint, NearestRequest, "Which candidates are reached first from each place"),
        ("/audit", audit_endpoint, AuditRequest, "Where a matrix breaks the triangle inequality"),
    ):
        app.add_api_route(
            path,
            endpoint,
            methods=["POST"],
            summary=summary,
            tags=["Trimetric"],
            response_class=Response,
            responses=responses(),
            openapi_extra=model_body(kind, service.engines[0]),
        )

    async def field_endpoint(request: Request) -> Response:
        asked = request.query_params
        for name in asked:
            if name not in FIELD_OPTIONS:
                raise RefusedError(
                    "InvalidQuery", f"expected the options {', '.join(FIELD_OPTIONS)}, got {name[:60]!r}"
                )
        place = [read_number(name, asked.get(name, "")) for name in ("lon", "lat")]
        reverse = read_flag("reverse", asked.get("reverse", "false"))
        engine = service.engine(asked.get("engine"))
        places = places_of_rows("lon, lat", [place], service.limits)

        def work() -> Response:
            found = engine.snap(places, np.array([service.max_snap]))
            content = field_bytes(engine.field(found, reverse=reverse))
            at = ",".join(map(repr, found.locations[0].tolist()))
            return Response(content, media_type="application/octet-stream", headers={"x-location": at})

        return await asyncio.get_running_loop().run_in_executor(service.thread, work)

    app.add_api_route(
        "/field",
        field_endpoint,
        methods=["GET"],
        summary="Travel times from a place to every node, or from every node to it, as bytes",
        tags=["Trimetric"],
        response_class=Response,
        responses=responses(binary=True),
        openapi_extra=field_query(service.engines[0]),
    )

    async def health() -> Response:
        return answer({"code": "Ok"})

    async def metrics() -> Response:
        return PlainTextResponse(service.counters.text(), media_type="text/plain; version=0.0.4")

    app.add_api_route("/health", health, methods=["GET"], summary="Whether the service answers", tags=["Operation"])
    app.add_api_route(
        "/metrics",
        metrics,
        methods=["GET"],
        summary="Counts, times and memory, for Prometheus",
        tags=["Operation"],
        response_class=PlainTextResponse,
    )


def _size(asked: Any) -> int:
    """Return how many places a request has, by which it is known to be short."""
    lists = [getattr(asked, name, None) for name in ("sources", "targets", "places", "candidates", "matrix")]
    return sum(len(items) for items in lists if items is not None)
