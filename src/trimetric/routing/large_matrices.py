"""`write_matrix_file`: a travel matrix of any size, from places to a file in a solver's format."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.graphs.files.cache import content_key
from trimetric.kernels.min_plus import closure
from trimetric.routing.block_files import BlockFolder, RowsJob, fill_blocks
from trimetric.routing.costs import Annotation
from trimetric.routing.matrices import TravelJob
from trimetric.routing.matrix_files import Format, MatrixFile, check_format, write_travel_file
from trimetric.routing.model_rows import ModelJob
from trimetric.routing.places import Places
from trimetric.routing.road_map import MEASURES, RoadMap, Weight

if TYPE_CHECKING:
    from trimetric.models.model import Model

MOST_CLOSED = 4096
"""places whose shortest paths take seconds"""
PARTS = ".parts"
"""the ending of the folder beside a matrix that is being computed"""


@dataclass(frozen=True, kw_only=True)
class WrittenMatrix:
    """What `write_matrix_file` wrote.

    Attributes:
        file: the file.
        form: its format.
        shape: rows and columns.
        costs: what it holds.
        resumed: the number of rows that were reused from an interrupted run.

    Examples:
        >>> written = WrittenMatrix(file=Path("m.npy"), form="npy", shape=(9, 9), costs=("duration",), resumed=0)
        >>> written.file.name
        'm.npy'
    """

    file: Path
    form: Format
    shape: tuple[int, int]
    costs: tuple[Annotation, ...]
    resumed: int


def write_matrix_file(
    file: Path | str,
    roads: RoadMap,
    sources: Places,
    targets: Places | None = None,
    *,
    weight: Weight | None = None,
    annotations: Sequence[Annotation] | None = None,
    integers: bool = False,
    form: Format | None = None,
    model: Model | None = None,
    jobs: int | None = None,
    client: Any = None,
    progress: Shown = "auto",
) -> WrittenMatrix:
    """Compute a travel matrix block by block and write it to a file.

    Memory holds a few blocks of 32 MiB, whatever the size of the matrix.  Blocks are stored in a folder next to the
    file (its name and `.parts`) until the file is complete.  After a crash, even `kill -9`, the same call resumes from
    these blocks and writes the same bytes.

    Args:
        file: its suffix determines the format: `.npy`, `.npz`, `.csv`, `.tsv`, `.parquet`, `.json`, `.atsp`, `.vrp`.
        roads: the map.
        sources: places of the rows.
        targets: places of the columns; by default the sources.
        weight: "time" for the fastest routes, "length" for the shortest; by default "time" if the map has travel times.
        annotations: the costs to write, "duration" and "distance" of the same route; by default the minimized one.
        integers: whether to round seconds and meters *up* to whole numbers, which keeps the triangle inequality of the
            cost that is minimized.  Where costs of streets are no whole thousandths, or a model estimates them, sums
            are not exact; a square matrix of up to 4,096 places then becomes the shortest paths of what was rounded.
        form: the format of a `.json` file: "osrm" (default), "vroom" or "ortools".
        model: a model of the map that estimates the cost instead; places are then moved to the nearest nodes.
        jobs: how many threads; by default one per core.
        client: of a Dask cluster (`distributed.Client`), whose workers compute instead.
        progress: "auto" shows a progress bar.

    Returns:
        What was written.

    Examples:
        >>> import tempfile
        >>> from trimetric.graphs import Graph
        >>> from trimetric.routing import positions_at_nodes
        >>> graph = Graph.from_arcs(3, [0, 1, 2], [1, 2, 0], [60.0, 50.0, 80.0], directed=True)
        >>> roads = RoadMap.of_graph(graph)
        >>> places = Places(["a", "b"], positions_at_nodes(roads, [0, 1]), snapped=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = write_matrix_file(Path(folder) / "matrix.csv", roads, places, progress="silent")
        ...     print(written.file.read_text())
        ,a,b
        a,0.0,60.0
        b,130.0,0.0
        <BLANKLINE>
    """
    file = Path(file)
    ends = sources if targets is None else targets
    chosen_weight: Weight = weight or roads.weights[0]
    checks.one_of("weight", chosen_weight, roads.weights)
    names = (MEASURES[chosen_weight],) if annotations is None else tuple(annotations)
    chosen = check_format(file, form, costs=len(names), square=targets is None, whole=integers)
    shape = len(sources), len(ends)
    job: RowsJob
    if model is None:
        job = TravelJob.prepare(roads, ends.positions, weight=chosen_weight, annotations=names)
    else:
        job = ModelJob.prepare(roads, ends.positions, model, weight=chosen_weight, annotations=names)
    dtype = np.dtype(np.int64 if integers else np.float64)
    parts = file.with_name(file.name + PARTS)
    identity = content_key(
        "matrix 1", roads.digest, *_places(sources), *_places(ends), chosen_weight, *names, str(dtype),
        "" if model is None else ModelJob.identity(model),
    )  # fmt: skip
    exact = isinstance(job, TravelJob) and job.keys.whole
    if integers and not exact and targets is None and len(sources) > MOST_CLOSED:
        raise ValueError(
            f"integers: expected costs in whole thousandths, or at most {MOST_CLOSED:,} places, as rounded sums may "
            f"break the triangle inequality otherwise, got {len(sources):,} places"
        )
    blocks = BlockFolder(parts, identity=identity, shape=shape, names=names, dtype=dtype)
    left = blocks.missing
    finish = round_up if integers else _as_they_are
    fill_blocks(blocks, job, sources.positions, finish=finish, jobs=jobs, client=client, progress=progress)
    if integers and not exact and targets is None:
        for name in names:
            _close(blocks.file(name))
    if chosen == "npy":
        blocks.file(names[0]).replace(file)
    else:
        matrices: dict[Annotation, NDArray[Any]] = {name: np.load(blocks.file(name), mmap_mode="r") for name in names}
        write_travel_file(file, chosen, _about(sources, ends), matrices)
    shutil.rmtree(parts)
    resumed = shape[0] - sum(rows.stop - rows.start for rows in left)
    return WrittenMatrix(file=file, form=chosen, shape=shape, costs=names, resumed=resumed)


def round_up(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    r"""Round costs up to whole numbers: $x \le y + z$ gives $\lceil x \rceil \le \lceil y \rceil + \lceil z \rceil$.

    Args:
        costs: finite numbers.

    Raises:
        ValueError: if a cost is infinite.

    Examples:
        >>> round_up(np.array([0.0, 1.001, 3.0]))
        array([0, 2, 3])
    """
    if not np.isfinite(costs).all():
        raise ValueError("integers: expected a route between all places, got a pair without one")
    return np.ceil(costs).astype(np.int64)


def _close(file: Path) -> None:
    """Replace a square matrix of whole numbers by its shortest paths, which keep the triangle inequality exactly.

    They lie between the costs and the costs rounded up, and are the same when they are computed again.
    """
    matrix = open_memmap(file, mode="r+")
    matrix[:] = closure(matrix.astype(np.float64))
    matrix.flush()


def _as_they_are(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    return costs


def _places(places: Places) -> tuple[NDArray[Any], ...]:
    at = places.positions
    return at.nodes, at.arcs, at.fractions


def _about(sources: Places, targets: Places) -> MatrixFile:
    return MatrixFile(
        sources=sources.names,
        targets=targets.names,
        source_places=sources.positions.coordinates,
        target_places=targets.positions.coordinates,
        source_meters=sources.positions.meters,
        target_meters=targets.positions.meters,
    )
