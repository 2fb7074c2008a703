"""The answers of a model, block by block, as rows of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trimetric._all_pairs import all_pairs
from trimetric._support.printable import shown
from trimetric.cli.asked import Asked
from trimetric.distances.encoder_inputs import FeatureVectors, inputs_of
from trimetric.files.columns import first_true
from trimetric.files.errors import InputError
from trimetric.files.features import FeatureTable
from trimetric.files.pairs import PairTable
from trimetric.models.model import Model

DISTANCES_AT_ONCE = 1 << 20

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


def nearest(model: Model, sources: Asked, targets: Asked, count: int, *, reverse: bool) -> Iterator[list[Row]]:
    """Yield rows from each source to its nearest targets, except itself; `reverse` measures the way back."""
    number = {label: i for i, label in enumerate(targets.labels)}
    itself = np.array([number.get(label, -1) for label in sources.labels], np.int64)
    here_cells, there_cells = sources.cells(model), targets.cells(model)
    every = torch.arange(len(targets))
    for part, block in _blocks(model, sources, targets, reverse=reverse):
        own = torch.from_numpy(itself[part])[:, None]
        found = block.masked_fill(own == every, torch.inf).topk(min(count, len(targets)), dim=1, largest=False)
        rows: list[Row] = []
        asked = zip(sources.labels[part], here_cells[part], itself[part].tolist(), strict=True)
        for (source, here, skipped), values, spots in zip(
            asked, found.values.tolist(), found.indices.tolist(), strict=True
        ):
            for value, spot in zip(values, spots, strict=True):
                if spot == skipped:
                    continue
                target, there = targets.labels[spot], there_cells[spot]
                if reverse:
                    rows.append((target, source, _text(value), *there, *here))
                else:
                    rows.append((source, target, _text(value), *here, *there))
        yield rows


@torch.no_grad()
def _blocks(model: Model, sources: Asked, targets: Asked, *, reverse: bool = False) -> Iterator[tuple[slice, Tensor]]:
    points, head = model.embed(), model.network.head
    for asked in (sources, targets):
        bad = first_true(~points.isfinite().all(dim=-1).cpu().numpy()[asked.rows])
        if bad is not None:  # it would also spoil the distances of others that are measured with it
            raise InputError(
                f"{shown(asked.labels[bad])}: expected a finite point, got NaN or infinity: what the model reads for "
                "it is too large"
            )
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


def _not_finite(where: str, names: list[str], value: float) -> InputError:
    source, target = names
    return InputError(
        f"{where}expected a finite distance from {shown(source)} to {shown(target)}, got {value}: "
        "what the model reads for one of them is too large"
    )


def _text(value: Any) -> str:
    """Format a distance with about as many digits as float32 has."""
    return f"{value:.7g}"
