"""The application: which path is answered by what."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import orjson
from fastapi import FastAPI, Request
from fastapi.responses import Response
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

import trimetric
from trimetric.graphs.graph import Graph
from trimetric.routing.service.counters import Counters
from trimetric.routing.service.engine import Engine
from trimetric.routing.service.gate import Gate
from trimetric.routing.service.limits import Deadline, Limits
from trimetric.routing.service.refusals import RefusedError
from trimetric.routing.service.simplifying import simplify

PAGE = Path(__file__).parent / "page"
FEW = 100
"""places of a request that is answered at once; others go to a thread, so that short requests need not wait"""

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, eq=False, kw_only=True)
class Service:
    """All that the endpoints need.

    Attributes:
        title: what the map is called.
        engines: ways to compute travel times; the first is the default.
        graph: the roads, to be drawn; None if there is only a model.
        limits: of a request.
        max_snap: the largest distance from a place to a road, in meters, where a request gives none.
        counters: of all workers.
        allow_origin: a website whose scripts may read answers; None for none.
    """

    title: str
    engines: tuple[Engine, ...]
    graph: Graph | None
    limits: Limits
    max_snap: float
    counters: Counters
    allow_origin: str | None = None

    @cached_property
    def thread(self) -> ThreadPoolExecutor:
        """The thread for long requests: one, as a worker is meant to use one core."""
        return ThreadPoolExecutor(1)

    @cached_property
    def map(self) -> bytes:
        """The roads for the map page."""
        from trimetric.routing.service.drawing import map_bytes

        places = self.engines[0].places
        if places is None:
            return b""
        seconds = self.engines[0].annotations[0] == "duration"
        return map_bytes(places, self.graph, seconds=seconds)

    def prepare(self) -> None:
        """Make what all workers share, before they are forked."""
        for engine in self.engines:
            engine.prepare()
        simplify(np.eye(3, 2))  # compiles it
        _ = self.map

    def engine(self, name: str | None) -> Engine:
        """Return an engine by its name, by default the first.

        Args:
            name: "exact", "learned" or None.
        """
        for engine in self.engines:
            if name in (None, engine.name):
                return engine
        known = " or ".join(engine.name for engine in self.engines)
        raise RefusedError("InvalidValue", f"engine: expected {known}, got {name}")

    async def compute(self, places: int, function: Callable[..., dict[str, Any]], *arguments: Any) -> Response:
        """Compute an answer, in a thread where it may take long.

        Args:
            places: of the request.
            function: that returns the answer.
            *arguments: of the function.
        """
        if places <= FEW:
            return answer(function(*arguments))
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.thread, lambda: answer(function(*arguments)))

    def deadline(self) -> Deadline:
        """Return the moment at which a request that arrives now has taken too long."""
        return Deadline(self.limits.seconds)


def answer(body: Any, *, status: int = 200) -> Response:
    """Make a response of JSON; NaN and infinity become null, as for OSRM.

    Args:
        body: the answer, which may have NumPy arrays in it.
        status: of HTTP.
    """
    content = orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(content, status, media_type="application/json")


async def read_body(request: Request, limits: Limits) -> bytes:
    """Read the body of a request within the limits of size and time.

    Args:
        request: of FastAPI.
        limits: of a request.
    """
    said = request.headers.get("content-length", "0")
    if said.isdecimal() and int(said) > limits.body_bytes:
        raise _too_long(limits)
    body = bytearray()
    try:
        async with asyncio.timeout(limits.arrival_seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limits.body_bytes:
                    raise _too_long(limits)
    except TimeoutError:
        message = f"expected the body of the request within {limits.arrival_seconds:g} s"
        raise RefusedError("InvalidQuery", message, status=408) from None
    except ClientDisconnect:
        raise RefusedError("InvalidQuery", "expected the whole body of the request") from None
    return bytes(body)


def _too_long(limits: Limits) -> RefusedError:
    return RefusedError("TooBig", f"expected a body of up to {limits.body_bytes:,} bytes, got more", status=413)


async def read_model(request: Request, limits: Limits, kind: type[T]) -> T:
    """Read the JSON body of a request to an endpoint of this service.

    Args:
        request: of FastAPI.
        limits: of a request.
        kind: what the body must be.
    """
    body = await read_body(request, limits)
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])[:100]
        raise RefusedError("InvalidValue", f"{where or 'body'}: {first['msg']}") from None


def make_app(service: Service) -> Any:
    """Make the application.

    Args:
        service: all that the endpoints need.

    Returns:
        An application of ASGI.
    """
    from trimetric.routing.service.osrm_endpoints import add_osrm
    from trimetric.routing.service.own_endpoints import add_own
    from trimetric.routing.service.page_endpoints import add_page

    app = FastAPI(
        title=f"Travel times of {service.title}",
        version=trimetric.__version__,
        description="OSRM's services for one map, and endpoints of Trimetric. What routes minimize keeps the triangle "
        "inequality; the other cost of the same routes need not. Turn restrictions are ignored.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_exception_handler(RefusedError, _refused)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _no_such_path)  # type: ignore[arg-type]
    add_page(app, service)
    add_own(app, service)
    add_osrm(app, service)
    return Gate(app, service.counters, service.allow_origin)


async def _refused(request: Request, error: RefusedError) -> Response:  # noqa: ARG001
    return answer(error.answer(), status=error.status)


async def _no_such_path(request: Request, error: HTTPException) -> Response:
    headers = dict(error.headers or {})
    found = answer({"code": "InvalidUrl", "message": f"{request.method}: {error.detail}"}, status=error.status_code)
    found.headers.update(headers)
    return found
