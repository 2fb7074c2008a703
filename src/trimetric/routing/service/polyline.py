"""Encoded polylines: a line of places as printable text, of 5 or 6 decimals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FIRST = 63  # "?": the character of five zero bits
MORE = 32  # the bit that says that more bits of a number follow


def encode_polyline(places: NDArray[np.float64], *, decimals: int = 5) -> str:
    """Encode a line: differences of rounded latitudes and longitudes, five bits per character.

    Args:
        places: `(n, 2)` longitude and latitude in degrees.
        decimals: of the degrees.

    Returns:
        The text.

    Examples:
        >>> encode_polyline(np.array([[-8.61, 41.15], [-8.6, 41.16]]))
        'obdzFnsps@o}@o}@'
    """
    units = np.rint(np.asarray(places, np.float64)[:, ::-1] * 10.0**decimals).astype(np.int64)
    steps = np.diff(units, axis=0, prepend=np.zeros((1, 2), np.int64)).ravel()
    numbers = np.where(steps < 0, ~(steps << 1), steps << 1)
    letters: list[int] = []
    for number in numbers.tolist():
        while number >= MORE:
            letters.append((MORE | (number & 31)) + FIRST)
            number >>= 5
        letters.append(number + FIRST)
    return bytes(letters).decode("ascii")


def decode_polyline(text: str, *, decimals: int = 5) -> NDArray[np.float64]:
    """Decode a line.

    Args:
        text: what `encode_polyline` wrote.
        decimals: of the degrees.

    Returns:
        `(n, 2)` longitude and latitude in degrees.

    Raises:
        ValueError: if the text ends within a number, has an odd count of them, or a character that codes nothing.

    Examples:
        >>> decode_polyline("obdzFnsps@o}@o}@").tolist()
        [[-8.61, 41.15], [-8.6, 41.16]]
    """
    numbers: list[int] = []
    value, shift = 0, 0
    for position, letter in enumerate(text):
        bits = ord(letter) - FIRST
        if not 0 <= bits < 64 or shift > 35:
            raise ValueError(f"text: expected an encoded polyline, got {letter!r} at position {position}")
        value |= (bits & 31) << shift
        shift += 5
        if bits < MORE:
            numbers.append(~(value >> 1) if value & 1 else value >> 1)
            value, shift = 0, 0
    if shift or len(numbers) % 2:
        raise ValueError("text: expected pairs of whole numbers, got an encoded polyline that ends within one")
    steps = np.array(numbers, np.int64).reshape(-1, 2)
    return steps.cumsum(axis=0)[:, ::-1] / 10.0**decimals
