"""Travel matrices of a road map: exact ones against SciPy and NetworkX, and one on disk that is killed and resumed."""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from scipy.sparse.csgraph import dijkstra

from benchmarks.worth import street_grid
from trimetric.graphs import Graph
from trimetric.graphs.files.convert import to_networkx
from trimetric.routing import RoadMap, positions_at_nodes, read_roads, snap_to_edges, travel_matrix

PLACES = 5000
FEW = 4  # trees of SciPy that are timed
ROWS, COLUMNS = 50_000, 1000  # of the matrix on disk


@dataclass(frozen=True)
class TravelTimes:
    """What was measured on one map."""

    graph: str
    places: int
    reading_seconds: float
    """processor seconds to read the map and to find the order of contraction"""
    customizing_seconds: float
    """to contract and to compute the keys of shortcuts"""
    snapping_seconds: float
    """to find the nearest streets of all places"""
    matrix_seconds: float
    """processor seconds on one thread, durations and distances"""
    wall_seconds: float
    """elapsed, on all cores"""
    cores: int
    peak_megabytes: float
    """of the whole process, after the matrix"""
    scipy_seconds: float
    """processor seconds of as many of SciPy's trees, durations alone, estimated from a few"""
    networkx_seconds: float
    """of as many of NetworkX's trees, estimated from one"""
    differing: int
    """entries of these trees that differ from the matrix"""


@dataclass(frozen=True)
class DiskTimes:
    """A matrix on disk, once undisturbed and once killed and resumed."""

    rows: int
    columns: int
    seconds: float
    """elapsed"""
    peak_megabytes: float
    """of the process that wrote it"""
    file_megabytes: float
    killed_at: float
    """the share of rows that were there when it was killed with SIGKILL"""
    same_bytes: bool


@dataclass(frozen=True)
class Travel:
    """Both."""

    matrix: TravelTimes
    disk: DiskTimes | None


def run(*, quick: bool = False, map_file: Path | None = None) -> Travel:
    """Measure a matrix between places, and one on disk where a map is given.

    Args:
        quick: few places.
        map_file: a map of OpenStreetMap; a street grid by default.
    """
    count = 200 if quick else PLACES
    start = time.process_time()
    roads = RoadMap.of_graph(street_grid(30 if quick else 100)) if map_file is None else read_roads(map_file)
    _ = roads.order
    reading = time.process_time() - start
    warm = positions_at_nodes(roads, [0, 1])
    travel_matrix(roads, warm, jobs=1)  # compiles
    roads._hierarchies.clear()
    customizing = _seconds(lambda: travel_matrix(roads, warm, jobs=1))
    random = np.random.default_rng(0)
    coordinates = np.asarray(roads.graph.coordinates)
    where = coordinates[random.integers(roads.graph.num_nodes, size=count)] + random.normal(size=(count, 2)) * 3e-4
    snap_to_edges(roads, where[:10], limit=np.inf)
    snapping = _seconds(lambda: snap_to_edges(roads, where, limit=np.inf))
    places = snap_to_edges(roads, where, limit=np.inf)
    single = _seconds(lambda: travel_matrix(roads, places, jobs=1))
    clock = time.perf_counter()
    travel_matrix(roads, places)
    wall = time.perf_counter() - clock
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    scipy_seconds, networkx_seconds, differing = _others(roads, random.integers(roads.graph.num_nodes, size=count))
    measured = TravelTimes(
        str(roads.graph), count, reading, customizing, snapping, single, wall, os.cpu_count() or 1, peak,
        scipy_seconds * count, networkx_seconds * count, differing,
    )  # fmt: skip
    return Travel(measured, None if map_file is None else _on_disk(map_file, roads, quick=quick))


def _others(roads: RoadMap, nodes: np.ndarray) -> tuple[float, float, int]:
    """Seconds per tree of SciPy and NetworkX, between nodes of the map, and how many distances differ from ours."""
    graph: Graph = roads.graph
    ours = travel_matrix(roads, positions_at_nodes(roads, nodes[:FEW]), positions_at_nodes(roads, nodes))
    found: list[np.ndarray] = []
    weights = graph.to_scipy()
    scipy_seconds = _seconds(lambda: found.append(dijkstra(weights, indices=nodes[:FEW])[:, nodes])) / FEW
    import networkx

    network = to_networkx(graph)
    first = list(network.nodes)[nodes[0]]  # in the order of the graph
    networkx_seconds = _seconds(lambda: networkx.single_source_dijkstra_path_length(network, first, weight="weight"))
    return scipy_seconds, networkx_seconds, int((np.abs(found[0] - ours.durations) > 1e-6).sum())


