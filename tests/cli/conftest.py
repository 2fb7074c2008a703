"""What several tests of the command share."""

from __future__ import annotations

from pathlib import Path

import pytest
from town import town_map

from trimetric.cli import main


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The map and a model of it, made by the command."""
    folder = tmp_path_factory.mktemp("graph")
    (folder / "town.osm").write_text(town_map())
    words = ["fit", "--graph", folder / "town.osm", "-o", folder / "town.safetensors", "--cache", folder / "cache"]
    sizes = ["--sample", "10000", "--epochs", "12", "--batch-size", "128", "--dim", "16", "--learning-rate", ".01"]
    assert main([*map(str, words), *sizes, "--quiet"]) == 0
    return folder
