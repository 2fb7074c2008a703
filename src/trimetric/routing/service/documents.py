"""What the OpenAPI document says about requests that are parsed by hand."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

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
    "radiuses": "100;unlimited",
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


def described_query(name: str) -> dict[str, Any]:
    """Describe the JSON object of a service of OSRM.

    Args:
        name: of the service.
    """
    pair = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    properties = {"coordinates": {"type": "array", "items": pair, "minItems": 1}}
    properties |= {option: JSON_SCHEMAS.get(option, {}) for option in SERVICES[name]}
    return {"type": "object", "required": ["coordinates"], "properties": properties, "additionalProperties": False}


def json_body(schema: dict[str, Any]) -> dict[str, Any]:
    """Describe the body of a request.

    Args:
        schema: of its JSON.
    """
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def model_body(kind: type[BaseModel]) -> dict[str, Any]:
    """Describe the body of a request to an endpoint of this service.

    Args:
        kind: what the body must be.
    """
    return json_body(kind.model_json_schema())


def field_query() -> dict[str, Any]:
    """Describe the query of `/field`."""
    number = {"type": "number"}
    options = {"lon": number, "lat": number, "engine": {"enum": ["exact", "learned"]}, "reverse": {"type": "boolean"}}
    return {
        "parameters": [
            {"name": name, "in": "query", "required": name in ("lon", "lat"), "schema": schema}
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
