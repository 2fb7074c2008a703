"""JSON files whose matrix is replaced, while everything else in them stays as it is, to the byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimetric.files.costs import Cost
from trimetric.files.solver_json import NAMES, parse_json, path_to_matrix

_BLANKS = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True)
class JsonInstance:
    """The text of a JSON file, and where its matrix is.

    Attributes:
        text: of the file.
        path: the keys that lead to the matrix; empty if the file is nothing but a matrix.
        others: the keys beside the matrix that hold matrices of other costs.
    """

    text: str
    path: tuple[str | int, ...]
    others: tuple[str, ...]

    @classmethod
    def read(cls, file: Path, *, cost: Cost | None = None) -> JsonInstance:
        """Read a file and find its matrix.

        Args:
            file: which `read_json_matrix` has read.
            cost: as there.
        """
        text, data = parse_json(file)
        path = path_to_matrix(file, data, cost)
        depth = 2 if path[:1] == ("matrices",) else 0
        for key in path[:depth]:
            data = data[key]
        known = [name for names in NAMES.values() for name in names]
        beside = data if len(path) > depth else {}
        others = tuple(name for name in known if name != path[depth] and beside.get(name) is not None) if beside else ()
        return cls(text, path, others)

    @property
    def is_vroom(self) -> bool:
        """Whether it is an instance of VROOM, which takes whole numbers only."""
        return bool(self.path) and self.path[0] == "matrices"

    def with_matrix(self, matrix: NDArray[Any]) -> str:
        """Return the text with another matrix of the same size.

        Args:
            matrix: `(n, n)` finite numbers.

        Examples:
            >>> JsonInstance('{"distances": [[0, 1], [1, 0]], "code": "Ok"}', ("distances",), ()).with_matrix(np.eye(2))
            '{"distances": [[1.0, 0.0],\\n[0.0, 1.0]], "code": "Ok"}'
        """
        start, end = _span(self.text, self.path)
        rows = ",\n".join(json.dumps(row, allow_nan=False) for row in np.asarray(matrix).tolist())
        return f"{self.text[:start]}[{rows}]{self.text[end:]}"


def _span(text: str, path: Sequence[str | int]) -> tuple[int, int]:
    """Find where the value at a path begins and ends.  Of a key that comes twice the last counts, as for `json`."""
    start, end = _skip(text, 0), len(text.rstrip())
    for key in path:
        start, end = [(first, last) for name, first, last in _members(text, start) if name == key][-1]
    return start, end


def _members(text: str, start: int) -> Iterator[tuple[str | int, int, int]]:
    """List the keys of an object or the numbers of a list's entries, with the begin and the end of each value."""
    decoder, number = json.JSONDecoder(), 0
    at = _skip(text, start + 1)
    while text[at] not in "]}":
        key: str | int = number
        if text[start] == "{":
            key, at = decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = decoder.raw_decode(text, at)
        yield key, at, end
        number += 1
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return at if found is None else found.end()
