"""What others published for the same data sets."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("published.toml")


@cache
def published() -> dict[str, dict[str, int]]:
    """Success in percent, by method and data set."""
    with FILE.open("rb") as file:
        return tomllib.load(file)
