"""The numbers that the paper prints."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def paper_values(label: str) -> dict[str, Any]:
    """The values of a table or figure, by its label in the paper."""
    with (Path(__file__).parent / "paper_values.toml").open("rb") as file:
        return tomllib.load(file)[label]
