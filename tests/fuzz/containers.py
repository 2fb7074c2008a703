"""Changes inside of archives: what is inside is changed, and lengths and checksums around it are right again.

Without these nearly every input would fail at the first checksum.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from .mutations import BYTES, NUMBERS, TEXTS
from .reader import Mutation

# NumPy

DTYPES = tuple("<f8 >f8 <f4 <f2 <i8 >i4 <u8 |u1 |b1 <c16 <U3 >U3 |S3 <M8[s] <m8[D] |V4 <f16".split())  # noqa: SIM905


def strange_array(random: Random) -> np.ndarray:
    """Of any kind, shape and order of bytes."""
    shape = random.choice(((), (0,), (1,), (3,), (2, 2), (3, 3), (3, 4), (0, 0), (2, 2, 2), (4, 0), (1, 1)))
    if random.random() < 0.1:
        array = np.zeros(shape, dtype=[("a", "<f8"), ("b", "<i4")])
    else:
        array = np.array([random.choice((0, 1, 2, 3, -1, 7)) for _ in range(int(np.prod(shape)))]).reshape(shape)
        with np.errstate(all="ignore"):
            array = array.astype(random.choice(DTYPES))
    if array.dtype.kind == "f" and array.size and random.random() < 0.3:
        array.flat[0] = random.choice((np.nan, np.inf, -np.inf, -0.0))
    return np.asfortranarray(array) if random.random() < 0.3 else array


def npy_bytes(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    return stream.getvalue()


def npy_header(data: bytes, random: Random) -> bytes:
    """A header that promises other things than what follows it."""
    shape = random.choice(
        ("()", "(3,)", "(10**12,)", "(1000000000000,)", "(1000000, 1000000)", "(-1,)", "(2, -3)", "3")
    )
    kind = random.choice(
        (*(repr(dtype) for dtype in DTYPES), "'|O'", "'<f8 '", "'junk'", "[('a','<f8')]", "'|V999999999'")
    )
    order = random.choice(("True", "False", "2"))
    text = f"{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}, }}"
    if random.random() < 0.2:
        text = random.choice((text[:-9], "{}", "[" * 300, "1" * 50, text.replace("'", "\x00"), "(" * 3000))
    body = data[128:] if data.startswith(b"\x93NUMPY") else data
    version = random.choice((b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"))
    size = struct.pack("<H" if version[0] == 1 else "<I", len(text))
    return b"\x93NUMPY" + version + size + text.encode() + body


def fresh_npy(_: bytes, random: Random) -> bytes:
    return npy_bytes(strange_array(random))


NPY: tuple[Mutation, ...] = (*BYTES, npy_header, npy_header, fresh_npy, fresh_npy)


def npz(names: tuple[str, ...]) -> Mutation:
    """Change, add or take out an array of an archive, whose names are likely some of these."""

    def change(data: bytes, random: Random) -> bytes:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                parts = {name: archive.read(name) for name in archive.namelist()}
        except Exception:  # an earlier change broke it
            return data
        name = random.choice((*parts, *(f"{name}.npy" for name in names), "readme.txt", "../x.npy"))
        if random.random() < 0.1:
            parts.pop(name, None)
        elif random.random() < 0.05:
            parts[name] = npy_header(b"", random) + bytes(30_000_000)  # small when compressed
        else:
            parts[name] = random.choice(NPY)(parts.get(name, b""), random)
        stream = io.BytesIO()
        method = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2))
        with zipfile.ZipFile(stream, "w", method) as archive:
            for key, part in parts.items():
                archive.writestr(key, part)
        return stream.getvalue()

    return change


# Parquet


def strange_parquet(names: tuple[str, ...]) -> Mutation:
    """A table with columns of other types."""

    def change(_: bytes, random: Random) -> bytes:
        import pyarrow as pa
        from pyarrow import parquet

        columns: list[Any] = [
            pa.array(["a", "b", "c"]),
            pa.array(["b", "a", None]),
            pa.array(["b", "", "\x1b[1m"]),
            pa.array([1, 2, 3]),
            pa.array([1, None, 3]),
            pa.array([1.0, 2.0, 3.0], pa.float16()),
            pa.array([1.5, None, float("nan")]),
            pa.array([1.5, float("inf"), -1.0]),
            pa.array([True, False, None]),
            pa.array([[1], [2, 3], None]),
            pa.array([{"x": 1}, {"x": 2}, None]),
            pa.array([b"a", b"\xff", b""]),
            pa.array([1, 2, 3], pa.timestamp("s")),
            pa.array([1, 2, 3], pa.date32()),
            pa.array([1, 2, 3], pa.duration("s")),
            pa.array(["a", "b", None]).dictionary_encode(),
            pa.array([1, 2, 1]).dictionary_encode(),
            pa.array(["a", "b", "c"], pa.large_string()),
            pa.array(["a", "b", "c"], pa.string_view()),
            pa.array([1, 2, 3]).cast(pa.decimal128(30, 2)),
            pa.array([2**64 - 1, 0, 1], pa.uint64()),
            pa.nulls(3),
        ]
        width = random.choice((0, 1, 3, 3, 3, 4, 5))
        chosen = [random.choice((*names, *names, "other", "", "a\nb")) for _ in range(width)]
        table = pa.Table.from_arrays([random.choice(columns) for _ in chosen], names=chosen)
        stream = io.BytesIO()
        parquet.write_table(table.slice(0, random.choice((0, 1, 3, 3))), stream)
        return stream.getvalue()

    return change


# Text in gzip


def inside_gzip(*mutations: Mutation) -> Mutation:
    def change(data: bytes, random: Random) -> bytes:
        try:
            inside = gzip.decompress(data)
        except Exception:  # an earlier change broke it
            inside = data
        return gzip.compress(random.choice(mutations)(inside, random), mtime=0)

    return change


# JSON


def nested_json(data: bytes, random: Random) -> bytes:
    """Replace a part of a JSON text by another value, such as lists of lists a thousand deep."""
    try:
        value = json.loads(data)
    except ValueError:
        return b"[" * random.randrange(1, 5000)
    if random.random() < 0.1:
        depth = random.choice((10, 1000, 100_000))
        return b"[" * depth + b"]" * depth
    return json.dumps(strange_json(value, random)).encode()


def strange_json(value: Any, random: Random) -> Any:
    """The same with one part replaced, renamed, added or taken out."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        key = random.choice(list(value))
        what = random.random()
        if what < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if what < 0.2:
            return {random.choice(TEXTS) if k == key else k: v for k, v in value.items()}
        if what < 0.25:
            return value | {random.choice(TEXTS): strange_json(value[key], random)}
        return value | {key: strange_json(value[key], random)}
    if isinstance(value, list) and value and random.random() < 0.7:
        spot = random.randrange(len(value))
        what = random.random()
        if what < 0.2:
            return value[:spot] + value[spot + 1 :]
        if what < 0.4:
            return [*value, value[spot]]
        return [strange_json(item, random) if i == spot else item for i, item in enumerate(value)]
    nested: Any = 0
    for _ in range(100):
        nested = [nested]
    return random.choice(
        (None, True, False, 0, 1, 2, -1, 1.5, 10**6, 10**12, 10**30, 1e308, float("nan"), float("inf"), [], {}, [[]],
         {"class": "Euclidean", "arguments": {"dim": 2}}, nested, [value], {"x": value}, "wide", "Siamese",
         random.choice(TEXTS), random.choice(NUMBERS))
    )  # fmt: skip


