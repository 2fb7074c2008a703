"""Requests that are refused: OSRM's codes, and the answer that each gives."""

from __future__ import annotations

from typing import Literal

Code = Literal[
    "InvalidUrl",
    "InvalidService",
    "InvalidVersion",
    "InvalidQuery",
    "InvalidValue",
    "InvalidOptions",
    "NotImplemented",
    "NoSegment",
    "NoRoute",
    "NoTable",
    "TooBig",
]
"""OSRM's codes: a URL or a query that cannot be parsed (`InvalidUrl`, `InvalidQuery`), values and combinations of
options that cannot be used (`InvalidValue`, `InvalidOptions`), what this service does not do (`NotImplemented`), places
without a road or a route (`NoSegment`, `NoRoute`, `NoTable`), and requests beyond a limit (`TooBig`)."""


class RefusedError(Exception):
    """A request that gets no result.

    Args:
        code: OSRM's code for the reason.
        message: what was expected, and what came.
        status: the HTTP status.

    Examples:
        >>> RefusedError("NoSegment", "coordinate 3 is 2 km from the nearest road").answer()
        {'code': 'NoSegment', 'message': 'coordinate 3 is 2 km from the nearest road'}
    """

    def __init__(self, code: Code, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status

    def answer(self) -> dict[str, str]:
        """Return the body of the response."""
        return {"code": self.code, "message": self.message}
