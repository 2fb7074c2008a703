"""Files written by earlier versions stay readable: models, checkpoints and ledgers.

`data/version-0.1` was written by version 0.1.0 (commit 4c81996) and is never written again.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from places import ROOT, TESTS

import trimetric as tm
from reproduction.experiments import EXPERIMENTS
from reproduction.frame.experiment import settings_key

FILES = TESTS / "data" / "version-0.1"
ANSWERS = json.loads((FILES / "answers.json").read_text())
LEDGERS = sorted((ROOT / "reproduction" / "results").glob("*.jsonl"))


@pytest.mark.parametrize("name", ANSWERS)
def test_a_model_answers_as_it_did(name: str) -> None:
    model = tm.Model.load(FILES / "models" / f"{name}.safetensors")
    assert list(model.ids or ()) == ["a", "b", "c"]
    torch.testing.assert_close(model.all_pairs(), torch.tensor(ANSWERS[name]), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["finished", "interrupted"])
def test_a_checkpoint_resumes_and_ends_with_the_weights_of_then(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = tm.Siamese(torch.nn.Embedding(6, 4), tm.Calibrated(tm.WideNorm(4, components=2, width=2)))
    pairs = torch.tensor([[i, j] for i in range(6) for j in range(6) if i != j])
    config = tm.TrainingConfig(epochs=6, batch_size=8, learning_rate=0.01, checkpoint_seconds=0.0)
    checkpoint = tmp_path / "run.safetensors"
    shutil.copy(FILES / f"{name}.safetensors", checkpoint)
    targets = (pairs[:, 0] - pairs[:, 1]).abs().float()
    fresh_steps: list[tm.Epoch] = []
    tm.fit(
        model, pairs, targets, config=config, checkpoint=checkpoint, progress="silent", callbacks=[fresh_steps.append]
    )
    assert len(fresh_steps) == {"finished": 0, "interrupted": 4}[name]
    for key, value in json.loads((FILES / "trained.json").read_text())["finished"].items():
        torch.testing.assert_close(model.state_dict()[key], torch.tensor(value), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("ledger", LEDGERS, ids=lambda file: file.stem)
def test_the_keys_of_a_ledger_still_belong_to_its_settings(ledger: Path) -> None:
    """A changed key would mean that a finished run is run again."""
    cell = type(EXPERIMENTS[ledger.stem].load().cells("quick", None)[0])
    later = {own.name: own.default for own in fields(cell) if own.metadata.get("added later")}
    for line in ledger.read_text().splitlines()[::50]:
        row = json.loads(line)
        # Settings that cells did not have at first are part of the key only where they are not what was done before.
        known = {name: value for name, value in row["settings"].items() if (name, value) not in later.items()}
        assert settings_key(row["experiment"], known) == row["config"]
