"""What the OpenAPI document says about requests that are parsed by hand."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from trimetric.routing.service.engine import Engine
from trimetric.routing.service.options import SERVICES

ERROR = {
    "type": "object",
    "required": ["code"],
    "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
}
INDICES = {"type": "array", "items": {"type": "integer", "minimum": 0}}
JSON_SCHEMAS: dict[str, Any] = {
    "sources": INDICES,
    "destinations": INDICES,
    "radiuses": {
        "type": "array",
        "items": {"anyOf": [{"type": "number", "minimum": 0}, {"const": "unlimited"}, {"type": "null"}]},
    },
    "annotations": {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "string"}}]},
    "fallback_speed": {"type": "number", "exclusiveMinimum": 0},
    "scale_factor": {"type": "number", "exclusiveMinimum": 0},
    "number": {"type": "integer", "minimum": 1},
    "skip_waypoints": {"type": "boolean"},
    "fallback_coordinate": {"enum": ["input", "snapped"]},
    "geometries": {"enum": ["polyline", "polyline6", "geojson"]},
    "overview": {"enum": ["simplified", "full", "false"]},
}
"""what an option is in JSON; those that are missing are refused unless they have the value that changes nothing"""

EXAMPLES = {
    "sources": "0;1",
    "destinations": "1",
    "annotations": "duration,distance",
    "fallback_speed": "10",
    "scale_factor": "1.5",
    "number": "3",
    "geometries": "geojson",
    "overview": "full",
}


def described_url(name: str) -> dict[str, Any]:
    """Describe the options of a service of OSRM in a query string.

    Args:
        name: of the service.
    """
    found = [
        {"name": option, "in": "query", "required": False, "schema": {"type": "string"}, "example": EXAMPLES[option]}
        if option in EXAMPLES
        else {"name": option, "in": "query", "required": False, "schema": {"type": "string"}}
        for option in SERVICES[name]
    ]
    return {"parameters": found}


def some_places(engine: Engine) -> list[list[float]]:
    """Return two places of a map, for examples of requests.

    Args:
        engine: of the map.
    """
    if engine.places is None:
        return [[0.0, 0.0], [0.0, 0.0]]
    return engine.places[[0, len(engine.places) // 2]].round(6).tolist()


def described_query(name: str, engine: Engine) -> dict[str, Any]:
    """Describe the JSON object of a service of OSRM.

    Args:
        name: of the service.
        engine: of the map.
    """
    low, high = [-180.0, -90.0], [180.0, 90.0]
    if engine.places is not None:
        low, high = engine.places.min(axis=0).tolist(), engine.places.max(axis=0).tolist()
    numbers = [{"type": "number", "minimum": low[i], "maximum": high[i]} for i in (0, 1)]
    pair = {"type": "array", "prefixItems": numbers, "items": False, "minItems": 2, "maxItems": 2}
    least = 1 if name == "nearest" else 2
    properties: dict[str, Any] = {"coordinates": {"type": "array", "items": pair, "minItems": least}}
    if name == "nearest":
        properties["coordinates"]["maxItems"] = 1
    properties |= {option: JSON_SCHEMAS.get(option, {}) for option in SERVICES[name]}
    return {"type": "object", "required": ["coordinates"], "properties": properties, "additionalProperties": False}


def json_body(schema: dict[str, Any], example: dict[str, Any]) -> dict[str, Any]:
    """Describe the body of a request.

    Args:
        schema: of its JSON.
        example: of a body.
    """
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": example}}}}


def model_body(kind: type[BaseModel], engine: Engine) -> dict[str, Any]:
    """Describe the body of a request to an endpoint of this service.

    Args:
        kind: what the body must be.
        engine: of the map.
    """
    places = some_places(engine)
    example = {name: places for name in ("sources", "places", "candidates") if name in kind.model_fields}
    return json_body(kind.model_json_schema(), example)


def field_query(engine: Engine) -> dict[str, Any]:
    """Describe the query of `/field`.

    Args:
        engine: of the map.
    """
    number = {"type": "number"}
    lon, lat = some_places(engine)[0]
    examples = {"lon": lon, "lat": lat}
    options = {"lon": number, "lat": number, "engine": {"enum": ["exact", "learned"]}, "reverse": {"type": "boolean"}}
    return {
        "parameters": [
            {"name": name, "in": "query", "required": name in examples, "schema": schema}
            | ({"example": examples[name]} if name in examples else {})
            for name, schema in options.items()
        ]
    }


def responses(*, binary: bool = False) -> dict[int | str, dict[str, Any]]:
    """Describe the answers of an endpoint.

    Args:
        binary: whether a good one is bytes.
    """
    kind = "application/octet-stream" if binary else "application/json"
    refused = {"content": {"application/json": {"schema": ERROR}}}
    return {
        200: {"description": "the answer", "content": {kind: {}}},
        400: {"description": "refused, with OSRM's code for the reason", **refused},
        408: {"description": "the request did not arrive in time", **refused},
        413: {"description": "the request is too large", **refused},
    }
