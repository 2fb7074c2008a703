"""Tables of every kind are read alike, and a wrong one is refused with its file, line, expectation and finding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimetric.files.errors import InputError
from trimetric.files.features import read_features
from trimetric.files.matrices import holds_matrix
from trimetric.files.matrix_pairs import read_matrix_pairs
from trimetric.files.pairs import PairTable, drop_repeats, match_names, read_pairs
from trimetric.files.writing import write_rows
from trimetric.graphs import Graph, all_distances
from trimetric.graphs.paths.all_distances import read_all_distances

ROWS = [("a", "b", 1.5), ("b", "c", 2.0), ("c", "a", 0.0)]
HEADER = "from,to,distance\n"


def by_name(pairs: PairTable) -> list[tuple[str, str, float]]:
    assert pairs.distances is not None
    return [
        (pairs.names[i], pairs.names[j], d)
        for (i, j), d in zip(pairs.ends.tolist(), pairs.distances.tolist(), strict=True)
    ]


def write(folder: Path, name: str, text: str | bytes) -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


TEXTS = {
    "pairs.csv": HEADER + "a,b,1.5\nb,c,2\nc,a,0\n",
    "pairs.tsv": "from\tto\tdistance\na\tb\t1.5\nb\tc\t2\nc\ta\t0",
    "spaces.csv": " to, from ,distance, more\r\n\r\nb, a ,1.5,x\r\nc,b, 2e0,y\r\n  \r\na,c,0,\r\n",
    "byte order mark.CSV": "\ufeff" + HEADER + '"a",b,1.5\nb,c,+2.\nc,a,-0\n',
}


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str, tmp_path: Path) -> None:
    assert by_name(read_pairs(write(tmp_path, name, TEXTS[name]))) == ROWS


def test_array_files(tmp_path: Path) -> None:
    parquet, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    sources, targets, distances = (list(column) for column in zip(*ROWS, strict=True))
    columns = {"from": sources, "to": targets, "distance": distances}
    parquet.write_table(pa.table(columns), tmp_path / "pairs.parquet")
    coded = {**columns, "from": pa.array(sources).dictionary_encode()}
    parquet.write_table(pa.table(coded), tmp_path / "coded.parquet")
    np.savez(tmp_path / "pairs.npz", **{name: np.array(column) for name, column in columns.items()})
    for name in ("pairs.parquet", "coded.parquet", "pairs.npz"):
        assert by_name(read_pairs(tmp_path / name)) == ROWS
    np.savez(tmp_path / "numbers.npz", **{"from": [10, 7], "to": [7, 10], "distance": [1, 2]})
    assert by_name(read_pairs(tmp_path / "numbers.npz")) == [("10", "7", 1.0), ("7", "10", 2.0)]


name_texts = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1).filter(lambda name: name.strip() == name)


@given(st.lists(st.tuples(name_texts, name_texts, st.floats(0, allow_nan=False, width=32)), min_size=1))
def test_what_is_written_is_read_back(rows: list[tuple[str, str, float]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name in ("rows.csv", "rows.tsv"):
            file = Path(folder) / name
            different = [(a, b, 0.0 if a == b else d) for a, b, d in rows]
            assert write_rows(file, ("from", "to", "distance"), [different[:1], different[1:]]) == len(rows)
            assert by_name(read_pairs(file, unreachable=True)) == different


many = "".join(f"x{i},y{i},1\n" for i in range(3000))
MALFORMED: dict[str, tuple[str, str | bytes | None, str]] = {
    "missing column": ("p.csv", "from,distance\na,1\n", "p.csv: expected a column 'to', got the columns 'from', 'dist"),
    "text": ("p.csv", HEADER + "a,b,1\nb,c,abc\n", "p.csv, line 3: distance: expected a number, got 'abc'"),
    "no number": ("p.csv", HEADER + "a,b,\n", "p.csv, line 2: distance: expected a number, got ''"),
    "underscores": ("p.csv", HEADER + "a,b,1_0\n", "p.csv, line 2: distance: expected a number, got '1_0'"),
    "far below": ("p.csv", HEADER + many + "a,b,?\n", "p.csv, line 3002: distance: expected a number, got '?'"),
    "after a long cell": ("p.csv", HEADER + '"a\na",b,1\n\nb,c,?\n', "p.csv, line 5: distance: expected a number"),
    "NaN": ("p.csv", HEADER + "a,b,1\nb,c,nan\n", "p.csv, line 3: distance: expected a number >= 0, got 'nan'"),
    "negative": ("p.csv", HEADER + "a,b,-2\n", "p.csv, line 2: distance: expected a number >= 0, got '-2'"),
    "infinite": ("p.csv", HEADER + "a,b,inf\n", "p.csv, line 2: distance: expected a finite number (unreach"),
    "too large": (
        "p.csv",
        HEADER + "a,b,1e39\n",
        "p.csv, line 2: distance: expected a number up to 3.4e+38, got '1e39'",
    ),
    "no id": ("p.csv", HEADER + "a,b,1\n,c,1\n", "p.csv, line 3: from: expected an id, got nothing"),
    "itself": ("p.csv", HEADER + "a,b,1\nb,b,2\n", "p.csv, line 3: distance: expected 0 from 'b' to itself, got '2'"),
    "two distances": (
        "p.csv",
        HEADER + "a,b,1\nb,a,2\n\na,b,3\n",
        "p.csv, line 5: expected one distance from 'a' to 'b', got 3 here and 1 in p.csv, line 2",
    ),
    "short row": ("p.csv", HEADER + "a,b,1\na,c\n", "p.csv, line 3: expected 3 columns as in the header, got 2"),
    "long rows": ("p.csv", HEADER + "a,b,1,5\n", "p.csv, line 2: expected 3 columns as in the header, got 4"),
    "twice a column": ("p.csv", "from,to,to,distance\na,b,c,1\n", "p.csv: expected one column 'to', got 2"),
    "open quote": ("p.csv", HEADER + '"a,b,1\n', "p.csv, line 2: unexpected end of data"),
    "empty": ("p.csv", "", "p.csv: expected a header and rows, got an empty file"),
    "blank": ("p.csv", "\n\n", "p.csv: expected a header and rows, got an empty file"),
    "no rows": ("p.csv", HEADER, "p.csv: expected at least one row, got none"),
    "latin-1": (
        "p.csv",
        (HEADER + "a,b,1\né,b,1\n").encode("latin-1"),
        "p.csv, line 3: expected text encoded as UTF-8",
    ),
    "utf-16": (
        "p.csv",
        (HEADER + "a,b,1\n").encode("utf-16"),
        "p.csv, line 1: expected text encoded as UTF-8, got the",
    ),
    "missing": ("p.csv", None, "p.csv: no such file"),
    "suffix": ("p.xlsx", "x", "p.xlsx: expected a name that ends in .csv, .tsv, .parquet or .npz"),
    "no Parquet": ("p.parquet", "from,to\n", "p.parquet: cannot be read as Parquet"),
    "no NPZ": (
        "p.npz",
        "from,to\n",
        "p.npz: expected arrays of NumPy (.npy or .npz), got a file that begins with b'from,t'",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_pairs(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, text, message = MALFORMED[case]
    monkeypatch.chdir(tmp_path)
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    if text is not None:
        write(tmp_path, name, text)
    with pytest.raises(InputError) as caught:
        drop_repeats(read_pairs(Path(name)))
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_objects_have_the_same_numbers_in_every_format(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    start = random.integers(900, size=3000)  # several chunks of text
    ends = np.stack([start, (start + random.integers(1, 900, size=3000)) % 900], axis=1)
    lines = "".join(f"{a},{b},1\n" for a, b in ends)
    (tmp_path / "pairs.csv").write_text(f"from,to,distance\n{lines}")
    for kind, column in (("numbers", ends), ("texts", ends.astype(str))):
        np.savez(tmp_path / f"{kind}.npz", **{"from": column[:, 0], "to": column[:, 1]}, distance=np.ones(3000))
    read = [read_pairs(tmp_path / name) for name in ("pairs.csv", "numbers.npz", "texts.npz")]
    for other in read[1:]:
        assert other.names == read[0].names
        assert np.array_equal(other.ends, read[0].ends)


def test_malformed_arrays(tmp_path: Path) -> None:
    ends = {"from": ["a", "b"], "to": ["b", "c"]}
    cases = {
        "distance: expected a column of numbers": {**ends, "distance": ["1", "2"]},
        "row 2: distance: expected a number >= 0, got -1.0": {**ends, "distance": [1, -1]},
        "expected columns of one length": {**ends, "distance": [1, 2, 3]},
        "from: expected a column of whole numbers or text": {**ends, "from": [0.5, 1.5], "distance": [1, 2]},
        "distance: expected an array of numbers or text, got Python objects": {
            **ends,
            "distance": np.array([{}, {}], dtype=object),
        },
    }
    for message, arrays in cases.items():
        np.savez(tmp_path / "p.npz", **arrays)
        with pytest.raises(InputError, match=message):
            read_pairs(tmp_path / "p.npz")
    parquet, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    for columns, message in (
        ({"from": ["a", None]}, "row 2: from: expected an id, got None"),
        ({"from": pa.array([1, None])}, "row 2: from: expected a number, got nothing"),
        ({"distance": pa.array([1.0, None])}, "row 2: distance: expected a number >= 0, got nan"),
    ):
        parquet.write_table(pa.table({**ends, "distance": [1.0, 2.0], **columns}), tmp_path / "p.parquet")
        with pytest.raises(InputError, match=message):
            read_pairs(tmp_path / "p.parquet")


def test_pairs_that_say_nothing_are_left_out(tmp_path: Path) -> None:
    file = write(tmp_path, "p.csv", HEADER + "a,b,1\na,a,0\na,b,1\nb,a,2\n")
    pairs = drop_repeats(read_pairs(file))
    assert by_name(pairs) == [("a", "b", 1.0), ("b", "a", 2.0)]
    assert pairs.where(1) == f"{file}, line 5"


def test_objects_that_are_not_known(tmp_path: Path) -> None:
    file = write(tmp_path, "p.csv", HEADER + "a,b,1\na,z,1\n")
    with pytest.raises(InputError, match=r"p.csv, line 3: to: 'z' is not among the 3 objects of objects.csv"):
        match_names(read_pairs(file), ["b", "a", "c"], "objects.csv")
    assert by_name(match_names(read_pairs(file), ["z", "b", "a"], "")) == [("a", "b", 1.0), ("a", "z", 1.0)]


def test_features(tmp_path: Path) -> None:
    file = write(tmp_path, "f.csv", "x,id,y\n1,b,2\n3,a,4\n")
    found = read_features(file)
    assert (found.names, found.columns, found.values.tolist()) == (["b", "a"], ["x", "y"], [[1, 2], [3, 4]])
    assert read_features(file, columns=["y"]).values.tolist() == [[2], [4]]
    np.savez(tmp_path / "f.npz", id=["b", "a"], values=np.array([[1, 2], [3, 4]]))
    arrays = read_features(tmp_path / "f.npz")
    assert arrays.columns == ["values[0]", "values[1]"]
    assert arrays.values.tolist() == found.values.tolist()
    for text, message in {
        "x,id\n1,a\n2,b\n3,a\n": "f.csv, line 4: id: expected different ids, got 'a' as in .*f.csv, line 2",
        "x,id\n1,a\ninf,b\n": "f.csv, line 3: x: expected a finite number up to 3.4e\\+38, got 'inf'",
        "x,id\n1,a\nParis,b\n": "f.csv, line 3: x: expected a number, got 'Paris'",
        "id\na\n": "f.csv: expected columns of numbers beside 'id', got none",
        "name,x\na,1\n": "f.csv: expected a column 'id', got the columns 'name', 'x'",
    }.items():
        with pytest.raises(InputError, match=message):
            read_features(write(tmp_path, "f.csv", text))


MATRIX = [[0.0, 1.0, 2.0], [3.0, 0.0, 4.0], [5.0, 6.0, 0.0]]


def test_matrices(tmp_path: Path) -> None:
    np.save(tmp_path / "plain.npy", np.array(MATRIX))
    np.savez(tmp_path / "named.npz", d=np.array(MATRIX), ids=["a", "b", "c"])
    write(tmp_path, "plain.csv", "0,1,2\n3,0,4\n5,6,0\n")
    write(tmp_path, "plain.txt", "# from row to column\n0 1 2\n3 0 4\n5 6 0\n")
    head = "DIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_SECTION\n"
    write(tmp_path, "plain.atsp", head + "9 1 2 3 9 4 5 6 9\nEOF\n")
    write(tmp_path, "header.csv", "a,b,c\n0,1,2\n3,0,4\n5,6,0\n")
    write(tmp_path, "named.tsv", "\ta\tb\tc\na\t0\t1\t2\nb\t3\t0\t4\nc\t5\t6\t0\n")
    for name in ("plain.npy", "named.npz", "plain.csv", "plain.txt", "plain.atsp", "header.csv", "named.tsv"):
        pairs = read_matrix_pairs(tmp_path / name)
        assert pairs.names == (["0", "1", "2"] if name.startswith("plain") else ["a", "b", "c"])
        assert pairs.distances is not None
        assert pairs.distances.tolist() == [1, 2, 3, 4, 5, 6]
        assert [MATRIX[i][j] for i, j in pairs.ends] == pairs.distances.tolist()
        assert holds_matrix(tmp_path / name) == name.endswith(("npy", "npz"))
    for text, message in {
        "0,1\n2,0\n3,4\n5,6\n": "m.csv: expected a square matrix, got 4 rows of 2 columns",
        "0,1\n-2,0\n": "m.csv, from '1' to '0': expected a number >= 0, got -2.0",
        "0,nan\n2,0\n": "m.csv, from '0' to '1': expected a number >= 0, got nan",
        "0,inf\n2,0\n": "m.csv, from '0' to '1': expected a finite number",
        "0,1\n2,3\n": "m.csv, from '1' to '1': expected 0 from an object to itself, got 3.0",
        "0,1\n2,x\n": "m.csv, line 2: expected a number, got 'x'",
        "0,1\n,0\n": "m.csv, line 2: expected a number, got ''",
        "0,1\n2\n": "m.csv, line 2: expected 2 columns as before, got 1",
        ",a,b\na,0,1\nc,2,0\n": "m.csv, line 3: expected 'b' as in the header, got 'c'",
        "a,a\n0,1\n2,0\n": "m.csv: expected 2 different names, got 1 of 2",
        "": "m.csv: expected a matrix, got an empty file",
        "0\n": "m.csv: expected at least two objects, got 1",
    }.items():
        with pytest.raises(InputError, match=message):
            read_matrix_pairs(write(tmp_path, "m.csv", text))


def test_shortest_paths_are_those_of_floyd_and_warshall() -> None:
    random = np.random.default_rng(0)
    nodes = 12
    ends, weights = random.integers(nodes, size=(40, 2)), random.integers(4, size=40).astype(float)
    expected = np.full((nodes, nodes), np.inf)
    np.fill_diagonal(expected, 0)
    np.minimum.at(expected, (ends[:, 0], ends[:, 1]), weights)
    for k in range(nodes):
        expected = np.minimum(expected, expected[:, k : k + 1] + expected[k])
    assert np.isinf(expected).any()
    assert (weights == 0).any()
    np.testing.assert_allclose(all_distances(Graph.from_arcs(nodes, *ends.T, weights, directed=True)), expected)


def test_edges(tmp_path: Path) -> None:
    file = write(tmp_path, "e.csv", "from,to,weight\na,b,1\nb,c,1\nc,a,1\na,b,9\n")
    assert by_name(read_all_distances(file)) == [
        ("a", "b", 1), ("a", "c", 2), ("b", "a", 2), ("b", "c", 1), ("c", "a", 1), ("c", "b", 2)
    ]  # fmt: skip
    assert set(by_name(read_all_distances(file, symmetrize=True))) > {("b", "a", 1.0), ("a", "c", 1.0)}
    file = write(tmp_path, "e.csv", "from,to,weight\na,b,1\n")
    with pytest.raises(InputError, match=r"from 'b' to 'a': expected a path, got none, as for 1 of 2 pairs"):
        read_all_distances(file)
    assert by_name(read_all_distances(file, unreachable=True)) == [("a", "b", 1.0), ("b", "a", np.inf)]
    with pytest.raises(InputError, match=r"e.csv, line 3: weight: expected a number >= 0, got '-1'"):
        read_all_distances(write(tmp_path, "e.csv", "from,to,weight\na,b,1\nb,a,-1\n"))
    many = "".join(f"{i},{i + 1},1\n" for i in range(3000))
    with pytest.raises(InputError, match=r"at most 3,000 nodes, .* got 3,001; trimetric fit --graph samples pairs of"):
        read_all_distances(write(tmp_path, "e.csv", "from,to,weight\n" + many))


def test_a_file_is_replaced_wholly_or_not_at_all(tmp_path: Path) -> None:
    file = write(tmp_path, "p.csv", "as it was")

    def blocks():
        yield [("a", "b", 1)]
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        write_rows(file, ("from", "to", "distance"), blocks())
    assert file.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [file]
