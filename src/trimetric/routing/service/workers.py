"""Workers: processes that share one map in memory and one listening socket."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
import time
from types import FrameType
from typing import TYPE_CHECKING, Any

from trimetric.routing.service.counters import Counters
from trimetric.routing.service.limits import Limits

if TYPE_CHECKING:
    import uvicorn

GRACE = 10
"""seconds that open requests have to finish after the service is told to stop"""

EARLY = 5.0
"""a worker that ends sooner than this after its start, in seconds, is not started anew at once"""


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def listen(host: str, port: int) -> socket.socket:
    """Open the socket on which the service listens.

    Args:
        host: a name or an address of this machine.
        port: 0 for any that is free.

    Raises:
        OSError: if that is impossible, such as for a port in use.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    found = socket.socket(family, kind, protocol)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(2048)
    except OSError:
        found.close()
        raise
    found.setblocking(False)
    return found


def make_server(app: Any, limits: Limits) -> uvicorn.Server:
    """Make the server of one process: `run(sockets=[sock])` answers requests until SIGTERM or SIGINT.

    Args:
        app: from `make_app`.
        limits: of a request.
    """
    import uvicorn

    from trimetric.routing.service.connections import limited_connection

    config = uvicorn.Config(
        app,
        http=limited_connection(limits),
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=max(1, round(limits.arrival_seconds)),
        timeout_graceful_shutdown=GRACE,
    )
    return uvicorn.Server(config)


def serve_by_workers(app: Any, sock: socket.socket, limits: Limits, counters: Counters) -> int:
    """Fork workers after all is loaded, so that they share it; start those anew that end; stop all on a signal.

    Args:
        app: of FastAPI; the number of workers is that of the rows of `counters`.
        sock: what `listen` returned.
        limits: of a request.
        counters: in shared memory.

    Returns:
        The exit code: 0, or 1 where a worker had to be killed.
    """
    # Objects that exist now are left alone by the garbage collector, which would write to their pages and copy them.
    gc.collect()
    gc.freeze()
    stopping: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        stopping.append(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    running: dict[int, tuple[int, float]] = {}
    try:
        for worker in range(len(counters.rows)):
            running[_fork(worker, app, sock, limits, counters)] = (worker, time.monotonic())
        while not stopping:
            for worker, started in _ended(running):
                if stopping:
                    break
                if time.monotonic() - started < EARLY:
                    time.sleep(1.0)
                print(f"worker {worker} has ended, and is started anew", file=sys.stderr, flush=True)
                running[_fork(worker, app, sock, limits, counters)] = (worker, time.monotonic())
            time.sleep(0.1)
        return _stop(running)
    finally:
        for pid in running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for number, handler in before.items():
            signal.signal(number, handler)


def _fork(worker: int, app: Any, sock: socket.socket, limits: Limits, counters: Counters) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _exit)  # before uvicorn handles it, and after, as it raises the signal again
        counters.started(worker)
        make_server(app, limits).run(sockets=[sock])
        code = 0
    except BaseException as error:  # whatever it is, the worker must not continue as a copy of the parent
        print(f"worker {worker}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def _exit(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    os._exit(0)


def _ended(running: dict[int, tuple[int, float]]) -> list[tuple[int, float]]:
    """Remove the workers that have ended, and return them."""
    return [running.pop(pid) for pid in list(running) if os.waitpid(pid, os.WNOHANG)[0]]


def _stop(running: dict[int, tuple[int, float]]) -> int:
    for pid in running:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + GRACE + 5
    while running and time.monotonic() < end:
        _ended(running)
        time.sleep(0.05)
    return 1 if running else 0
