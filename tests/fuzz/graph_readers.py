"""Readers of graphs, maps and of what was computed on them."""

from __future__ import annotations

import base64
import gzip
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from .containers import inside_gzip, npz, signed, strange_parquet
from .mutations import BYTES, attributes, cells, encodings
from .protocol_buffers import inside_pbf
from .reader import Reader
from .table_readers import BLANKS, CSV, EDGES, _archive, _parquet, _text

EDGE_NAMES = ("from", "to", "weight")
GR = "c a triangle\np sp 3 4\na 1 2 5\na 2 3 1\na 3 1 2\na 1 3 9\n"
CO = "c places\np aux sp co 3\nv 1 -8600000 41100000\nv 2 -8610000 41100000\nv 3 -8600000 41110000\n"
OSM = """<?xml version='1.0' encoding='UTF-8'?>
<osm version="0.6" generator="x">
 <node id="1" lat="41.1" lon="-8.6" version="1"/>
 <node id="2" lat="41.11" lon="-8.6" version="1"/>
 <node id="3" lat="41.1" lon="-8.61" version="1"/>
 <way id="7" version="1"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="1"/><tag k="highway" v="residential"/></way>
 <way id="8" version="1"><nd ref="1"/><nd ref="3"/><tag k="highway" v="primary"/><tag k="maxspeed" v="30 mph"/></way>
</osm>
"""
PBF = (  # the same map in protocol buffers, as osmium writes it
    "AAAADQoJT1NNSGVhZGVyGDsQLxo3eJxT4vMvzg1OzkjNTdQNM9AzU+JySc0rTvXLT0ktbmIUyMlMyi/OzSzN1TfSMzLWMwQAX2cO"
    "kwAAAAsKB09TTURhdGEYSxBGGkd4nONi4WLgYhCyE7LhYmZiYtKS5GJmZGQUYmZgYJACEUogQouZiYHBibvh86925gOzePbP4vHi"
    "+N/aFMQAZAWBFAAADOQMIAAAAAsKB09TTURhdGEYbhBxGmp4nFXJsQqAIBAAUO+ylGsJp3CKpsYggub+REhSyBALqr+vtfU9GomR"
    "cH51l3moTPbwi91Pb7bPZTD3Ea1dSMTkg0kPFUPfhOjUpLUUCkADtiShYjVrWJfNHBGz76RC4Brz4reI/AXJJROA"
)
MAP = "#####\n# > #\n#  ##\n#####\n"


def check_graph(graph: Any) -> None:
    n = graph.num_nodes
    assert n >= 1
    assert graph.indptr[0] == 0
    assert graph.indptr[-1] == len(graph.indices) == len(graph.weights)
    assert np.isfinite(graph.weights).all()
    assert (graph.weights >= 0).all()
    assert not len(graph.indices) or (graph.indices.min() >= 0 and graph.indices.max() < n)
    assert graph.components()[0] == 1
    assert len(set(graph.ids())) == n
    assert graph.coordinates is None or (graph.coordinates.shape == (n, 2) and np.isfinite(graph.coordinates).all())


def _read_graph(file: Path) -> Any:
    from trimetric.graphs import read_graph

    return read_graph(file)


def _read_beside(file: Path) -> Any:
    return _read_graph(file.with_suffix(".gr"))


def _read_map(file: Path) -> Any:
    from trimetric.rl.worlds.maps import read_map

    return read_map(file.read_text(encoding="utf-8"))


def _check_map(grid: Any) -> None:
    height, width = grid.shape
    assert len(grid.cells) >= 2
    assert grid.cells.max(axis=0)[0] < height
    assert grid.cells.max(axis=0)[1] < width
    assert grid.neighbors().shape == (len(grid.cells), 4)


def _pbf() -> list[bytes]:
    return [base64.b64decode(PBF)]


def _forked(file: Path) -> subprocess.CompletedProcess[bytes]:
    """As the reader's own process, but forked from this one: the same code, started fifty times as fast.

    For that this process itself must not read any map: threads of the library would be missing in the other one.
    """
    from trimetric.graphs.files import osm_process

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            code = 1
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
                code = osm_process.main(str(file))
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
        try:
            status = os.waitpid(child, 0)[1]
        except BaseException:  # the alarm
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess([], os.waitstatus_to_exitcode(status), out.read(), err.read())


def _read_map_file(file: Path) -> Any:
    from trimetric.graphs import read_graph

    with mock.patch("trimetric.graphs.files.osm.run_reader", _forked):
        return read_graph(file, weight="time")


def _graph(suffix: str, seeds: Any, mutations: Any, **more: Any) -> Reader:
    return Reader(
        name=f"graph {suffix}",
        file=f"graph.{suffix}",
        seeds=seeds,
        mutations=mutations,
        **{
            "call": _read_graph,
            "check": check_graph,
            "command": ("fit", "--graph", "{file}", "-o", "{folder}/m.safetensors", "--quiet"),
            **more,
        },
    )


ENDS = (np.array([0, 1, 2]), np.array([2, 0, 1]))


def _paths(folder: Path) -> Any:
    from trimetric.graphs import Graph, ShortestPaths

    graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [1.0, 2.0, 4.0], directed=True)
    paths = ShortestPaths(graph, cache=folder, engine="scipy", jobs=1, progress="silent")
    paths._key = lambda *_: "abc"  # type: ignore[method-assign]  # a short name for its file
    return paths


def _cache_seed() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        _paths(Path(folder)).pairs(*ENDS)
        return [(Path(folder) / "ab" / "abc.safetensors").read_bytes()]


def _read_cache(file: Path) -> Any:
    return _paths(file.parent.parent)._known(*ENDS)


def _check_cache(found: Any) -> None:
    """None is right: a file that is damaged counts as absent."""
    if found is not None:
        assert found.shape == (3,)
        assert (found >= 0).all()


GRAPH_READERS = (
    _graph("csv", _text(EDGES), CSV),
    _graph(
        "parquet",
        _parquet(**{"from": [1, 2, 3], "to": [2, 3, 1], "weight": [1.0, 2, 3]}),
        (*BYTES, strange_parquet(EDGE_NAMES)),
    ),
    _graph("npz", _archive(**{"from": [1, 2, 3], "to": [2, 3, 1], "weight": [1.0, 2, 3]}), (*BYTES, npz(EDGE_NAMES))),
    _graph("gr", _text(GR), (*BLANKS, BLANKS[-2])),
    _graph("gr.gz", lambda: [gzip.compress(GR.encode(), mtime=0)], (*BYTES, inside_gzip(*BYTES, cells(" ")))),
    _graph(
        "co",
        _text(CO),
        BLANKS,
        call=_read_beside,
        prepare=lambda folder: (folder / "graph.gr").write_text(GR) and None,
        command=(),
    ),
    _graph("osm", _text(OSM), (*BYTES, *(attributes,) * 12), call=_read_map_file),
    _graph("osm.pbf", _pbf, (*BYTES, *(inside_pbf,) * 12), call=_read_map_file),
    Reader(
        name="graph cache",
        file="ab/abc.safetensors",
        seeds=_cache_seed,
        call=_read_cache,
        check=_check_cache,
        mutations=(*BYTES, signed(), signed()),
    ),
    Reader(
        name="map txt",
        file="map.txt",
        seeds=_text(MAP, ". .\n  .\n"),
        call=_read_map,
        check=_check_map,
        mutations=(*BYTES, cells(" "), encodings),
        refusals=(ValueError,),
        command=("values", "fit", "--map", "{file}", "-o", "{folder}/m.safetensors", "--quiet"),
        names_file=False,
    ),
)
