"""A service that answers in a thread of the tests, and a model of its small town."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
import torch

import trimetric as tm
from trimetric.routing.service.limits import Limits

CLIENT = httpx.Client(timeout=30, trust_env=False, verify=False)  # one for all, as to make one takes longer than to ask

LIMITS = Limits(coordinates=200, cells=5000, seconds=20.0, body_bytes=50_000, header_bytes=8192, arrival_seconds=0.5)


@dataclass(frozen=True)
class Running:
    """A service that answers."""

    url: str
    service: Any

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def graph(self) -> tm.graphs.Graph:
        return self.service.graph

    def get(self, path: str, **options: Any) -> httpx.Response:
        return CLIENT.get(self.url + path, **options)

    def post(self, path: str, body: Any) -> httpx.Response:
        return CLIENT.post(self.url + path, json=body)


def town_model(graph: tm.graphs.Graph) -> tm.Model:
    """A model of the town that is far from exact, whose nodes are in another order."""
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    assert graph.coordinates is not None
    points = torch.tensor(graph.coordinates[order] * 1e4, dtype=torch.float32)
    ids = [graph.ids()[row] for row in order.tolist()]
    distance = tm.NormInduced(tm.Euclidean(2))
    return tm.Model(distance, ids, points, {"unit": "seconds"}, torch.tensor(graph.coordinates[order]))


def start(service: Any) -> Iterator[Running]:
    """Answer requests until the end of the tests."""
    from trimetric.routing.service.app import make_app
    from trimetric.routing.service.workers import listen, make_server

    sock = listen("127.0.0.1", 0)
    server = make_server(make_app(service), service.limits)
    service.counters.started(0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield Running(f"http://127.0.0.1:{sock.getsockname()[1]}", service)
    server.should_exit = True
    thread.join(timeout=20)
    service.thread.shutdown()
    assert not thread.is_alive()
