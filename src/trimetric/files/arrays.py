"""Arrays of untrusted NPY and NPZ files: headers are checked before memory is allocated."""

from __future__ import annotations

import ast
import math
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trimetric._support.memory import as_gib, available_memory
from trimetric._support.printable import printable, shown
from trimetric.files.errors import InputError, check_exists

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 10_000
WIDEST_EMPTY = 1 << 20  # columns of an array without data

_SIMPLE = re.compile(r"[<>|=]?(?:[?bBhHiIlLqQefdgFDGOUSVMm]|[biufcSUVMm]\d{1,9})(?:\[\w{1,8}\])?")
# What zipfile and its decompressors raise for archives that are damaged or of an unknown kind.
_DAMAGED = (
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
)


@dataclass(frozen=True)
class StoredArray:
    """An array in a file: its dtype and shape are known, its data has not been read.

    Attributes:
        file: the file that holds it.
        member: its name in the archive; "" for an NPY file.
        dtype: its dtype; arrays of objects and records are recognized but cannot be read.
        shape: its shape.
        fortran: whether the first axis varies fastest.
        start: the offset of the data.
        size: bytes from there to the end.
    """

    file: Path
    member: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    start: int
    size: int

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def read(self) -> NDArray[Any]:
        """Read the data, in the byte order of this machine."""
        place = (
            f"{self.file}: {printable(self.member.removesuffix('.npy'), limit=80)}" if self.member else str(self.file)
        )
        if self.dtype.kind == "O" or self.dtype.names is not None:
            kind = "Python objects" if self.dtype.kind == "O" else "records"
            raise InputError(f"{place}: expected an array of numbers or text, got {kind}")
        count = math.prod(self.shape)
        needed = count * self.dtype.itemsize
        if needed > self.size or (count and not self.dtype.itemsize):
            raise InputError(f"{place}: expected {needed:,} bytes for shape {self.shape}, got {self.size:,}")
        if not count and max(self.shape) > WIDEST_EMPTY:
            raise InputError(f"{place}: expected numbers, got shape {self.shape}")
        if needed > available_memory():
            raise InputError(f"{place}: expected an array that fits in memory, got one of {as_gib(needed)}")
        flat = np.empty(count, self.dtype)
        if needed:
            with _opened(self.file, self.member) as stream:
                _skip(stream, self.start)
                _fill(stream, memoryview(flat.view(np.uint8)))  # type: ignore[arg-type]
        if self.dtype.kind == "U" and not _is_text(flat):
            raise InputError(f"{place}: expected text, got characters that are none")
        array = flat.reshape(self.shape, order="F" if self.fortran else "C")
        return array if self.dtype.isnative else array.astype(self.dtype.newbyteorder("="))


def stored_arrays(file: Path) -> dict[str, StoredArray]:
    """List the arrays of an NPY (named "") or NPZ file without reading their data.  Nothing in it is executed.

    Args:
        file: an NPY or NPZ file; its first bytes tell which.

    Returns:
        The arrays by name.  Other files in the archive are ignored.
    """
    with check_exists(file).open("rb") as stream:
        start = stream.read(len(MAGIC))
    if start == MAGIC:
        with _opened(file, "") as stream:
            return {"": _header(file, "", stream, file.stat().st_size)}
    if not start.startswith(b"PK"):
        got = f"a file that begins with {shown(start)}" if start else "an empty file"
        raise InputError(f"{file}: expected arrays of NumPy (.npy or .npz), got {got}")
    found: dict[str, StoredArray] = {}
    with _damage_told(file), zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if name == member.filename:
                continue
            if name in found:
                raise InputError(f"{file}: expected arrays of different names, got {shown(name)} twice")
            with _opened(file, member.filename) as stream:
                found[name] = _header(file, member.filename, stream, member.file_size)
    return found


@contextmanager
def _opened(file: Path, member: str) -> Iterator[IO[bytes]]:
    with _damage_told(file):
        if not member:
            with file.open("rb") as stream:
                yield stream
            return
        with zipfile.ZipFile(file) as archive:
            if archive.getinfo(member).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(f"{file}: expected an archive as NumPy writes it, got another kind of compression")
            with archive.open(member) as stream:
                yield stream


@contextmanager
def _damage_told(file: Path) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except _DAMAGED as error:
        raise InputError(f"{file}: cannot be read as arrays of NumPy ({one_line(error)})") from None


def _header(file: Path, member: str, stream: IO[bytes], size: int) -> StoredArray:
    place = f"{file}: {printable(member.removesuffix('.npy'), limit=80)}" if member else str(file)
    start = stream.read(len(MAGIC) + 2)
    version = start[len(MAGIC) :]
    if not start.startswith(MAGIC) or version not in (b"\x01\x00", b"\x02\x00", b"\x03\x00"):
        raise InputError(f"{place}: expected an array of NumPy, got {shown(start)}")
    packed = stream.read(2 if version[0] == 1 else 4)
    length = int.from_bytes(packed, "little")
    text = stream.read(min(length, LONGEST_HEADER))
    if len(text) < length:
        raise InputError(f"{place}: expected a header of {length:,} bytes, got {len(text):,}")
    described = _described(text.decode("utf-8" if version[0] == 3 else "latin-1", "replace"))
    if described is None:
        raise InputError(f"{place}: expected a header with descr, fortran_order and shape, got {shown(text)}")
    begin = len(start) + len(packed) + length
    return StoredArray(file, member, *described, start=begin, size=size - begin)


def _described(text: str) -> tuple[np.dtype[Any], tuple[int, ...], bool] | None:
    """Parse dtype, shape and order from a header; None if it is not valid."""
    try:
        fields = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):  # the parser's own limits
        return None
    if not isinstance(fields, dict) or set(fields) != {"descr", "fortran_order", "shape"}:
        return None
    kind, order, shape = fields["descr"], fields["fortran_order"], fields["shape"]
    if not isinstance(order, bool) or not isinstance(shape, tuple) or len(shape) > 32:
        return None
    if not all(type(axis) is int and 0 <= axis < 1 << 62 for axis in shape):
        return None
    if isinstance(kind, list):
        return np.dtype([("", np.uint8)]), shape, order  # any records: they are rejected when they are read
    if not isinstance(kind, str) or not _SIMPLE.fullmatch(kind):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.dtype(kind), shape, order
    except (TypeError, ValueError):
        return None


def _skip(stream: IO[bytes], count: int) -> None:
    while count:
        skipped = len(stream.read(min(count, 1 << 16)))
        if not skipped:
            raise EOFError("it ends early")
        count -= skipped


def _fill(stream: IO[bytes], target: memoryview) -> None:
    done = 0
    while done < len(target):
        part = stream.read(min(len(target) - done, 1 << 20))
        if not part:
            raise EOFError("it ends early")
        target[done : done + len(part)] = part
        done += len(part)


def _is_text(array: NDArray[Any]) -> bool:
    """Whether every code is a character, and none half of a surrogate pair, which cannot be written."""
    codes = array.view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    return not bool(((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any())


def one_line(error: Exception) -> str:
    """The first line of an error of another library, to quote in a message.

    Args:
        error: the error.
    """
    text = str(error).strip()
    return printable(text.splitlines()[0], limit=120) if text else type(error).__name__
