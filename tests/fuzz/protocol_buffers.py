"""Changes inside the compressed blocks of OpenStreetMap files."""

from __future__ import annotations

import struct
import zlib
from random import Random
from typing import Any

from .mutations import BYTES


def inside_pbf(data: bytes, random: Random) -> bytes:
    """Change what is inside a compressed block."""
    try:
        blocks = list(_pbf_blocks(data))
    except Exception:  # an earlier change broke it
        return data
    if not blocks:
        return data
    spot = random.randrange(len(blocks))
    kind, content = blocks[spot]
    blocks[spot] = kind, random.choice(BYTES)(content, random)
    return b"".join(_pbf_block(kind, content) for kind, content in blocks)


def _pbf_blocks(data: bytes) -> Any:
    position = 0
    while position < len(data):
        size = struct.unpack(">I", data[position : position + 4])[0]
        header = _fields(data[position + 4 : position + 4 + size])
        start = position + 4 + size
        blob = _fields(data[start : start + header[3]])
        yield bytes(header[1]), bytes(blob[1]) if 1 in blob else zlib.decompress(blob[3])
        position = start + header[3]


def _fields(data: bytes) -> dict[int, Any]:
    found: dict[int, Any] = {}
    position = 0
    while position < len(data):
        tag, position = _read_varint(data, position)
        value, position = _read_varint(data, position)
        if tag & 7 == 2:
            found[tag >> 3] = data[position : position + value]
            position += value
        else:
            found[tag >> 3] = value
    return found


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        value |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:
            return value, position


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _pbf_block(kind: bytes, content: bytes) -> bytes:
    packed = zlib.compress(content)
    blob = b"\x10" + _varint(len(content)) + b"\x1a" + _varint(len(packed)) + packed
    header = b"\x0a" + _varint(len(kind)) + kind + b"\x18" + _varint(len(blob))
    return struct.pack(">I", len(header)) + header + blob
