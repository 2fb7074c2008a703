"""Files that are not quite what they seem: read rightly, or refused by one line before anything large is made."""

from __future__ import annotations

import base64
import gzip
import io
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from trimetric.files.errors import InputError
from trimetric.files.matrices import read_matrix
from trimetric.files.matrix_pairs import read_matrix_pairs
from trimetric.files.pairs import read_pairs
from trimetric.graphs import read_graph
from trimetric.rl import read_transitions

PAIRS = "from,to,distance\na,b,1\nb,c,2.5\n"


# Separators and ends of lines


@pytest.mark.parametrize(
    "text",
    [
        PAIRS.replace(",", ";"),
        PAIRS.replace(",", "\t"),
        PAIRS.replace(",", "|"),
        "\ufeff" + PAIRS,
        PAIRS.replace("\n", "\r\n") + "\r\n\r\n",
        PAIRS.replace("\n", "\r"),
        '"from";"to";"distance"\n"a";"b";"1"\n"b";"c";2.5\n',
        'from,to,"distance"\n"a","b",1\nb, "c",2.5\n\n',
        'from;to;distance;"a, note"\na;b;1;x\nb;c;2.5;"y, z"\n',
    ],
    ids=["semicolons", "tabs", "bars", "BOM", "CRLF", "CR", "quoted", "some quoted", "commas in another column"],
)
def test_pairs_in_other_dialects(text: str, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes(text.encode())
    found = read_pairs(tmp_path / "p.csv")
    assert found.names == ["a", "b", "c"]
    assert found.ends.tolist() == [[0, 1], [1, 2]]
    assert found.distances is not None
    assert found.distances.tolist() == [1, 2.5]
    assert found.where(1).endswith("line 3")


def test_the_usual_separator_wins_where_it_finds_the_columns(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("from,to,distance,a;b\nx;y,z,1,2\n")
    assert read_pairs(tmp_path / "p.csv").names == ["x;y", "z"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("from;to;distance\na;b;1,5\n", r"line 2: distance: expected a number, got '1,5'; numbers need a point"),
        ('from,to,distance\na,b,"1,5"\n', r"line 2: distance: expected a number, got '1,5'; numbers need a point"),
        ("source;target;distance\na;b;1\n", r"expected a column 'from', got the columns 'source', 'target', 'dist"),
        ("from,to,distance\na;b;1\n", r"line 2: expected 3 columns as in the header, got 1"),
        ("from,to,distance\na,b,1;2\n", r"got '1;2'; cells are separated by"),
        ("from,to,distance\na,b," + "x" * 5000 + "\n", r"expected a number, got 'x{70,80}\.\.\.$"),
        ("from,to,distance\na,b,\x00\x1b[31m\n", r"expected a number, got '\\x00\\x1b\[31m'$"),
    ],
)
def test_pairs_that_are_nearly_right(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_pairs(tmp_path / "p.csv")


def test_a_picture_with_the_name_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40)
    with pytest.raises(InputError, match=r"line 1: expected text encoded as UTF-8, got the byte 0x89$"):
        read_pairs(tmp_path / "p.csv")
    (tmp_path / "p.csv").write_bytes(b"\x00\x01\x02" * 5000)
    with pytest.raises(InputError) as caught:
        read_pairs(tmp_path / "p.csv")
    assert str(caught.value).isprintable()
    assert len(str(caught.value).replace(str(tmp_path), "")) < 200


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_matrices_in_other_dialects(separator: str, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("0,1\n2.5,0\n".replace(",", separator))
    assert read_matrix(tmp_path / "d.csv").tolist() == [[0, 1], [2.5, 0]]


def test_a_name_alone_is_no_matrix(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("x")
    with pytest.raises(InputError, match="expected rows of numbers below the names, got none"):
        read_matrix(tmp_path / "d.csv")


def test_a_column_without_a_name(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,\u2028,c\n0,1,2\n1,0,5\n2,5,0\n")
    with pytest.raises(InputError, match="expected a name for each column, got none for column 2"):
        read_matrix_pairs(tmp_path / "d.csv")


# Arrays


def npy(array: np.ndarray, *, pickled: bool = False) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=pickled)
    return stream.getvalue()


def header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


D = np.array([[0.0, 1], [2, 0]])


@pytest.mark.parametrize("array", [np.asfortranarray(D), D.astype(">f8"), D.astype(">i2"), D.astype("<f2")], ids=str)
def test_matrices_of_other_layouts(array: np.ndarray, tmp_path: Path) -> None:
    (tmp_path / "d.npy").write_bytes(npy(array))
    pairs = read_matrix_pairs(tmp_path / "d.npy")
    assert pairs.distances is not None
    assert pairs.distances.tolist() == [1, 2]


SHAPE = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"
RECORDS = np.zeros((2, 2), dtype=[("a", "<f8")])
BAD_ARRAYS: dict[str, tuple[bytes, str]] = {
    "junk": (b"junk", "expected arrays of NumPy (.npy or .npz), got a file that begins with b'junk'"),
    "empty": (b"", "expected arrays of NumPy (.npy or .npz), got an empty file"),
    "objects": (npy(np.full((2, 2), None), pickled=True), "expected an array of numbers or text, got Python objects"),
    "a huge shape": (header(SHAPE) + b"x" * 100, "expected 8,000,000,000,000 bytes for shape (1000000, 1000000), got"),
    "records": (npy(RECORDS), "expected an array of numbers or text, got records"),
    "0-d": (npy(np.array(1.0)), "expected a square matrix of numbers, got shape () of float64"),
    "complex": (npy(D.astype(complex)), "expected a square matrix of numbers, got shape (2, 2) of complex128"),
    "cut off": (npy(D)[:-1], "expected 32 bytes for shape (2, 2), got 31"),
    "a strange header": (header("(" * 3000), "expected a header with descr, fortran_order and shape, got b'((("),
    "a negative shape": (header(SHAPE.replace("1000000,", "-1,")), "expected a header with descr, fortran_order and"),
}


@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_bad_arrays(case: str, tmp_path: Path) -> None:
    content, message = BAD_ARRAYS[case]
    (tmp_path / "d.npy").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_matrix_pairs(tmp_path / "d.npy")
    assert str(caught.value).startswith(f"{tmp_path / 'd.npy'}: {message}")
    assert "pickle" not in str(caught.value)
    assert len(str(caught.value)) < len(str(tmp_path)) + 250


def test_archives_that_hold_more_than_memory(tmp_path: Path) -> None:
    file = tmp_path / "d.npz"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("D.npy", header(SHAPE))
    data = bytearray(file.read_bytes())
    at = data.rindex(b"PK\x01\x02")  # the directory now says that there are 3 GiB
    data[at + 24 : at + 28] = (3 << 30).to_bytes(4, "little")
    file.write_bytes(data)
    with pytest.raises(InputError, match=r"d\.npz: D: expected 8,000,000,000,000 bytes"):
        read_matrix_pairs(file)


def test_archives_of_other_kinds(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "d.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("D.npy", npy(D))
    with pytest.raises(InputError, match="expected an archive as NumPy writes it, got another kind of compression"):
        read_matrix_pairs(tmp_path / "d.npz")
    np.savez(tmp_path / "d.npz", D=D, ids=np.array("ab"))
    with pytest.raises(InputError, match=r"ids: expected names as text, got shape \(\) of <U2"):
        read_matrix_pairs(tmp_path / "d.npz")
    np.savez(tmp_path / "p.npz", **{"from": ["a", ""], "to": ["b", "c"], "distance": [1, 2]})
    with pytest.raises(InputError, match=r"row 2: from: expected an id, got nothing"):
        read_pairs(tmp_path / "p.npz")
    half = np.array(["ab"]).view(np.uint32)
    half[1] = 0xD800
    np.savez(tmp_path / "p.npz", **{"from": half.view("<U2"), "to": ["b"], "distance": [1]})
    with pytest.raises(InputError, match="from: expected text, got characters that are none"):
        read_pairs(tmp_path / "p.npz")


def test_an_array_that_is_not_asked_for_may_be_anything(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", **{"from": ["a"], "to": ["b"], "distance": [1]}, notes=np.array([{}], dtype=object))
    assert read_pairs(tmp_path / "p.npz").names == ["a", "b"]


def test_transitions_that_are_junk(tmp_path: Path) -> None:
    (tmp_path / "t.npz").write_bytes(b"PK\x03\x04junk")
    with pytest.raises(ValueError, match=r"t\.npz: cannot be read as arrays of NumPy \(File is not a zip file\)$"):
        read_transitions(tmp_path / "t.npz")


def test_parquet_with_two_columns_of_one_name(tmp_path: Path) -> None:
    parquet, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"]), pa.array(["b"]), pa.array([1.0])], list("ffxd"))
    parquet.write_table(table.rename_columns(["from", "to", "to", "distance"]), tmp_path / "p.parquet")
    with pytest.raises(InputError, match="expected one column 'to', got 2"):
        read_pairs(tmp_path / "p.parquet")


# TSPLIB and graphs

TSPLIB = "DIMENSION: {}\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {}\nEDGE_WEIGHT_SECTION\n{}\nEOF\n"
GR = "p sp {} 2\na 1 2 {}\na 2 1 1\n"


@pytest.mark.parametrize(
    ("size", "form", "body", "message"),
    [
        ("1000000000", "FULL_MATRIX", "1", "expected 1000000000000000000 numbers for 1000000000 nodes, got 1"),
        ("9" * 5000, "FULL_MATRIX", "1", r"DIMENSION: expected a number of nodes, got 9{70,80}\.\.\.$"),
        ("2", "UPPER_ROW", "x", "EDGE_WEIGHT_SECTION: expected a number, got 'x'"),
        ("2", "\x1b[31m", "1", r"EDGE_WEIGHT_FORMAT: expected one of FULL_MATRIX, .* got \\x1b\[31m$"),
    ],
)
def test_bad_tsplib(size: str, form: str, body: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.tsp").write_text(TSPLIB.format(size, form, body))
    with pytest.raises(InputError, match=message):
        read_matrix(tmp_path / "t.tsp")


@pytest.mark.parametrize(
    ("nodes", "weight", "message"),
    [
        ("1000000000000", "1", "expected a graph that fits in memory, got 1,000,000,000,000 nodes in its line 'p sp'"),
        ("²", "1", "expected a whole number in its line 'p sp', got '²'"),
        ("2", "1_0", "line 2: expected 3 numbers after 'a', got '1 2 1_0'"),
        ("2", "inf", "line 2: expected a finite weight >= 0, got 'inf'"),
        ("2", "9" * 3000, "line 2: expected a short line, got"),
    ],
)
def test_bad_dimacs(nodes: str, weight: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "g.gr").write_text(GR.format(nodes, weight))
    with pytest.raises(InputError, match=message):
        read_graph(tmp_path / "g.gr")


def test_damaged_gzip_and_places(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(GR.format(2, 1).encode()))
    packed[12] ^= 0xFF
    (tmp_path / "g.gr.gz").write_bytes(packed)
    with pytest.raises(InputError, match=r"g\.gr\.gz: cannot be read as text \("):
        read_graph(tmp_path / "g.gr.gz")
    (tmp_path / "h.gr").write_text(GR.format(2, 1))
    (tmp_path / "h.co").write_text("v 1 0 0\nv 2 nan 0\n")
    with pytest.raises(InputError, match=r"h\.co: expected finite coordinates, got others for node 2"):
        read_graph(tmp_path / "h.gr")


def test_edges_of_infinite_weight(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("from,to,weight\na,b,inf\nb,a,1\n")
    with pytest.raises(InputError, match=r"line 2: weight: expected a finite number \(leave out edges that cannot be"):
        read_graph(tmp_path / "e.csv")


def test_maps_with_places_off_the_earth(tmp_path: Path) -> None:
    pytest.importorskip("osmium")
    (tmp_path / "m.osm").write_text('<osm version="0.6"><node id="1" lat="411" lon="x" version="1"/></osm>')
    with pytest.raises(InputError, match=r"m\.osm: cannot be read as OpenStreetMap data"):
        read_graph(tmp_path / "m.osm")


# Found by fuzzing: osmium 4.3.2 crashes on it.
CRASHING = (
    "AAAADQoJT1NNSGVhZGVyGBwQEBoYeJxT4vMvzg1OzkjNTdQNM9AzAwApIgTIAAAACwoHT1NNRGF0YRhNEEYaSXic42LhYuBiELIT"
    "suFiZmJi0pLkYmZkZBBiZmBgkAIRSswKDAxazEwMDE7cDZ9/tTMfmMWzfxaPF8f/1qYgBiArCKQKABEzDD8AAAALCgdPU01EYXRh"
    "GG8QcRpreJzjMuVi4GLPyEzPYEis5OIuSi3OTEnNK8lMzAGKc+QmVhQXpKamcLEXFGXmJhZVcrEZGyjkFmQIWUhJcbALMTJKMTIp"
    "cXEwCjBIMCgwaDA7sTAxMTED5TiEmBhZpJhY2VBkmZhYAJlEEwk="
)


def test_maps_that_crash_their_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("osmium")
    (tmp_path / "m.osm.pbf").write_bytes(base64.b64decode(CRASHING))
    with pytest.raises(InputError, match=r"m\.osm\.pbf: (cannot be read as OpenStreetMap data|expected ways)"):
        read_graph(tmp_path / "m.osm.pbf")
    for code, message in ((-11, "the library that reads it crashed"), (-9, "was killed, perhaps for lack of memory")):
        died = subprocess.CompletedProcess([], code, b"", b"")
        monkeypatch.setattr("trimetric.graphs.files.osm.run_reader", lambda _, died=died: died)
        with pytest.raises(InputError, match=message):
            read_graph(tmp_path / "m.osm.pbf")


def test_numbers_that_float64_does_not_have(tmp_path: Path) -> None:
    signaling = bytes(16) + bytes([1, 0, 0, 0, 0, 0, 0, 0x80, 0xFF, 0x7F]) + bytes(38)
    (tmp_path / "d.npy").write_bytes(header("{'descr': '<f16', 'fortran_order': False, 'shape': (2, 2), }") + signaling)
    with pytest.raises(InputError, match="expected a number >= 0, got nan"):
        read_matrix_pairs(tmp_path / "d.npy")
