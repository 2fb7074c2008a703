"""Select cells of an experiment by their settings, so that one command runs one cell of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reproduction.frame.experiment import C, settings


def select_cells(cells: Sequence[C], only: Sequence[str]) -> list[C]:
    """Select cells by their settings.

    Args:
        cells: to select from.
        only: conditions that must all hold, each `NAME=VALUE` or `NAME=VALUE,VALUE` (one of these values).

    Raises:
        ValueError: if a name or a value does not occur.
    """
    chosen = list(cells)
    for word in only:
        name, equals, text = word.partition("=")
        known = [settings(cell) for cell in chosen]
        names = sorted({key for own in known for key in own})
        if not equals or name not in names:
            raise ValueError(f"--only: expected NAME=VALUE with a NAME among {', '.join(names)}, got {word!r}")
        values = text.split(",")
        there = list(dict.fromkeys(_written(own[name]) for own in known))
        if strange := [value for value in values if value not in there]:
            raise ValueError(f"--only: expected {name} to be some of {', '.join(there)}, got {strange[0]!r}")
        chosen = [cell for cell, own in zip(chosen, known, strict=True) if _written(own[name]) in values]
    return chosen


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
