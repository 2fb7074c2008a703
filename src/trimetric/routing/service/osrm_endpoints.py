"""The paths of OSRM's services."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import FastAPI, Path, Request
from fastapi.responses import Response

from trimetric.routing.service.app import Service, read_body
from trimetric.routing.service.documents import described_query, described_url, json_body, responses, some_places
from trimetric.routing.service.options import SERVICES
from trimetric.routing.service.osrm import nearest, route, table
from trimetric.routing.service.queries import Query, query_of_json, query_of_url
from trimetric.routing.service.refusals import RefusedError


def add_osrm(app: FastAPI, service: Service) -> None:
    """Add `/table/v1`, `/nearest/v1` and `/route/v1`, for GET and POST.

    Args:
        app: to add them to.
        service: all that the endpoints need.
    """

    async def answer_query(name: str, query: Query) -> Response:
        deadline = service.deadline()
        common: dict[str, Any] = {"max_snap": service.max_snap}

        def work() -> dict[str, Any]:
            if name == "table":
                return table(engine, query, limits=service.limits, deadline=deadline, **common)
            if name == "route":
                return route(engine, query, deadline=deadline, **common)
            return nearest(engine, query, **common)

        return await service.compute(len(query.places), work)

    engine = service.engines[0]

    def add(name: str) -> None:
        few = some_places(engine)[: 1 if name == "nearest" else 2]
        example = ";".join(f"{lon},{lat}" for lon, lat in few)
        driving = Path(examples=["driving"], description="any word: a map has one kind of travel times")
        listed = Path(examples=[example], description="longitude,latitude;... or polyline(...) or polyline6(...)")

        async def by_url(
            request: Request,
            profile: str = driving,  # noqa: ARG001
            coordinates: str = listed,
        ) -> Response:
            query = query_of_url(name, coordinates, request.scope["query_string"].decode("latin-1"), service.limits)
            return await answer_query(name, query)

        async def by_body(request: Request, profile: str = driving) -> Response:  # noqa: ARG001
            if request.scope["query_string"]:
                raise RefusedError("InvalidQuery", "expected the options in the body, got some after a question mark")
            body = await read_body(request, service.limits)
            try:
                parsed = orjson.loads(body)
            except orjson.JSONDecodeError as error:
                raise RefusedError("InvalidQuery", f"expected JSON, got {str(error)[:100]}") from None
            return await answer_query(name, query_of_json(name, parsed, service.limits))

        url = f"/{name}/v1/{{profile}}/{{coordinates:path}}"
        about = {"response_class": Response, "responses": responses(), "tags": ["OSRM"]}
        app.add_api_route(
            url, by_url, methods=["GET"], summary=f"{name}, by URL", openapi_extra=described_url(name), **about
        )
        app.add_api_route(
            f"/{name}/v1/{{profile}}",
            by_body,
            methods=["POST"],
            summary=f"{name}, for large requests",
            openapi_extra=json_body(described_query(name, engine), {"coordinates": few}),
            **about,
        )

    for name in SERVICES:
        add(name)

    async def no_such_service(name: str, version: str) -> Response:
        if name in SERVICES:
            known = f"/{name}/v1/profile/coordinates"
            if version != "v1":
                raise RefusedError("InvalidVersion", f"expected version v1, got {version[:60]!r}")
            raise RefusedError("InvalidUrl", f"expected {known}")
        raise RefusedError("InvalidService", f"expected one of {', '.join(SERVICES)}, got {name[:60]!r}")

    app.add_api_route(
        "/{name}/{version}/{rest:path}", no_such_service, methods=["GET", "POST"], include_in_schema=False
    )
