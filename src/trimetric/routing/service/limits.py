"""How much one request may ask for, and for how long."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields

from trimetric.routing.service.refusals import RefusedError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a request may take; more is refused.

    Attributes:
        coordinates: places per request.
        cells: entries of a matrix per request.
        seconds: to compute an answer, from the arrival of the request.
        body_bytes: size of the body.
        header_bytes: size of the request line and the headers together, so also of a URL.
        arrival_seconds: for the headers, and again for the body, to arrive.
        connections: open connections per worker.

    Examples:
        >>> Limits(coordinates=10).coordinates
        10
        >>> Limits(seconds=0)
        Traceback (most recent call last):
            ...
        ValueError: seconds: expected a number > 0, got 0
    """

    coordinates: int = 10_000
    cells: int = 1_000_000
    seconds: float = 30.0
    body_bytes: int = 2_000_000
    header_bytes: int = 65_536
    arrival_seconds: float = 10.0
    connections: int = 1000

    def __post_init__(self) -> None:
        for item in fields(self):
            if not getattr(self, item.name) > 0:
                raise ValueError(f"{item.name}: expected a number > 0, got {getattr(self, item.name)}")

    def check_places(self, count: int) -> None:
        """Refuse a request of too many places.

        Args:
            count: of the places.
        """
        if count > self.coordinates:
            raise RefusedError("TooBig", f"expected up to {self.coordinates:,} coordinates, got {count:,}")

    def check_cells(self, rows: int, columns: int) -> None:
        """Refuse a matrix that is too large.

        Args:
            rows: of the matrix.
            columns: of the matrix.
        """
        if rows * columns > self.cells:
            raise RefusedError("TooBig", f"expected up to {self.cells:,} pairs, got {rows:,} x {columns:,}")


class Deadline:
    """The moment at which a request has taken too long.

    Nothing can interrupt compiled code, so work is done in pieces of milliseconds, with a check between them.

    Args:
        seconds: from now.

    Examples:
        >>> Deadline(60.0).check()
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Refuse to continue after the deadline."""
        if time.monotonic() > self._end:
            raise RefusedError("TooBig", f"expected a request that takes up to {self.seconds:g} s, got a longer one")
