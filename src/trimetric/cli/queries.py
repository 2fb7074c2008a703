"""The answers of a model, block by block, as rows of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trimetric._support.printable import shown
from trimetric.cli.asked import Asked
from trimetric.cli.general import General
from trimetric.distances.all_pairs import all_pairs
from trimetric.distances.encoder_inputs import FeatureVectors, inputs_of
from trimetric.files.columns import first_true
from trimetric.files.errors import InputError
from trimetric.files.features import FeatureTable, read_features
from trimetric.files.pairs import PairTable
from trimetric.models.model import Model

if TYPE_CHECKING:
    from trimetric.search import Index

DISTANCES_AT_ONCE = 1 << 20
SEARCHED_AT_ONCE = 1 << 13
# An index is built for an answer where it surely pays: building it compares each target with 16 others, both ways.
INDEXED_SOURCES, INDEXED_TARGETS = 500, 5000

Row = tuple[str, ...]


def with_features(model: Model, file: Path, features: FeatureTable) -> Model:
    """Return the model for other objects: the same network with their features."""
    network = model.network
    reads = inputs_of(network.reader)
    if isinstance(reads, FeatureVectors):
        width = reads.width
    elif model.features is not None:
        width = model.features.shape[1]
    else:
        raise InputError(f"--features: {file} has a point for each object that it knows, and reads no features")
    if len(features.columns) != width:
        raise InputError(f"--features: expected {width} columns, as {file} reads, got {len(features.columns)}")
    return Model(network, features.names, torch.tensor(features.values, dtype=torch.float32), model.notes)


def listed_pairs(model: Model, pairs: PairTable) -> tuple[NDArray[np.float64], Iterable[list[Row]]]:
    """Return the predictions for the pairs, and the rows of the answer."""
    predicted = model.between_rows(pairs.ends).double().cpu().numpy()
    bad = first_true(~np.isfinite(predicted))
    if bad is not None:
        raise _not_finite(f"{pairs.where(bad)}: ", [pairs.names[i] for i in pairs.ends[bad]], predicted[bad])
    given = [] if pairs.distances is None else [list(map(_text, pairs.distances.tolist()))]
    names = pairs.names
    sources, targets = ([names[i] for i in pairs.ends[:, end].tolist()] for end in (0, 1))
    return predicted, [list(zip(sources, targets, map(_text, predicted.tolist()), *given, strict=True))]


def columns(starts: Asked, ends: Asked) -> tuple[str, ...]:
    """Return the header of the answer."""
    return ("from", "to", "distance", *starts.columns("from"), *ends.columns("to"))


def every_pair(model: Model, sources: Asked, targets: Asked) -> Iterator[list[Row]]:
    """Yield rows from each source to each target."""
    starts, ends = sources.cells(model), targets.cells(model)
    for part, block in _blocks(model, sources, targets):
        yield [
            (source, target, _text(value), *start, *end)
            for source, start, values in zip(sources.labels[part], starts[part], block.tolist(), strict=True)
            for target, end, value in zip(targets.labels, ends, values, strict=True)
        ]


def nearest(
    model: Model,
    sources: Asked,
    targets: Asked,
    count: int,
    *,
    reverse: bool,
    index: Index | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> Iterator[list[Row]]:
    """Yield rows from each source to its nearest targets, except itself; `reverse` measures the way back.

    Args:
        model: the distances.
        sources: where they start.
        targets: where they end.
        count: how many of them for each source.
        reverse: whether to measure the way from the targets.
        index: of all objects of the model, which are the targets; by default one is built if that pays.
        note: is told how many comparisons an index skipped.
    """
    number = {label: i for i, label in enumerate(targets.labels)}
    itself = np.array([number.get(label, -1) for label in sources.labels], np.int64)
    here_cells, there_cells = sources.cells(model), targets.cells(model)
    pays = len(sources) >= INDEXED_SOURCES and len(targets) >= INDEXED_TARGETS and model.axioms.triangle
    if index is None and pays:
        _check_points(model, sources, targets)
        try:
            from trimetric.search import Index  # here, because it imports SciPy and numba

            index = Index(model.network.head, model.embed()[torch.from_numpy(targets.rows)].cpu())
        except ValueError:  # distances that are not finite: comparing with all tells which
            index = None
    if index is None:
        parts = _compared(model, sources, targets, count, itself, reverse=reverse)
    else:
        parts = _searched(model, sources, targets, count, index, reverse=reverse, note=note)
    for part, distances, spots in parts:
        rows: list[Row] = []
        asked = zip(sources.labels[part], here_cells[part], itself[part].tolist(), strict=True)
        for (source, here, skipped), values, places in zip(asked, distances, spots, strict=True):
            others = [(value, spot) for value, spot in zip(values, places, strict=True) if spot != skipped]
            for value, spot in others[:count]:
                target, there = targets.labels[spot], there_cells[spot]
                if reverse:
                    rows.append((target, source, _text(value), *there, *here))
                else:
                    rows.append((source, target, _text(value), *here, *there))
        yield rows


Part = tuple[slice, list[list[float]], list[list[int]]]


def _compared(
    model: Model, sources: Asked, targets: Asked, count: int, itself: NDArray[np.int64], *, reverse: bool
) -> Iterator[Part]:
    """Yield the nearest targets of some sources, found by comparing with all."""
    every = torch.arange(len(targets))
    for part, block in _blocks(model, sources, targets, reverse=reverse):
        own = torch.from_numpy(itself[part])[:, None]
        found = block.masked_fill(own == every, torch.inf).topk(min(count, len(targets)), dim=1, largest=False)
        yield part, found.values.tolist(), found.indices.tolist()


def _searched(
    model: Model,
    sources: Asked,
    targets: Asked,
    count: int,
    index: Index,
    *,
    reverse: bool,
    note: Callable[[str], None],
) -> Iterator[Part]:
    """Yield the nearest targets of some sources, and one more for the source itself, found by an index."""
    _check_points(model, sources, targets)
    points, ids, skipped = model.embed().cpu(), index.names, 0
    for start in range(0, len(sources), SEARCHED_AT_ONCE):
        part = slice(start, start + SEARCHED_AT_ONCE)
        rows = sources.rows[part]
        here = points[torch.from_numpy(rows)] if ids is None else [ids[row] for row in rows.tolist()]
        try:
            found = index.nearest(here, count + 1, direction="to" if reverse else "from")
        except ValueError as error:  # distances that are not finite
            raise InputError(f"{error}: what the model reads for some objects is too large") from None
        skipped += found.skipped
        yield part, found.distances.tolist(), found.rows.tolist()
    every = len(sources) * len(targets)
    note(f"an index skipped {skipped:,} of {every:,} comparisons ({skipped / max(1, every):.1%})")


def model_of_objects(general: General, file: Path, features: Path | None, id_column: str) -> Model:
    """Load a model with the objects that it knows, or with those of a file of features.

    Args:
        general: the options that say where to compute.
        file: of the model.
        features: a file of features of other objects.
        id_column: its column of ids.
    """
    model = general.load(file)
    if features is None:
        if model.ids is None:
            raise InputError(f"{file}: this model knows no objects by name; give --features")
        return model
    names = model.notes.get("feature_columns")
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise InputError(f"{file}: notes: feature_columns: expected names of columns, got {shown(names)}")
    return with_features(model, file, read_features(features, id_column=id_column, columns=names))


def check_index(index: Index, model: Model, file: Path, model_file: Path) -> None:
    """Refuse an index of other objects or of another distance."""
    known = index.names is not None and list(index.names) == list(model.ids or ()) and len(index) == len(index.names)
    points = model.embed().cpu()
    same = (
        known and points.dtype == index.store.points.dtype and torch.equal(index.store.points, points[index.store.ids])
    )
    weights, others = model.network.head.state_dict(), index.subject.head.state_dict()  # type: ignore[union-attr]
    same = same and weights.keys() == others.keys()
    if not same or any(not torch.equal(value.cpu(), others[name]) for name, value in weights.items()):
        raise InputError(f"--index: {file}: expected an index of {model_file}, got one of another model")


@torch.no_grad()
def _blocks(model: Model, sources: Asked, targets: Asked, *, reverse: bool = False) -> Iterator[tuple[slice, Tensor]]:
    _check_points(model, sources, targets)
    points, head = model.embed(), model.network.head
    ends = points[torch.from_numpy(targets.rows)]
    height = max(1, DISTANCES_AT_ONCE // max(1, len(targets)))
    for start in range(0, len(sources), height):
        part = slice(start, start + height)
        here = points[torch.from_numpy(sources.rows[part])]
        block = all_pairs(head, ends, here).mT if reverse else all_pairs(head, here, ends)
        block = block.cpu()
        if not bool(block.isfinite().all()):
            row, column = (int(i) for i in (~block.isfinite()).nonzero()[0])
            names = [sources.labels[start + row], targets.labels[column]]
            raise _not_finite("", names[::-1] if reverse else names, float(block[row, column]))
        yield part, block


def _check_points(model: Model, sources: Asked, targets: Asked) -> None:
    points = model.embed()
    for asked in (sources, targets):
        bad = first_true(~points.isfinite().all(dim=-1).cpu().numpy()[asked.rows])
        if bad is not None:  # it would also spoil the distances of others that are measured with it
            raise InputError(
                f"{shown(asked.labels[bad])}: expected a finite point, got NaN or infinity: what the model reads for "
                "it is too large"
            )


def _not_finite(where: str, names: list[str], value: float) -> InputError:
    source, target = names
    return InputError(
        f"{where}expected a finite distance from {shown(source)} to {shown(target)}, got {value}: "
        "what the model reads for one of them is too large"
    )


def _text(value: Any) -> str:
    """Format a distance with about as many digits as float32 has."""
    return f"{value:.7g}"
