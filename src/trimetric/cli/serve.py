"""`trimetric serve`"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from tyro.conf import Positional, arg

from trimetric.cli.effects import Effects, Only, in_options
from trimetric.cli.general import General, unless_given
from trimetric.cli.process import flush
from trimetric.files.errors import InputError, check_inputs

if TYPE_CHECKING:
    from trimetric.routing.service.limits import Limits

MODEL = ".safetensors"
OF_ROADS = Only("with a map of roads", lambda options: options.map.suffix.lower() != MODEL)


@dataclass(frozen=True, kw_only=True)
class Serve:
    """Answer travel times over HTTP, in OSRM's format and others, with a map page.

      trimetric serve city.osm.pbf
      trimetric serve city.osm.pbf --model city.safetensors --port 8080 --workers 4
      trimetric serve city.safetensors
      trimetric serve streets.gr --weight length --check

    Then open http://127.0.0.1:5000 for the map, http://127.0.0.1:5000/docs for all endpoints, or use a client of OSRM:

      curl 'http://127.0.0.1:5000/table/v1/driving/-8.61,41.15;-8.60,41.16?annotations=duration,distance'

    A map of roads answers exactly, by a contraction hierarchy.  A model answers by its learned distance, without
    routes; with --model the map page shows both, and where they differ.  Turn restrictions are ignored.

    The workers are forked after all is loaded and share it.  Ctrl-C or SIGTERM lets open requests finish.  Only this
    machine can reach the service unless --host says otherwise; it has no passwords, so put a proxy before it that has.
    """

    map: Annotated[Positional[Path], arg(metavar="MAP")]
    """a map (.osm.pbf), a graph (.gr, .csv, ...) or a model (.safetensors)"""
    model: Annotated[Path | None, unless_given("FILE")] = None
    """a model of the same map, for the learned engine"""
    weight: Literal["time", "length"] = "time"
    """what routes minimize; for a graph, what its weights are"""
    max_snap: Annotated[float, arg(metavar="METERS")] = 500.0
    """largest distance from a place to a road, unless a request gives its own"""

    host: str = "127.0.0.1"
    """address to listen on; 0.0.0.0 for every network of this machine"""
    port: int = 5000
    """port to listen on; 0 for any free one"""
    workers: Annotated[int | None, unless_given("N")] = None
    """processes that answer requests (default: one per core)"""
    allow_origin: Annotated[str | None, unless_given("URL")] = None
    """website whose scripts may read answers, such as https://example.org, or * (default: none)"""

    max_coordinates: int = 10_000
    """places per request"""
    max_cells: int = 1_000_000
    """entries of a matrix per request"""
    max_seconds: float = 30.0
    """time to compute an answer"""
    max_body: Annotated[int, arg(metavar="BYTES")] = 2_000_000
    """size of the body of a request"""
    max_headers: Annotated[int, arg(metavar="BYTES")] = 65_536
    """size of the URL and headers of a request"""
    max_wait: Annotated[float, arg(metavar="SECONDS")] = 10.0
    """time for a client to send headers or body, or to read on"""
    max_connections: int = 1000
    """open connections per worker; more are answered with status 503"""

    cache: Annotated[Path | None, unless_given("FOLDER")] = None
    """folder that keeps the parsed map for the next start (default: in ~/.cache)"""
    check: bool = False
    """load everything, print what would be served, and exit"""
    general: General = field(default_factory=General)

    effects: ClassVar[Effects] = {"model": OF_ROADS, "weight": OF_ROADS, "cache": OF_ROADS}

    def run(self) -> int:
        limits = self._limits()
        check_inputs(self.map, self.model)
        import torch

        torch.set_num_threads(1)  # a worker uses one core, and threads of the parent would be missing in its forks
        from trimetric.routing.service.loading import load_service, service_text
        from trimetric.routing.service.workers import cores, listen, serve_by_workers

        workers = self.workers if self.workers is not None else cores()
        sock = None if self.check else self._listen(listen)
        self.general.say(f"reading {self.map}")
        try:
            service = load_service(
                self.map,
                model=None if self.model is None else self.general.load(self.model),
                only_model=self.general.load(self.map) if self.map.suffix.lower() == MODEL else None,
                weight=self.weight,
                max_snap=self.max_snap,
                limits=limits,
                workers=workers,
                allow_origin=self.allow_origin,
                cache=self._cache(),
            )
        except ValueError as error:
            raise in_options(self, error, {"roads": str(self.map), "graph": str(self.map)}) from None
        host, port = (self.host, self.port) if sock is None else sock.getsockname()[:2]
        where = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self.general.say(service_text(service, workers=workers, where=where))
        self.general.answer(address=where, workers=workers, **self._settings(service))
        if sock is None:
            return 0
        flush()  # whoever waits for the address must not wait for the end
        from trimetric.routing.service.app import make_app

        if host not in ("127.0.0.1", "::1"):
            self.general.note(f"other machines can reach {where}, and nobody is asked for a password")
        return serve_by_workers(make_app(service), sock, limits, service.counters)

    def _limits(self) -> Limits:
        for option, value in (("--port", self.port), ("--max-snap", self.max_snap)):
            if not value >= 0:
                raise InputError(f"{option}: expected a number >= 0, got {value}")
        if self.port > 65535:
            raise InputError(f"--port: expected a number up to 65535, got {self.port}")
        if self.workers is not None and not 1 <= self.workers <= 256:
            raise InputError(f"--workers: expected a number from 1 to 256, got {self.workers}")
        if self.allow_origin is not None and not (self.allow_origin.isascii() and self.allow_origin.isprintable()):
            raise InputError(f"--allow-origin: expected the address of a website, got {self.allow_origin!r}")
        from trimetric.routing.service.limits import Limits

        given = {
            "coordinates": ("--max-coordinates", self.max_coordinates),
            "cells": ("--max-cells", self.max_cells),
            "seconds": ("--max-seconds", self.max_seconds),
            "body_bytes": ("--max-body", self.max_body),
            "header_bytes": ("--max-headers", self.max_headers),
            "arrival_seconds": ("--max-wait", self.max_wait),
            "connections": ("--max-connections", self.max_connections),
        }
        for option, value in given.values():
            if not value > 0:
                raise InputError(f"{option}: expected a number > 0, got {value}")
        return Limits(**{name: value for name, (_, value) in given.items()})  # type: ignore[arg-type]

    def _listen(self, listen: Any) -> Any:
        """Open the socket before the map is read, so that a port in use is told at once."""
        try:
            return listen(self.host, self.port)
        except (OSError, UnicodeError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"--host, --port: cannot listen on {self.host}:{self.port} ({reason})") from None

    def _cache(self) -> Path:
        from trimetric.graphs.files.cache import default_folder

        return self.cache or default_folder()

    def _settings(self, service: Any) -> dict[str, Any]:
        from trimetric.routing.service.page_endpoints import describe

        found = describe(service)
        found["limits"] = asdict(service.limits)
        return {**found, "allow_origin": service.allow_origin}
