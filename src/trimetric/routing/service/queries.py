"""Requests to OSRM's services, parsed: places and options, from a URL or from a JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
from numpy.typing import NDArray

from trimetric.routing.service.limits import Limits
from trimetric.routing.service.options import NUMBER, SERVICES, malformed
from trimetric.routing.service.polyline import decode_polyline
from trimetric.routing.service.refusals import RefusedError

POLYLINES = {"polyline(": 5, "polyline6(": 6}


@dataclass(frozen=True, eq=False)
class Query:
    """A request to a service of OSRM.

    Attributes:
        places: `(n, 2)` longitude and latitude of each coordinate, in degrees.
        options: the options that were given, read.
    """

    places: NDArray[np.float64]
    options: Mapping[str, Any] = field(default_factory=dict)

    def radiuses(self, default: float) -> NDArray[np.float64]:
        """Return the largest distance to a road for each place, in meters.

        Args:
            default: where the request gives none.
        """
        given = self.options.get("radiuses") or [None] * len(self.places)
        return np.array([default if radius is None else radius for radius in given], np.float64)


def query_of_url(service: str, coordinates: str, query: str, limits: Limits) -> Query:
    """Parse the end of a path and the query string of a request.

    Args:
        service: "table", "nearest" or "route".
        coordinates: `lon,lat;lon,lat`, `polyline(...)` or `polyline6(...)`, perhaps followed by `.json`.
        query: what follows the question mark.
        limits: of a request.

    Returns:
        The request.

    Raises:
        RefusedError: with OSRM's code.

    Examples:
        >>> asked = query_of_url("table", "-8.61,41.15;-8.6,41.16", "sources=0&annotations=distance", Limits())
        >>> asked.places.tolist(), asked.options["sources"]
        ([[-8.61, 41.15], [-8.6, 41.16]], [0])
    """
    if coordinates.endswith(".flatbuffers"):
        raise RefusedError("NotImplemented", "format: expected json, got flatbuffers, which is not supported")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query), errors="strict", max_num_fields=50)
    except ValueError:
        raise RefusedError("InvalidQuery", "expected option=value&option=value after the question mark") from None
    given: dict[str, str] = {}
    for name, value in pairs:
        if name in given:
            raise RefusedError("InvalidQuery", f"{name[:60]}: expected once, got it twice")
        given[name] = value
    places = _places_of_text(coordinates.removesuffix(".json"), limits, code="InvalidUrl")
    return _checked(service, places, given)


def query_of_json(service: str, body: Any, limits: Limits) -> Query:
    """Parse the JSON object of a request: `{"coordinates": [[lon, lat], ...], "sources": [0], ...}`.

    Args:
        service: "table", "nearest" or "route".
        body: the parsed JSON.
        limits: of a request.

    Returns:
        The request.

    Raises:
        RefusedError: with OSRM's code.

    Examples:
        >>> query_of_json("nearest", {"coordinates": [[-8.61, 41.15]], "number": 2}, Limits()).options
        {'number': 2}
    """
    if not isinstance(body, dict):
        raise RefusedError("InvalidQuery", "expected a JSON object as the body of the request")
    given = dict(body)
    coordinates = given.pop("coordinates", None)
    if isinstance(coordinates, str):
        places = _places_of_text(coordinates, limits, code="InvalidQuery", plain=False)
    else:
        places = places_of_rows("coordinates", coordinates, limits)
    return _checked(service, places, given)


def places_of_rows(name: str, rows: Any, limits: Limits) -> NDArray[np.float64]:
    """Read rows of [longitude, latitude] of a JSON object.

    Args:
        name: of the rows, for the message of a refusal.
        rows: the parsed JSON.
        limits: of a request.

    Returns:
        `(n, 2)` degrees.
    """
    if not isinstance(rows, list) or not rows:
        raise malformed(name, "a list of [longitude, latitude]", rows)
    limits.check_places(len(rows))
    for row in rows:
        if (
            not isinstance(row, list)
            or len(row) != 2
            or any(isinstance(x, bool) or not isinstance(x, (int, float)) for x in row)
        ):
            raise malformed(name, "a list of [longitude, latitude]", row)
    try:
        places = np.array(rows, np.float64)
    except OverflowError:
        raise malformed(name, "numbers of degrees", "a number that is too large") from None
    return _in_degrees(places)


def _places_of_text(text: str, limits: Limits, *, code: Any, plain: bool = True) -> NDArray[np.float64]:
    for start, decimals in POLYLINES.items():
        if text.startswith(start) and text.endswith(")"):
            try:
                places = decode_polyline(text[len(start) : -1], decimals=decimals)
            except ValueError as error:
                raise RefusedError(code, f"coordinates: {str(error).removeprefix('text: ')}") from None
            if not len(places):
                raise RefusedError(code, "coordinates: expected places, got an empty polyline")
            limits.check_places(len(places))
            return _in_degrees(places)
    if not plain:
        raise RefusedError(code, "coordinates: expected polyline(...), polyline6(...) or a list")
    limits.check_places(text.count(";") + 1)
    rows = [row.split(",") for row in text.split(";")]
    for i, row in enumerate(rows):
        if len(row) != 2 or not all(map(NUMBER.fullmatch, row)):
            got = ",".join(row)[:60]
            raise RefusedError(code, f"coordinates: expected longitude,latitude at index {i}, got {got!r}")
    return _in_degrees(np.array(rows, np.float64))


def _in_degrees(places: NDArray[np.float64]) -> NDArray[np.float64]:
    bad = ~((np.abs(places[:, 0]) <= 180) & (np.abs(places[:, 1]) <= 90))
    if bad.any():
        i = int(bad.argmax())
        lon, lat = places[i].tolist()
        raise RefusedError(
            "InvalidValue", f"coordinates: expected longitude,latitude in degrees at index {i}, got {lon:g},{lat:g}"
        )
    return places


def _checked(service: str, places: NDArray[np.float64], given: Mapping[str, Any]) -> Query:
    """Read the options by the table of the service, and check them against the number of coordinates."""
    table = SERVICES[service]
    for name in given:
        if name not in table:
            known = ", ".join(table)
            raise RefusedError("InvalidQuery", f"expected one of the options {known}, got {str(name)[:60]!r}")
    options = {name: table[name](name, value) for name, value in given.items()}
    count = len(places)
    if service == "nearest" and count != 1:
        raise RefusedError("InvalidOptions", f"coordinates: expected one, got {count}")
    if service != "nearest" and count < 2:
        raise RefusedError("InvalidOptions", f"coordinates: expected at least two, got {count}")
    radiuses = options.get("radiuses")
    if radiuses is not None and len(radiuses) != count:
        raise RefusedError(
            "InvalidOptions", f"radiuses: expected one for each of {count} coordinates, got {len(radiuses)}"
        )
    for name in ("sources", "destinations"):
        wrong = [index for index in options.get(name) or () if index >= count]
        if wrong:
            raise RefusedError("InvalidOptions", f"{name}: expected indices below {count}, got {wrong[0]}")
    if options.get("number") == 0:
        raise RefusedError("InvalidOptions", "number: expected a whole number >= 1, got 0")
    if "fallback_coordinate" in options and "fallback_speed" not in options:
        raise RefusedError("InvalidOptions", "fallback_coordinate: expected only with fallback_speed")
    return Query(places, options)
