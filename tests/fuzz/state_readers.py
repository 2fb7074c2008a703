"""Readers of what the project itself wrote: models, checkpoints of training, ledgers."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path
from random import Random
from typing import Any

import torch

import trimetric as tm
from trimetric._support.tensor_files import CheckpointError

from .containers import signed, strange_json
from .mutations import BYTES, cells
from .reader import Reader


def _saved(model: tm.Model) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return model.save(Path(folder) / "m.safetensors").read_bytes()


def _models() -> list[bytes]:
    torch.manual_seed(0)
    encoder = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3))
    wide = tm.Calibrated(tm.NeuralMetric(tm.WideNorm(3, components=2), concave_units=2))
    table = tm.Siamese(torch.nn.Embedding(3, 2), tm.Calibrated(tm.DeepNorm(2, widths=(4,))))
    return [
        _saved(tm.Model(tm.Siamese(encoder, wide), ["a", "b", "c"], torch.rand(3, 2), {"made_by": "x"})),
        _saved(tm.Model(table, ["a", "b", "c"], notes={"settings": {"seed": 0}})),
        _saved(tm.Model(tm.NeuralMetric(tm.Mahalanobis(2)), ["a", "b"], torch.rand(2, 2), places=torch.rand(2, 2))),
    ]


def _load(file: Path) -> tm.Model:
    return tm.Model.load(file)


def _check_model(model: Any) -> None:
    assert isinstance(model.network, (tm.Siamese, tm.Distance))
    assert isinstance(model.notes, dict)
    if model.ids is None:
        return
    assert all(isinstance(name, str) for name in model.ids)
    assert len(set(model.ids)) == len(model.ids)
    if len(model.ids):
        assert model.objects().shape[0] == len(model.ids)


# Indexes


def _indexes() -> list[bytes]:
    torch.manual_seed(0)
    names = [f"place {i}" for i in range(9)]
    model = tm.Model(tm.NormInduced(tm.WideNorm(2, components=2, width=2)), names, torch.rand(9, 2))
    named, plain = tm.search.Index(model, leaf_size=3), tm.search.Index(tm.IntervalQuasimetric(2), torch.rand(9, 2))
    plain.insert(torch.rand(2, 2))
    plain.delete([1])
    with tempfile.TemporaryDirectory() as folder:
        return [index.save(Path(folder) / "p.index").read_bytes() for index in (named, plain)]


def _load_index(file: Path) -> tm.search.Index:
    return tm.search.Index.load(file)


def _check_index(index: Any) -> None:
    """It answers, with ids that it has."""
    known = set(index.ids.tolist())
    for direction in ("from", "to"):
        try:
            found = index.nearest(index.store.points[:3], k=4, direction=direction)
        except ValueError:  # of weights with which distances are not finite
            return
        assert set(found.ids.flatten().tolist()) <= known
        assert found.distances.isfinite().all()


# Checkpoints


def _run() -> Any:
    """A short run of training, not begun."""
    from trimetric.training.pairs import PairData
    from trimetric.training.processes import connected
    from trimetric.training.run import TrainingRun
    from trimetric.training.trainee import SingleModel

    torch.manual_seed(0)
    network = tm.Siamese(torch.nn.Embedding(3, 2), tm.Calibrated(tm.Mahalanobis(2)))
    data = PairData(torch.tensor([[0, 1], [1, 2], [2, 0]]), torch.tensor([1.0, 2.0, 3.0]), None)
    config = tm.TrainingConfig(epochs=3, batch_size=2, average=0.9, patience=2)
    with connected(torch.device("cpu")) as processes:
        return TrainingRun(SingleModel(network, data, config, processes), [data], [data], {}, [0], config, processes)


def _checkpoints() -> list[bytes]:
    from trimetric.training.checkpoints import save_run
    from trimetric.training.loop import take_step

    with tempfile.TemporaryDirectory() as folder:
        run, file, found = _run(), Path(folder) / "c.safetensors", []
        for _ in range(3):
            take_step(run)
            save_run(run, file)
            found.append(file.read_bytes())
        return found


def _restore(file: Path) -> Any:
    from trimetric.training.checkpoints import restore_run

    run = _run()
    restore_run(run, file)
    return run


def _check_run(run: Any) -> None:
    """It can be trained to its end."""
    from trimetric.training.loop import take_step

    assert 0 <= run.position <= run.steps
    while not run.finished:
        take_step(run)
    run.load_final_weights()
    assert all(isinstance(epoch.loss, float) for epoch in run.histories[0].epochs)


# Ledgers


def _ledgers() -> list[bytes]:
    from reproduction.frame.experiment import Key, Result
    from reproduction.frame.ledger import Run, _line

    runs = [
        Run("tiny", Key("abc", seed), {"width": 1}, [Result("mse", 0.5, 1), Result("mse", 0.25, 2)], 1.0, "1", "c")
        for seed in (0, 1)
    ]
    return ["".join(_line(row) for run in runs for row in run.rows()).encode()]


def _read_ledger(file: Path) -> Any:
    from reproduction.frame.ledger import Ledger

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*not a row of a ledger; skipped")
        return Ledger(file).rows()


def _check_rows(rows: Any) -> None:
    from reproduction.frame.rows import longest_trained

    for row in rows:
        assert isinstance(row.config, str)
        assert isinstance(row.run, str)
        assert isinstance(row.settings, dict)
        assert type(row.seed) is int
        assert type(row.epochs) is int
        assert len(row.part) == 2
    longest_trained(rows)


def strange_lines(data: bytes, random: Random) -> bytes:
    """One line of JSON changed."""
    lines = data.split(b"\n")
    spot = random.randrange(len(lines))
    try:
        lines[spot] = json.dumps(strange_json(json.loads(lines[spot]), random)).encode()
    except ValueError:
        return data
    return b"\n".join(lines)


STATE_READERS = (
    Reader(
        name="model",
        file="model.safetensors",
        seeds=_models,
        call=_load,
        check=_check_model,
        mutations=(*BYTES, signed(), signed(), signed(), signed(), signed()),
        refusals=(CheckpointError,),
        command=("info", "{file}"),
    ),
    Reader(
        name="index",
        file="points.index",
        seeds=_indexes,
        call=_load_index,
        check=_check_index,
        mutations=(*BYTES, signed(), signed(), signed(), signed(), signed()),
        refusals=(CheckpointError,),
    ),
    Reader(
        name="checkpoint",
        file="run.safetensors",
        seeds=_checkpoints,
        call=_restore,
        check=_check_run,
        mutations=(*BYTES, signed(), signed(), signed(), signed(), signed()),
        refusals=(CheckpointError,),
    ),
    Reader(
        name="ledger",
        file="tiny.jsonl",
        seeds=_ledgers,
        call=_read_ledger,
        check=_check_rows,
        mutations=(*BYTES, cells(","), strange_lines, strange_lines),
    ),
)