def _on_disk(map_file: Path, roads: RoadMap, *, quick: bool) -> DiskTimes:
    rows, columns = (2000, 50) if quick else (ROWS, COLUMNS)
    ids = np.array(roads.graph.ids())
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, size in (("rows.csv", rows), ("columns.csv", columns)):
            chosen = random.choice(len(ids), size=size, replace=False)
            places = np.asarray(roads.graph.coordinates)[chosen] + random.normal(size=(size, 2)) * 1e-4
            lines = [f"{ids[i]},{lon},{lat}" for i, (lon, lat) in zip(chosen, places.tolist(), strict=True)]
            (folder / file).write_text("\n".join(["id,lon,lat", *lines]))
        words = [
            sys.executable,
            "-m",
            "trimetric",
            "matrix",
            str(map_file.resolve()),
            "rows.csv",
            "--to",
            "columns.csv",
        ]
        words += ["--quiet", "--max-snap", "inf", "--cache", "cache"]
        subprocess.run([*words, "-o", "first.npy"], cwd=folder, check=True)  # fills the cache
        clock = time.perf_counter()
        process = subprocess.Popen([*words, "-o", "whole.npy"], cwd=folder)
        peak = 0.0
        while process.poll() is None:  # the usage that a parent is told begins with the parent's own
            peak = max(peak, _peak_megabytes(process.pid))
            time.sleep(0.02)
        seconds = time.perf_counter() - clock
        if process.returncode:
            raise RuntimeError(f"the command ended with {process.returncode}")
        process = subprocess.Popen([*words, "-o", "killed.npy"], cwd=folder)
        journal = folder / "killed.npy.parts" / "blocks.journal"
        while process.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") > 4):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = journal.read_bytes().count(b"\n") - 1
        height = -(-rows // 8)
        height = min(height, (1 << 22) // columns)
        subprocess.run([*words, "-o", "killed.npy"], cwd=folder, check=True)
        digests = {hashlib.sha256((folder / f).read_bytes()).hexdigest() for f in ("whole.npy", "killed.npy")}
        size = (folder / "whole.npy").stat().st_size / 1e6
    return DiskTimes(rows, columns, seconds, peak, size, min(1.0, done * height / rows), len(digests) == 1)


def _peak_megabytes(process: int) -> float:
    """The largest memory of a running process so far, as Linux counts it."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    found = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(found[0]) / 1024 if found else 0.0


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def show(measured: Travel, console: Console) -> None:
    """Print what `run` has returned."""
    m = measured.matrix
    pairs = m.places**2
    console.print(f"[bold]Travel matrices[/], {m.graph}")
    console.print(
        f"read and ordered {m.reading_seconds:.1f} s, contracted {m.customizing_seconds:.2f} s, "
        f"{m.places:,} places snapped {m.snapping_seconds:.2f} s (processor, one thread)"
    )
    console.print(
        f"{m.places:,} x {m.places:,}, durations and distances: {m.matrix_seconds:.2f} s of one thread "
        f"({1e6 * m.matrix_seconds / pairs:.3f} us per pair), {m.wall_seconds:.2f} s elapsed on {m.cores} cores, "
        f"peak {m.peak_megabytes:,.0f} MB"
    )
    console.print(
        f"durations alone by SciPy's trees: {m.scipy_seconds / m.matrix_seconds:,.0f} times as long; by NetworkX: "
        f"{m.networkx_seconds / m.matrix_seconds:,.0f} times; {m.differing} entries differ"
    )
    if measured.disk is not None:
        d = measured.disk
        console.print(
            f"{d.rows:,} x {d.columns:,} to disk ({d.file_megabytes:,.0f} MB): {d.seconds:.1f} s elapsed with the "
            f"start of the program, peak {d.peak_megabytes:,.0f} MB; killed at {d.killed_at:.0%} and resumed: "
            f"{'the same bytes' if d.same_bytes else 'OTHER BYTES'}"
        )
