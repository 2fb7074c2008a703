"""A service of a small town, answering in a thread."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from running_service import LIMITS, Running, start, town_model
from town import town_map

NEEDED = ("fastapi", "uvicorn", "httptools", "orjson", "osmium", "numba", "routingkit_cch")


@pytest.fixture(scope="session")
def town_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("town") / "small_town.osm"
    file.write_text(town_map())
    return file


@pytest.fixture(scope="session")
def town(town_file: Path) -> Iterator[Running]:
    for library in NEEDED:
        pytest.importorskip(library)
    from trimetric.routing import read_roads
    from trimetric.routing.service.loading import load_service

    model = town_model(read_roads(town_file).graph)
    yield from start(load_service(town_file, model=model, limits=LIMITS))
