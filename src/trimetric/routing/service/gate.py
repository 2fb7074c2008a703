"""What every request passes: counting, security headers, and an answer for each error."""

from __future__ import annotations

import time
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import orjson

from trimetric.routing.service.counters import OTHER, Counters

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

CONTENT_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", f"{CONTENT_POLICY}; base-uri 'none'; frame-ancestors 'none'".encode()),
]


class Gate:
    """An application of ASGI around another one.

    Args:
        app: what answers requests.
        counters: of all workers.
        allow_origin: a website whose scripts may read answers, "*" for all; None for none.
    """

    def __init__(self, app: Any, counters: Counters, allow_origin: str | None) -> None:
        self.app, self.counters = app, counters
        self.headers = list(HEADERS)
        if allow_origin is not None:
            self.headers.append((b"access-control-allow-origin", allow_origin.encode("latin-1")))

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        start = time.perf_counter()
        status = 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *self.headers]
            await send(message)

        self.counters.opened(1)
        try:
            await self.app(scope, receive, sent)
        except Exception:  # a mistake of this service, which must neither end it nor tell its insides
            traceback.print_exc()
            if not status:
                await _fail(sent)
        finally:
            self.counters.opened(-1)
            self.counters.add(endpoint_name(scope["path"]), status or 499, time.perf_counter() - start)


async def _fail(send: Send) -> None:
    body = orjson.dumps({"code": "InternalError", "message": "the service has made a mistake; its log has more"})
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 500, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def endpoint_name(path: str) -> str:
    """Return the name under which a path is counted.

    Args:
        path: of a URL.

    Examples:
        >>> endpoint_name("/table/v1/driving/1,2;3,4"), endpoint_name("/nearest"), endpoint_name("/no/such/page")
        ('table', 'closest', 'other')
    """
    _, first, *rest = path.split("/", 2)
    if first == "nearest" and not rest:
        return "closest"
    if first in ("table", "route", "nearest") and rest:
        return first
    if not rest and first in ("distances", "audit", "field", "map", "health", "metrics"):
        return first
    return "page" if first in ("", "docs", "page", "about", "openapi.json") else OTHER
