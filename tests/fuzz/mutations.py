"""Changes to bytes and to the cells of text."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from random import Random
from xml.sax.saxutils import escape

NUMBERS = (  # noqa: SIM905
    "nan inf -inf -1 -0 0 1e308 1e309 1e39 1e-400 3.5e38 1,5 1.5.5 0x10 1_000 ١٢ 1e5 +3 .5 5. 1e 10000000000 "
    "99999999999999999999999999 -9223372036854775809 2147483648 4294967296 True None null 1/2 1:30 50% $3"
).split()
TEXTS = (
    "", " ", "\t", '"', "'", '""', '"a', 'a"b', "a\nb", "\r", "\x00", "\x1b[31mred\x1b[0m", "\u202e", "\ufeff", "é",
    "\ud7ff", "\U0001f600", "a" * 300, "#", "%s", "{}", "../..", "=1+1", "from", "to", "distance", "weight", "id",
    ";", "|", ",", "\x85", "\u2028", "\x0b", "\x1c",
)  # fmt: skip
JUNK = (
    b"\x89PNG\r\n\x1a\n" + bytes(range(64)),
    b"PK\x03\x04",
    b"\x93NUMPY\x01\x00",
    b"PAR1",
    b"\x1f\x8b\x08",
    b"\x00" * 50,
)
SIZES = (0, 1, 127, 128, 255, 256, 32767, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)


def flip(data: bytes, random: Random) -> bytes:
    """Change one bit of a few bytes."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def cut(data: bytes, random: Random) -> bytes:
    """Take out a piece, or the end."""
    start, end = _span(data, random)
    return data[:start] if random.random() < 0.3 else data[:start] + data[end:]


def repeat(data: bytes, random: Random) -> bytes:
    start, end = _span(data, random)
    return data[:end] + data[start:end] * random.choice((1, 2, 20)) + data[end:]


def insert(data: bytes, random: Random) -> bytes:
    start, _ = _span(data, random)
    piece = random.choice((random.choice(JUNK), random.randbytes(random.randint(1, 12)), _token(random)))
    return data[:start] + piece + data[start:]


def overwrite(data: bytes, random: Random) -> bytes:
    """Put a size that is wrong, in either byte order, over what is there."""
    width, code = random.choice(((1, "B"), (2, "H"), (4, "I"), (8, "Q")))
    number = random.choice(SIZES) & (1 << 8 * width) - 1
    start, _ = _span(data, random)
    return data[:start] + struct.pack(random.choice("<>") + code, number) + data[start + width :]


def replace_all(_: bytes, random: Random) -> bytes:
    """Something else entirely."""
    return random.choice((b"", random.choice(JUNK), random.randbytes(random.randint(0, 64)), _token(random)))


BYTES = (flip, cut, repeat, insert, overwrite, replace_all)


def _span(data: bytes, random: Random) -> tuple[int, int]:
    start = random.randint(0, len(data))
    return start, min(len(data), start + random.choice((1, 2, 4, 16, 64)))


def _token(random: Random) -> bytes:
    return random.choice((*NUMBERS, *TEXTS)).encode()


def cells(separator: str) -> Callable[[bytes, Random], bytes]:
    """Changes of the cells and lines of a table with this separator."""

    def change(data: bytes, random: Random) -> bytes:
        rows = [line.split(separator) for line in data.decode("utf-8", "replace").split("\n")]
        for _ in range(random.choice((1, 1, 2, 4))):
            row = random.choice(rows) if rows else []
            random.choice((_replace_cell, _replace_cell, _replace_cell, _drop_cell, _add_cell, _move_row))(
                rows, row, random
            )
        return "\n".join(separator.join(row) for row in rows).encode()

    return change


def _replace_cell(_: list[list[str]], row: list[str], random: Random) -> None:
    if row:
        row[random.randrange(len(row))] = random.choice((random.choice(NUMBERS), random.choice(TEXTS)))


def _drop_cell(_: list[list[str]], row: list[str], random: Random) -> None:
    if row:
        del row[random.randrange(len(row))]


def _add_cell(_: list[list[str]], row: list[str], random: Random) -> None:
    row.insert(random.randint(0, len(row)), random.choice((*NUMBERS, *TEXTS)))


def _move_row(rows: list[list[str]], row: list[str], random: Random) -> None:
    if not rows:
        return
    what = random.choice(("drop", "copy", "blank"))
    if what == "drop":
        rows.remove(row)
    else:
        rows.insert(random.randint(0, len(rows)), list(row) if what == "copy" else [random.choice(("", " ", ",", ";"))])


def attributes(data: bytes, random: Random) -> bytes:
    """Another value of an attribute of XML, which stays well-formed."""
    values = list(re.finditer(rb'="([^"]*)"', data))
    chosen = random.choice(values)
    others = [value[1] for value in values]  # such as the id of another node
    fresh = random.choice((escape(random.choice((*NUMBERS, *TEXTS)), {'"': "&quot;"}).encode(), random.choice(others)))
    return data[: chosen.start(1)] + fresh + data[chosen.end(1) :]


def encodings(data: bytes, random: Random) -> bytes:
    """Other encodings, ends of lines, separators and quotes."""
    text = data.decode("utf-8", "replace")
    changes: tuple[Callable[[], bytes], ...] = (
        lambda: b"\xef\xbb\xbf" + data,
        lambda: text.encode("utf-16"),
        lambda: text.encode("utf-16-le"),
        lambda: text.encode("latin-1", "replace") + b"\xe9",
        lambda: text.replace("\n", "\r\n").encode(),
        lambda: text.replace("\n", "\r").encode(),
        lambda: text.replace(",", random.choice(";\t| :")).encode(),
        lambda: text.replace("\t", random.choice(",;| ")).encode(),
        lambda: text.replace(".", ",").encode(),
        lambda: text.replace(",", ";").replace(".", ",").encode(),
        lambda: "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in text.split("\n")).encode(),
        lambda: (text + random.choice(("\n", "\n\n\n", " \n", "\x1a", "\x00"))).encode(),
        lambda: text.upper().encode(),
    )
    return random.choice(changes)()
