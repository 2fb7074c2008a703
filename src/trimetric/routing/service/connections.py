"""Connections with limits: long headers, and clients that send or read too slowly."""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from trimetric.routing.service.limits import Limits


class HeadersTooLongError(Exception):
    """More bytes of headers than a request may have."""


class LimitedConnection(HttpToolsProtocol):
    """A connection of uvicorn that ends where a request line or headers are too long, or nothing moves for too long.

    uvicorn itself waits forever for the end of the headers, and for a client to read its answer.  `limits` is set by
    `limited_connection`, as uvicorn makes the objects.
    """

    limits = Limits()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head = 0
        self._unread = 0
        self._complaint: tuple[int, str] = (400, "InvalidUrl")
        self._waiting: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.parser is not None and not self.transport.is_closing():
            super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head = 0
        self._wait()

    def on_url(self, url: bytes) -> None:
        self._count(len(url), 414)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value), 431)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        url = httptools.parse_url(self.url)
        if url.path is None or b"\0" in self.url:  # an authority (CONNECT host:port), which has no path
            raise ValueError("url: expected a path")
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._head = 0

    def send_400_response(self, msg: str) -> None:
        status, code = self._complaint
        body = f'{{"code":"{code}","message":"{msg}"}}'.encode()
        head = STATUS_LINE[status] + b"content-type: application/json\r\nconnection: close\r\ncontent-length: "
        self.transport.write(head + str(len(body)).encode() + b"\r\n\r\n" + body)
        self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.transport.get_write_buffer_size()
        self._writing = self.loop.call_later(self.limits.arrival_seconds, self._check_reader)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None

    def _check_reader(self) -> None:
        """End the connection where the client has read nothing since the last check."""
        left = self.transport.get_write_buffer_size()
        if left >= self._unread:
            self.transport.abort()
            return
        self._unread = left
        self._writing = self.loop.call_later(self.limits.arrival_seconds, self._check_reader)

    def _count(self, size: int, status: int) -> None:
        self._head += size
        if self._head > self.limits.header_bytes:
            self._complaint = (status, "TooBig")
            raise HeadersTooLongError

    def _wait(self) -> None:
        self._stop_waiting()
        self._waiting = self.loop.call_later(self.limits.arrival_seconds, self._end)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _end(self) -> None:
        if not self.transport.is_closing():
            self._complaint = (408, "InvalidUrl")
            self.send_400_response("Expected a request, got none in time.")


def limited_connection(limits: Limits) -> type[Any]:
    """Return the class of connections with some limits.

    Args:
        limits: of a request.
    """
    return type("LimitedConnection", (LimitedConnection,), {"limits": limits})
