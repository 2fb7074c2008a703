"""Answers of a model, block by block, as rows of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trimetric.all_pairs import all_pairs
from trimetric.distances import Distance
from trimetric.encoders import MLP
from trimetric.model import Model
from trimetric.siamese import Siamese
from trimetric.tables.errors import InputError
from trimetric.tables.features import FeatureTable
from trimetric.tables.pairs import PairTable

DISTANCES_AT_ONCE = 1 << 20

Row = tuple[str, ...]


def head_of(model: Model) -> Distance:
    return model.network.distance if isinstance(model.network, Siamese) else model.network


def with_features(model: Model, file: Path, features: FeatureTable) -> Model:
    """The same network for other objects."""
    network = model.network
    if isinstance(network, Siamese) and isinstance(network.encoder, MLP):
        width = network.encoder.standardize.features
    elif isinstance(network, Distance):
        width = network.dim
    elif model.features is not None:
        width = model.features.shape[1]
    else:
        raise InputError(f"--features: {file} has a point for each object that it knows, and reads no features")
    if len(features.columns) != width:
        raise InputError(f"--features: expected {width} columns, as {file} reads, got {len(features.columns)}")
    return Model(network, features.names, torch.tensor(features.values, dtype=torch.float32), model.notes)


@torch.no_grad()
def listed_pairs(model: Model, pairs: PairTable) -> tuple[NDArray[np.float64], Iterable[list[Row]]]:
    """The predictions for the pairs, and the rows that say so."""
    points, head = model.embed(), head_of(model)
    parts = [
        head(points[part[:, 0]], points[part[:, 1]]).double().cpu()
        for part in torch.from_numpy(pairs.ends).to(points.device).split(1 << 16)
    ]
    predicted = torch.cat(parts).numpy()
    given = [] if pairs.distances is None else [list(map(_text, pairs.distances.tolist()))]
    names = pairs.names
    sources, targets = ([names[i] for i in pairs.ends[:, end].tolist()] for end in (0, 1))
    return predicted, [list(zip(sources, targets, map(_text, predicted.tolist()), *given, strict=True))]


def every_pair(model: Model, sources: Sequence[int], targets: Sequence[int]) -> Iterator[list[Row]]:
    """From each source to each target."""
    names = _names(model)
    for rows, block in _blocks(model, sources, targets):
        ends = [names[j] for j in targets]
        yield [
            (names[i], end, _text(value))
            for i, values in zip(rows, block.tolist(), strict=True)
            for end, value in zip(ends, values, strict=True)
        ]


def nearest(
    model: Model, sources: Sequence[int], targets: Sequence[int], count: int, *, reverse: bool
) -> Iterator[list[Row]]:
    """From each source to its nearest targets, itself not among them; `reverse` measures the way back."""
    names = _names(model)
    columns = np.array(targets)
    for rows, block in _blocks(model, sources, targets, reverse=reverse):
        itself = torch.from_numpy(np.array(rows)[:, None] == columns[None])
        found = block.masked_fill(itself, torch.inf).topk(min(count, len(targets)), dim=1, largest=False)
        block_rows: list[Row] = []
        for i, values, spots in zip(rows, found.values.tolist(), found.indices.tolist(), strict=True):
            for value, spot in zip(values, spots, strict=True):
                here, there = (targets[spot], i) if reverse else (i, targets[spot])
                if here != there:
                    block_rows.append((names[here], names[there], _text(value)))
        yield block_rows


@torch.no_grad()
def _blocks(
    model: Model, sources: Sequence[int], targets: Sequence[int], *, reverse: bool = False
) -> Iterator[tuple[Sequence[int], Tensor]]:
    points, head = model.embed(), head_of(model)
    ends = points[list(targets)]
    height = max(1, DISTANCES_AT_ONCE // max(1, len(targets)))
    for start in range(0, len(sources), height):
        rows = sources[start : start + height]
        here = points[list(rows)]
        block = all_pairs(head, ends, here).mT if reverse else all_pairs(head, here, ends)
        yield rows, block.cpu()


def _names(model: Model) -> Sequence[str]:
    if model.ids is None:
        raise InputError("this model knows no objects by name; give --features")
    return model.ids


def _text(value: Any) -> str:
    """About as many digits as float32 has."""
    return f"{value:.7g}"
