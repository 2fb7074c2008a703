"""Requests for the load test of the service: good ones, malformed ones, and the bytes of each."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass

Place = tuple[float, float]


@dataclass(frozen=True)
class Asked:
    """A request.

    Attributes:
        kind: how it is counted.
        data: its bytes.
        good: whether it must be answered with 200; others with 4xx.
    """

    kind: str
    data: bytes
    good: bool = True


def get(path: str) -> bytes:
    """Write a GET request."""
    return f"GET {path} HTTP/1.1\r\nhost: localhost\r\naccept-encoding: gzip\r\n\r\n".encode()


def post(path: str, body: bytes) -> bytes:
    """Write a POST request."""
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body


class Mix:
    """Random requests of all kinds, the same for the same seed.

    Args:
        places: near roads, (longitude, latitude).
        seed: of the choice.
    """

    def __init__(self, places: list[Place], seed: int) -> None:
        self.places = places
        self.random = random.Random(seed)
        makers: list[tuple[float, Callable[[], Asked]]] = [
            (30, lambda: self._table(self.random.randint(2, 10))),
            (5, lambda: self._table(50)),
            (30, self._route),
            (15, lambda: Asked("nearest", get(f"/nearest/v1/driving/{self._line(1)}?number=3"))),
            (5, self._post_table),
            (4, self._distances),
            (1, lambda: Asked("health", get("/health"))),
            (10, self._malformed),
        ]
        self.weights = [weight for weight, _ in makers]
        self.makers = [maker for _, maker in makers]

    def next(self) -> Asked:
        """Return the next request."""
        return self.random.choices(self.makers, self.weights)[0]()

    def _few(self, count: int) -> list[Place]:
        return self.random.choices(self.places, k=count)

    def _line(self, count: int) -> str:
        return ";".join(f"{lon:.6f},{lat:.6f}" for lon, lat in self._few(count))

    def _table(self, count: int) -> Asked:
        kind = "table, 2 to 10 places" if count <= 10 else f"table, {count} places"
        return Asked(kind, get(f"/table/v1/driving/{self._line(count)}?annotations=duration,distance"))

    def _route(self) -> Asked:
        return Asked("route", get(f"/route/v1/driving/{self._line(2)}?geometries=polyline6"))

    def _post_table(self) -> Asked:
        body = json.dumps({"coordinates": self._few(20), "sources": [0, 1]}).encode()
        return Asked("table, 2 x 20, posted", post("/table/v1/driving", body))

    def _distances(self) -> Asked:
        body = json.dumps({"sources": self._few(5), "targets": self._few(5)}).encode()
        return Asked("distances, 5 x 5", post("/distances", body))

    def _malformed(self) -> Asked:
        two = self._line(2)
        chosen = self.random.choice(
            [
                get(f"/table/v1/driving/{self._noise()}"),
                get(f"/route/v1/driving/{two}?{self._noise()}"),
                get("/table/v1/driving/nan,nan;inf,-inf"),
                get("/table/v1/driving/%ff%fe;%00"),
                get(f"/table/v1/driving/{two}?sources=99"),
                get("/nearest/v1/driving/0.0,0.0"),
                get(f"/{self._noise()}"),
                post("/table/v1/driving", b'{"coordinates": [[NaN, 1], [2, 3]]}'),
                post("/distances", b"\xff\xfe{" + b"[" * 500),
                post("/audit", b'{"matrix": [[0, 1]]}'),
                get("/table/v1/driving/" + ";".join(["1,2"] * 2000)),
                post("/table/v1/driving", json.dumps({"coordinates": [[1.0, 2.0]] * 11_000}).encode()),
            ]
        )
        return Asked("malformed", chosen, good=False)

    def _noise(self) -> str:
        letters = "abc019.,;=&-+()[]{}~!*'$"
        return "x" + "".join(self.random.choices(letters, k=self.random.randint(1, 40)))
