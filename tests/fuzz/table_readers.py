"""Readers of tables, matrices and transitions."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from trimetric.files.errors import InputError

from .containers import NPY, nested_json, npy_bytes, npz, strange_parquet
from .mutations import BYTES, cells, encodings
from .reader import Reader

PAIRS = "from,to,distance\na,b,1\nb,c,2.5\nc,a,3\n"
FEATURES = "id,x,y\na,1,2\nb,-2,0.5\nc,3,1e3\n"
EDGES = "from,to,weight\na,b,1\nb,c,2.5\nc,a,3\n"
MATRIX = "0,1,2\n1,0,1.5\n2,1.5,0\n"
NAMED = "name,a,b\na,0,1\nb,2,0\n"
FULL = (
    "NAME: x\nTYPE: ATSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
    "EDGE_WEIGHT_SECTION\n9 1 2\n1 9 3\n2 3 9\nEOF\n"
)
JSON_MATRICES = (
    "[[0, 1], [2, 0]]",
    '{"code": "Ok", "durations": [[0, 1.5], [2, 0]], "distances": [[0, 7], [9, 0]], "ids": ["a", "b"]}',
    '{"matrices": {"car": {"durations": [[0, 1], [2, 0]]}}, "jobs": []}',
    '{"distance_matrix": [[0, 1], [2, 0]], "num_vehicles": 1, "depot": 0}',
)
PLACES = "id,lon,lat\nhome,-8,41.004\nwork,-7.995,41.0101\n"
UPPER = "DIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\nEDGE_WEIGHT_SECTION\n1 2\n3\nEOF\n"


def _text(*texts: str) -> Any:
    return lambda: [text.encode() for text in texts]


def _archive(**arrays: Any) -> Any:
    def make() -> list[bytes]:
        stream = io.BytesIO()
        np.savez_compressed(stream, **{name: np.array(value) for name, value in arrays.items()})
        return [stream.getvalue()]

    return make


def _parquet(**columns: Any) -> Any:
    def make() -> list[bytes]:
        import pyarrow as pa
        from pyarrow import parquet

        stream = io.BytesIO()
        parquet.write_table(pa.table(columns), stream)
        return [stream.getvalue()]

    return make


# Valid results


def check_pairs(found: Any) -> None:
    n = len(found.names)
    assert n
    assert len(set(found.names)) == n
    assert all(isinstance(name, str) and name for name in found.names)
    assert found.ends.shape == (len(found), 2)
    assert len(found)
    assert found.ends.min() >= 0
    assert found.ends.max() < n
    assert found.distances.shape == (len(found),)
    assert np.isfinite(found.distances).all()
    assert (found.distances >= 0).all()
    found.where(0), found.where(len(found) - 1)


def _check_features(found: Any) -> None:
    assert found.values.shape == (len(found.names), len(found.columns))
    assert found.values.size
    assert np.isfinite(found.values).all()
    assert len(set(found.names)) == len(found.names)


def _check_matrix(values: Any) -> None:
    assert values.dtype == np.float64
    assert values.ndim == 2
    assert values.shape[0] == values.shape[1]


def _check_transitions(found: Any) -> None:
    n = len(found)
    assert n
    assert found.observations.shape == found.next_observations.shape
    assert len(found.observations) == n
    assert np.isfinite(found.observations).all()
    assert np.isfinite(found.costs).all()
    assert (found.costs > 0).all()
    assert found.ends.max() < len(found.states)


def _check_places(found: Any) -> None:
    n = len(found)
    assert n
    assert len(set(found.names)) == n
    assert found.positions.coordinates.shape == (n, 2)
    assert (found.positions.meters <= 500).all()
    assert ((found.positions.nodes >= 0) ^ (found.positions.arcs >= 0)).all()


# Calls


def _read_places(file: Path) -> Any:
    from trimetric.graphs import Graph
    from trimetric.routing import RoadMap, read_places

    corners = [[-8.0, 41.0], [-8.0, 41.01], [-7.99, 41.01]]
    arcs = [0, 1, 2], [1, 2, 0], [60.0, 50.0, 80.0]
    graph = Graph.from_arcs(3, *arcs, directed=True, coordinates=corners, names=["a", "b", "c"])
    return read_places(file, RoadMap.of_graph(graph))


def _read_pairs(file: Path) -> Any:
    from trimetric.files.pairs import drop_repeats, read_pairs

    pairs = drop_repeats(read_pairs(file))
    if not len(pairs):  # as the command does
        raise InputError(f"{file}: expected a pair of different objects, got none")
    return pairs


def _read_features(file: Path) -> Any:
    from trimetric.files.features import read_features

    return read_features(file)


def _read_edges(file: Path) -> Any:
    from trimetric.graphs.paths.all_distances import read_all_distances

    pairs = read_all_distances(file)
    if not len(pairs):
        raise InputError(f"{file}: expected a pair of different objects, got none")
    return pairs


def _read_matrix_pairs(file: Path) -> Any:
    from trimetric.files.matrix_pairs import read_matrix_pairs

    return read_matrix_pairs(file)


def _read_matrix(file: Path) -> Any:
    from trimetric.files.matrices import read_matrix

    return read_matrix(file)


def _read_transitions(file: Path) -> Any:
    from trimetric.rl import read_transitions

    return read_transitions(file)


PAIR_NAMES = ("from", "to", "distance")
CSV = (*BYTES, cells(","), cells(","), cells(","), encodings)
JSON = (*BYTES, cells(","), cells(","), encodings, nested_json, nested_json)
TSV = (*BYTES, cells("\t"), cells("\t"), encodings)
BLANKS = (*BYTES, cells(" "), cells(" "), encodings)
OUT = ("-o", "{folder}/m.safetensors", "--epochs", "1", "--quiet")
FIT, FIT_MATRIX = ("fit", "{file}", *OUT), ("fit", "{file}", "--matrix", *OUT)
TEXT_IDS = {"to": ["b", "c", "a"], "distance": [1.0, 2.5, 3.0]} | {"from": ["a", "b", "c"]}
ALL_PAIRS = {"from": list("aabb"), "to": list("abab"), "duration": [0.0, 1.0, 2.0, 0.0], "distance": [0, 5, 6, 0]}
STEPS = {"observations": [[0.0], [1.0]], "next_observations": [[1.0], [2.0]]}


def _pairs(suffix: str, seeds: Any, mutations: Any) -> Reader:
    return Reader(
        name=f"pairs {suffix}",
        file=f"pairs.{suffix}",
        seeds=seeds,
        call=_read_pairs,
        check=check_pairs,
        mutations=mutations,
        command=FIT,
    )


def _features(suffix: str, seeds: Any, mutations: Any) -> Reader:
    return Reader(
        name=f"features {suffix}",
        file=f"features.{suffix}",
        seeds=seeds,
        call=_read_features,
        check=_check_features,
        mutations=mutations,
        command=("fit", "{folder}/good.csv", "--features", "{file}", *OUT),
        prepare=lambda folder: (folder / "good.csv").write_text(PAIRS) and None,
    )


def _matrix(suffix: str, seeds: Any, mutations: Any) -> Reader:
    return Reader(
        name=f"matrix {suffix}",
        file=f"matrix.{suffix}",
        seeds=seeds,
        call=_read_matrix_pairs,
        check=check_pairs,
        mutations=mutations,
        command=FIT_MATRIX,
    )


def _repaired(suffix: str, seeds: Any, mutations: Any) -> Reader:
    return Reader(
        name=f"repair {suffix}",
        file=f"matrix.{suffix}",
        seeds=seeds,
        call=_read_matrix,
        check=_check_matrix,
        mutations=mutations,
        command=("repair", "{file}", "-o", "{folder}/out.csv", "--quiet"),
    )


TABLE_READERS = (
    _pairs("csv", _text(PAIRS), CSV),
    _pairs("tsv", _text(PAIRS.replace(",", "\t")), TSV),
    _pairs("parquet", _parquet(**TEXT_IDS), (*BYTES, strange_parquet(PAIR_NAMES))),
    _pairs("npz", _archive(**TEXT_IDS), (*BYTES, npz(PAIR_NAMES), npz(PAIR_NAMES))),
    _features("csv", _text(FEATURES), CSV),
    _features("parquet", _parquet(id=["a", "b", "c"], x=[1, 2, 3]), (*BYTES, strange_parquet(("id", "x")))),
    _features("npz", _archive(id=["a", "b", "c"], x=[[1.0, 2], [2, 3], [3, 4]]), (*BYTES, npz(("id", "x")))),
    Reader(
        name="edges csv",
        file="edges.csv",
        seeds=_text(EDGES),
        call=_read_edges,
        check=check_pairs,
        mutations=CSV,
        command=("fit", "{file}", "--edges", *OUT),
    ),
    _matrix("csv", _text(MATRIX, "a,b,c\n" + MATRIX, NAMED), CSV),
    _matrix("npy", lambda: [npy_bytes(np.array([[0, 1.0], [2, 0]]))], NPY),
    _matrix("npz", _archive(D=[[0, 1.0], [2, 0]], ids=["a", "b"]), (*BYTES, npz(("D", "ids")), npz(("D", "ids")))),
    _repaired("txt", _text(MATRIX.replace(",", " "), "# x\n0 1\n1 0\n"), BLANKS),
    _repaired("tsv", _text(MATRIX.replace(",", "\t"), "0\t\n1\t0\n"), TSV),
    _repaired("atsp", _text(FULL), BLANKS),
    _repaired("tsp", _text(UPPER, UPPER.replace("UPPER_ROW", "LOWER_DIAG_ROW").replace("3\nEOF", "3 4 5 6")), BLANKS),
    _repaired("vrp", _text(FULL.replace("EOF", "DEMAND_SECTION\n1 0\n2 1\n3 1\nEOF")), BLANKS),
    _repaired("json", _text(*JSON_MATRICES), JSON),
    _repaired("parquet", _parquet(**ALL_PAIRS), (*BYTES, strange_parquet(tuple(ALL_PAIRS)))),
    Reader(
        name="places csv",
        file="places.csv",
        seeds=_text(PLACES, "id\na\nb\n"),
        call=_read_places,
        check=_check_places,
        mutations=CSV,
        command=("matrix", "{folder}/roads.csv", "{file}", "-o", "{folder}/m.npy", "--quiet"),
        prepare=lambda folder: (folder / "roads.csv").write_text(EDGES) and None,
    ),
    Reader(
        name="transitions npz",
        file="steps.npz",
        seeds=lambda: _archive(**STEPS, costs=[1.0, 2.0])() + _archive(**STEPS, rewards=[-1, -1], actions=[0, 1])(),
        call=_read_transitions,
        check=_check_transitions,
        mutations=(*BYTES, npz((*STEPS, "costs", "rewards", "actions", "terminals")), npz(tuple(STEPS))),
        refusals=(ValueError,),
        command=("values", "fit", "--dataset", "{file}", "-o", "{folder}/m.safetensors", "--quiet"),
    ),
)
