"""The service under load: requests per second, times, errors and memory, at the highest rate that the machine holds."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.serve_requests import Asked, Mix, Place, get

CONNECTIONS = 8
"""requests that are open at any time"""
SLOW_CLIENTS = 4
"""connections that send half of a request and wait"""
LOOK = 10.0
"""seconds between two looks at the memory"""


@dataclass(frozen=True)
class Kind:
    """Requests of one kind: how many, and milliseconds to answer half and 99 % of them."""

    kind: str
    count: int
    p50: float
    p99: float


@dataclass(frozen=True)
class Load:
    """What a load test has found.

    Attributes:
        nodes: of the map.
        seconds: of the test.
        workers: processes that answer.
        requests: answered.
        per_second: answered requests per second.
        busy_ms: milliseconds of a processor that the workers used per request.
        p50: milliseconds to answer half of the good requests.
        p99: milliseconds to answer 99 % of them.
        errors: good requests without status 200, others without 4xx, and connections that broke.
        slow_clients: connections of slow clients that were ended by the service with 408.
        private_mb: memory of all workers that no other process shares, at each look.
        resident_mb: resident memory of all workers, shared pages counted for each, at each look.
        restarts: workers that had to be started anew.
        kinds: by kind of request.
    """

    nodes: int
    seconds: float
    workers: int
    requests: int
    per_second: float
    busy_ms: float
    p50: float
    p99: float
    errors: dict[str, int]
    slow_clients: int
    private_mb: list[float]
    resident_mb: list[float]
    restarts: int
    kinds: list[Kind]


@dataclass
class _Record:
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    slow: int = 0
    private: list[float] = field(default_factory=list)
    resident: list[float] = field(default_factory=list)
    starts: int = 0
    busy: float = 0.0


def run(*, minutes: float, map_file: Path | None = None, workers: int = 2) -> Load:
    """Start the service in processes of its own, and ask it from this one.

    Args:
        minutes: how long.
        map_file: an OpenStreetMap file; by default a grid of 900 crossings.
        workers: processes that answer.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = map_file or _grid(Path(folder) / "grid.osm")
        words = [sys.executable, "-m", "trimetric", "serve", str(file), "--port", "0", "--workers", str(workers)]
        words += ["--max-wait", "5"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            port = _address(process)
            places = _places(file)
            record = _Record()
            record.busy = -_busy(process.pid)
            start = time.monotonic()
            asyncio.run(_ask(port, places, start + 60 * minutes, record))
            seconds = time.monotonic() - start
            record.busy += _busy(process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            code = process.wait(timeout=60)
    if code:
        record.errors[f"the service ended with {code}"] += 1
    return _summary(record, len(places), seconds, workers)


def _address(process: subprocess.Popen[str]) -> int:
    for line in process.stdout or ():
        if found := re.search(r"listening on http://127\.0\.0\.1:(\d+)", line):
            return int(found[1])
    raise RuntimeError(f"the service has ended with {process.wait()}")


def _busy(pid: int) -> float:
    """Return the seconds of a processor that the children of a process have used."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    fields = [Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split() for child in children]
    return sum(int(row[11]) + int(row[12]) for row in fields) / os.sysconf("SC_CLK_TCK")


def _places(file: Path) -> list[Place]:
    from trimetric.graphs.files.cache import default_folder
    from trimetric.routing import read_roads

    coordinates = read_roads(file, cache=default_folder()).graph.coordinates
    if coordinates is None:
        raise ValueError(f"{file}: expected a map with coordinates, got none")
    noise = np.random.default_rng(0).normal(scale=1e-4, size=coordinates.shape)  # ten meters
    return [(lon, lat) for lon, lat in (coordinates + noise).tolist()]


async def _ask(port: int, places: list[Place], end: float, record: _Record) -> None:
    clients = [_client(port, Mix(places, seed), end, record) for seed in range(CONNECTIONS)]
    slow = [_slow_client(port, end, record) for _ in range(SLOW_CLIENTS)]
    await asyncio.gather(*clients, *slow, _look(port, end, record))


async def _client(port: int, mix: Mix, end: float, record: _Record) -> None:
    reader = writer = None
    while time.monotonic() < end:
        asked = mix.next()
        start = time.perf_counter()
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(asked.data)
            status, _, closes = await asyncio.wait_for(_answer(reader), 60)  # type: ignore[arg-type]
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            record.errors[f"{asked.kind}: {type(error).__name__}"] += 1
            writer = None
            continue
        record.times[asked.kind].append(time.perf_counter() - start)
        if not _expected(asked, status):
            record.errors[f"{asked.kind}: {status}"] += 1
        if closes:
            writer.close()
            writer = None
    if writer is not None:
        writer.close()


def _expected(asked: Asked, status: int) -> bool:
    return status == 200 if asked.good else 400 <= status < 500


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes, bool]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = re.search(rb"content-length: (\d+)", head)
    body = await reader.readexactly(int(length[1])) if length else b""
    return int(head.split(b" ", 2)[1]), body, b"connection: close" in head


async def _slow_client(port: int, end: float, record: _Record) -> None:
    while time.monotonic() < end:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(b"GET /table/v1/driving/1,2")
            status, _, _ = await asyncio.wait_for(_answer(reader), 30)
            record.slow += status == 408
            if status != 408:
                record.errors[f"slow client: {status}"] += 1
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            record.errors[f"slow client: {type(error).__name__}"] += 1
        writer.close()


async def _look(port: int, end: float, record: _Record) -> None:
    """Read the memory of the workers now and then."""
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(get("/metrics"))
        text = (await asyncio.wait_for(_answer(reader), 60))[1].decode()
        writer.close()

        def total(name: str, text: str = text) -> float:
            return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(f"{name}{{"))

        record.private.append(total("trimetric_worker_private_bytes") / 1e6)
        record.resident.append(total("trimetric_worker_resident_bytes") / 1e6)
        record.starts = int(total("trimetric_worker_starts_total"))
        left = end - time.monotonic()
        if left <= 0:
            return
        await asyncio.sleep(min(LOOK, left))


def _summary(record: _Record, nodes: int, seconds: float, workers: int) -> Load:
    kinds = []
    for kind, times in sorted(record.times.items()):
        p50, p99 = (1000 * np.percentile(times, [50, 99])).tolist()
        kinds.append(Kind(kind, len(times), p50, p99))
    good = np.concatenate([times for kind, times in record.times.items() if kind != "malformed"])
    p50, p99 = (1000 * np.percentile(good, [50, 99])).tolist()
    count = sum(map(len, record.times.values()))
    return Load(
        nodes=nodes,
        seconds=seconds,
        workers=workers,
        requests=count,
        per_second=count / seconds,
        busy_ms=1000 * record.busy / count,
        p50=p50,
        p99=p99,
        errors=dict(record.errors),
        slow_clients=record.slow,
        private_mb=record.private,
        resident_mb=record.resident,
        restarts=record.starts - workers,
        kinds=kinds,
    )


def show(found: Load, console: Console) -> None:
    """Print what was found.

    Args:
        found: by `run`.
        console: to print on.
    """
    table = Table(
        title=f"The service under load, {found.nodes:,} nodes, {found.workers} workers, {CONNECTIONS} clients"
    )
    for column in ("requests", "count", "per second", "p50 (ms)", "p99 (ms)"):
        table.add_column(column, justify="left" if column == "requests" else "right")
    rows = [*found.kinds, Kind("all; times of good ones", found.requests, found.p50, found.p99)]
    for row in rows:
        rate = row.count / found.seconds
        table.add_row(row.kind, f"{row.count:,}", f"{rate:,.1f}", f"{row.p50:.1f}", f"{row.p99:.1f}")
    console.print(table)
    shown = [f"{found.private_mb[i]:,.0f}" for i in np.linspace(0, len(found.private_mb) - 1, 6).astype(int)]
    console.print(f"{found.seconds / 60:.1f} minutes, load average at the end {os.getloadavg()[0]:.1f}")
    console.print(f"memory of the workers that is not shared, in MB over time: {', '.join(shown)}")
    console.print(
        f"resident memory with shared pages, in MB: {found.resident_mb[0]:,.0f} to {found.resident_mb[-1]:,.0f}"
    )
    console.print(f"processor time of the workers per request: {found.busy_ms:.2f} ms")
    console.print(f"slow clients ended with 408: {found.slow_clients}; workers started anew: {found.restarts}")
    console.print(f"errors: {sum(found.errors.values())} {found.errors or ''}")


def _grid(file: Path, side: int = 30) -> Path:
    """Write a town of crossing streets, every other one one-way."""
    step = 0.001
    nodes = [
        f'<node id="{r * side + c + 1}" lat="{41 + step * r:.4f}" lon="{-8 + step * c:.4f}"/>'
        for r in range(side)
        for c in range(side)
    ]
    ways = []
    for line in range(side):
        for along in (True, False):
            refs = [line * side + i if along else i * side + line for i in range(side)]
            way = '<tag k="highway" v="residential"/>'
            if 0 < line < side - 1:
                way += f'<tag k="oneway" v="{"yes" if line % 2 else "-1"}"/>'
            points = "".join(f'<nd ref="{ref + 1}"/>' for ref in refs)
            ways.append(f'<way id="{2 * line + along + 1}">{points}{way}</way>')
    file.write_text(f'<osm version="0.6">{"".join(nodes)}{"".join(ways)}</osm>')
    return file
