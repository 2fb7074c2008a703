"""The options of OSRM's services, read from a query string or a JSON object into one form.

A reader takes a text (`sources=0;1`) or the JSON value that stands for the same (`[0, 1]`), and returns the value or
raises `RefusedError`.  What is not in a service's table of options is refused, and so is what this service does not do:
an option is never ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from trimetric.routing.service.refusals import RefusedError

Reader = Callable[[str, Any], Any]

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INDEX = re.compile(r"\d{1,9}", re.ASCII)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def malformed(name: str, expected: str, value: Any) -> RefusedError:
    """Return the refusal of a value that cannot be parsed."""
    return RefusedError("InvalidQuery", f"{name}: expected {expected}, got {_shown(value)}")


def unsupported(name: str, value: Any, *, supported: str) -> RefusedError:
    """Return the refusal of what OSRM has and this service has not."""
    return RefusedError("NotImplemented", f"{name}: expected {supported}, got {_shown(value)}, which is not supported")


def read_number(name: str, value: Any) -> float:
    """Read a finite number."""
    if isinstance(value, str) and NUMBER.fullmatch(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise malformed(name, "a finite number", value)
    return float(value)


def read_positive(name: str, value: Any) -> float:
    """Read a number above 0."""
    number = read_number(name, value)
    if not number > 0:
        raise RefusedError("InvalidOptions", f"{name}: expected a number > 0, got {number:g}")
    return number


def read_index(name: str, value: Any) -> int:
    """Read a whole number >= 0."""
    if isinstance(value, str) and INDEX.fullmatch(value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**9:
        raise malformed(name, "a whole number >= 0", value)
    return value


def read_flag(name: str, value: Any) -> bool:
    """Read `true` or `false`."""
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return value == "true"
    raise malformed(name, "true or false", value)


def read_list(name: str, value: Any, *, separator: str = ";") -> list[Any]:
    """Split a list; an empty text in a list of texts stands for the default."""
    if isinstance(value, str):
        return value.split(separator)
    if not isinstance(value, list):
        raise malformed(name, "a list", value)
    return value


def read_indices(name: str, value: Any) -> list[int] | None:
    """Read indices of coordinates; None for all of them."""
    if value == "all":
        return None
    return [read_index(name, item) for item in read_list(name, value)] or None


def read_radiuses(name: str, value: Any) -> list[float | None]:
    """Read a limit for each place in meters: a number, infinity for "unlimited", None for the default."""
    found: list[float | None] = []
    for item in read_list(name, value):
        if item in ("", None):
            found.append(None)
        elif item == "unlimited":
            found.append(math.inf)
        else:
            radius = read_number(name, item)
            if radius < 0:
                raise RefusedError("InvalidOptions", f"{name}: expected numbers >= 0, got {radius:g}")
            found.append(radius)
    return found


def one_of(*choices: str) -> Reader:
    """Return a reader of one of some words."""

    def read(name: str, value: Any) -> str:
        word = str(value).lower() if isinstance(value, bool) else value
        if not isinstance(word, str) or word not in choices:
            raise malformed(name, f"one of {', '.join(choices)}", value)
        return word

    return read


def some_of(*choices: str) -> Reader:
    """Return a reader of a list of some words; `true` stands for all, `false` for none."""

    def read(name: str, value: Any) -> frozenset[str]:
        if value in (True, "true"):
            return frozenset(choices)
        if value in (False, "false"):
            return frozenset()
        words = read_list(name, value, separator=",")
        wrong = [word for word in words if not isinstance(word, str) or word not in choices]
        if wrong or not words:
            raise malformed(name, f"some of {', '.join(choices)}", wrong[0] if wrong else value)
        return frozenset(words)

    return read


def only(*accepted: Any) -> Reader:
    """Return a reader that takes the values that change nothing, and refuses others as unsupported."""
    words = [str(value).lower() for value in accepted]

    def read(name: str, value: Any) -> None:
        items = value if isinstance(value, list) else str(value).split(";")
        if not all(("" if item is None else str(item).lower()) in (*words, "") for item in items):
            raise unsupported(name, value, supported=" or ".join(words) or "none")

    return read


GENERAL: dict[str, Reader] = {
    "radiuses": read_radiuses,
    "skip_waypoints": read_flag,
    "generate_hints": only("false"),
    "hints": only(),
    "bearings": only(),
    "approaches": only("unrestricted"),
    "exclude": only(),
    "snapping": only("default"),
    "format": only("json"),
}
"""Options of every service."""

TABLE: dict[str, Reader] = {
    **GENERAL,
    "sources": read_indices,
    "destinations": read_indices,
    "annotations": some_of("duration", "distance"),
    "fallback_speed": read_positive,
    "fallback_coordinate": one_of("input", "snapped"),
    "scale_factor": read_positive,
}
NEAREST: dict[str, Reader] = {**GENERAL, "number": read_index}
ROUTE: dict[str, Reader] = {
    **GENERAL,
    "alternatives": only("false", "0"),
    "steps": only("false"),
    "annotations": some_of("duration", "distance", "nodes", "speed", "weight", "datasources"),
    "geometries": one_of("polyline", "polyline6", "geojson"),
    "overview": one_of("simplified", "full", "false"),
    "continue_straight": only("default", "false"),
    "waypoints": only(),
}
SERVICES: dict[str, dict[str, Reader]] = {"table": TABLE, "nearest": NEAREST, "route": ROUTE}
"""The options of each service, by name."""
