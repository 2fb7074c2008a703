"""The map page, what it draws from, and the documentation of the endpoints."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from trimetric.routing.service.app import PAGE, Service, answer
from trimetric.routing.service.engine import UNITS
from trimetric.routing.service.refusals import RefusedError

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


def add_page(app: FastAPI, service: Service) -> None:
    """Add `/`, `/docs`, the files of both, `/about` and `/map`.

    Args:
        app: to add them to.
        service: all that the endpoints need.
    """
    # Read once: a request names one of these, and no path of a file is ever made from it.
    files = {file.name: (file.read_bytes(), KINDS[file.suffix]) for file in PAGE.iterdir() if file.suffix in KINDS}

    def static(name: str) -> Response:
        if name not in files:
            raise RefusedError("InvalidUrl", "expected a file of the page", status=404)
        content, kind = files[name]
        return Response(content, media_type=kind, headers={"cache-control": "no-cache"})

    async def index() -> Response:
        return static("index.html")

    async def docs() -> Response:
        return static("docs.html")

    async def file(name: str) -> Response:
        return static(name)

    async def about() -> Response:
        return answer(describe(service))

    async def map_endpoint(request: Request) -> Response:
        if not service.map:
            raise RefusedError("NotImplemented", "expected a map whose nodes have places, got one without", status=404)
        headers = {"content-encoding": "gzip", "cache-control": "no-cache", "etag": tag, "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"etag": tag})
        if "gzip" not in request.headers.get("accept-encoding", ""):
            raise RefusedError("NotImplemented", "expected a client that accepts gzip", status=406)
        return Response(service.map, media_type="application/octet-stream", headers=headers)

    import hashlib

    tag = f'"{hashlib.sha256(service.map).hexdigest()[:32]}"'
    for path, endpoint in (("/", index), ("/docs", docs), ("/page/{name}", file)):
        app.add_api_route(path, endpoint, methods=["GET"], include_in_schema=False)
    app.add_api_route("/about", about, methods=["GET"], summary="What the service knows", tags=["Operation"])
    app.add_api_route("/map", map_endpoint, methods=["GET"], include_in_schema=False)


def describe(service: Service) -> dict[str, Any]:
    """Describe the map and the engines.

    Args:
        service: all that the endpoints need.
    """
    engine = service.engines[0]
    places = engine.places
    return {
        "title": service.title,
        "engines": [engine.name for engine in service.engines],
        "cost": engine.annotations[0],
        "annotations": list(engine.annotations),
        "unit": UNITS[engine.annotations[0]],
        "routes": engine.has_routes,
        "nodes": 0 if places is None else len(places),
        "bounds": None if places is None else [*places.min(axis=0).tolist(), *places.max(axis=0).tolist()],
        "max_snap": service.max_snap,
        "limits": {"coordinates": service.limits.coordinates, "cells": service.limits.cells},
    }