# Safetensors with a state and a checksum


def signed(*, state: Callable[[Any, Random], Any] = strange_json) -> Mutation:
    """Change the state or a tensor of a file of ours, and sign it again."""

    def change(data: bytes, random: Random) -> bytes:
        try:
            size = struct.unpack("<Q", data[:8])[0]
            header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
            metadata = header.pop("__metadata__")
            inner, form = json.loads(metadata["state"]), metadata["format"]
            tensors = {k: (v["dtype"], v["shape"], body[slice(*v["data_offsets"])]) for k, v in header.items()}
            assert all(np.prod(shape) < 1 << 20 for _, shape, _ in tensors.values())
        except Exception:  # an earlier change broke it
            return data
        what = random.random()
        if what < 0.6:
            inner = state(inner, random)
        elif tensors and what < 0.95:
            _strange_tensor(tensors, random)
        else:
            form = random.choice(("trimetric-model-1", "trimetric-checkpoint-1", "other", "\x1b[1m"))
        return signed_bytes(tensors, inner, form)

    return change


def _strange_tensor(tensors: dict[str, tuple[str, list[int], bytes]], random: Random) -> None:
    name = random.choice(list(tensors))
    kind, shape, content = tensors[name]
    what = random.choice(("drop", "rename", "reshape", "dtype", "values", "add"))
    if what in ("drop", "rename"):
        del tensors[name]
    if what in ("rename", "add"):
        tensors[random.choice(("features", "places", "generator", "loss_sums", "network.x", "x\x1b[1m"))] = (
            kind,
            shape,
            content,
        )
    if what == "reshape":
        count = int(np.prod(shape))
        tensors[name] = (kind, random.choice(([count], [1, count], [count, 1], [*shape, 1])), content)
    if what == "dtype":
        fresh, width = random.choice(
            (("F64", 8), ("I64", 8), ("U8", 1), ("BOOL", 1), ("F16", 2), ("BF16", 2), ("I32", 4))
        )
        values = np.zeros(int(np.prod(shape)) * width, np.uint8)
        tensors[name] = (fresh, shape, values.tobytes())
    if what == "values" and kind in ("F32", "F64"):
        values = np.frombuffer(content, "<f4" if kind == "F32" else "<f8").copy()
        if len(values):
            values[random.randrange(len(values))] = random.choice((np.nan, np.inf, -np.inf, 1e30, -1.0, 0.0))
        tensors[name] = (kind, shape, values.tobytes())


_TORCH = {"F32": "float32", "F64": "float64", "I64": "int64", "I32": "int32", "U8": "uint8", "BOOL": "bool"}
_TORCH |= {"F16": "float16", "BF16": "bfloat16", "I16": "int16", "I8": "int8"}


def signed_bytes(tensors: dict[str, tuple[str, list[int], bytes]], state: Any, form: str) -> bytes:
    """A safetensors file as `trimetric._support.tensor_files` writes it."""
    text = json.dumps(state, sort_keys=True)
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        kind, shape, content = tensors[name]
        digest.update(f"{name} torch.{_TORCH.get(kind, kind)} {tuple(shape)}".encode())
        digest.update(content)
    header: dict[str, Any] = {"__metadata__": {"format": form, "state": text, "sha256": digest.hexdigest()}}
    start = 0
    for name, (kind, shape, content) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, start + len(content)]}
        start += len(content)
    packed = json.dumps(header).encode()
    packed += b" " * (-len(packed) % 8)
    return struct.pack("<Q", len(packed)) + packed + b"".join(content for _, _, content in tensors.values())
