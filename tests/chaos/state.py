"""What a folder holds: its files as digests that two runs of one command have in common, and what is wrong with it."""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

from safetensors import safe_open

from chaos.saving import SAVES, model_number
from chaos.scenarios import Progress, Scenario
from reproduction.frame.ledger import Ledger
from trimetric._support.tensor_files import CheckpointError, read_checkpoint
from trimetric.models.model import Model

PASSING = ("seconds", "run", "commit")
"""of a row of a ledger: times, and what names the run and the code"""
MEASURED = "us"
"""in the notes of a model of a graph: the microseconds that a query took"""


def digests(folder: Path) -> dict[str, str]:
    """A digest of each file in the folder, by its name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): digest(path) for path in files}


def digest(path: Path) -> str:
    """Of the bytes; of what is not a time where the file holds times."""
    if path.suffix == ".jsonl":
        return _sha256("\n".join(ledger_rows(path)).encode())
    if path.suffix == ".safetensors" and (notes := _notes(path)) and MEASURED in json.dumps(notes):
        return _model_digest(path)
    return _sha256(path.read_bytes())


def ledger_rows(path: Path) -> list[str]:
    """The rows of the complete runs, without times and in one order."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return sorted(json.dumps({key: value for key, value in line.items() if key not in PASSING}) for line in lines)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _notes(path: Path) -> dict[str, Any]:
    with safe_open(path, framework="np") as file:
        return json.loads((file.metadata() or {}).get("state", "{}")).get("notes", {})


def _model_digest(path: Path) -> str:
    with safe_open(path, framework="np") as file:
        state = _without_times(json.loads(file.metadata()["state"]))
        tensors = {name: file.get_tensor(name) for name in sorted(file.keys())}
    text = json.dumps([state, {name: [str(t.dtype), t.shape] for name, t in tensors.items()}], sort_keys=True)
    return _sha256(text.encode() + b"".join(tensor.tobytes() for tensor in tensors.values()))


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(item) for key, item in value.items() if key != MEASURED}
    return [_without_times(item) for item in value] if isinstance(value, list) else value


def differences(found: dict[str, str], expected: dict[str, str]) -> list[str]:
    """How the files of a folder differ from those that an undisturbed run leaves."""
    return [
        *(f"{name}: left behind" for name in sorted(found.keys() - expected.keys())),
        *(f"{name}: missing" for name in sorted(expected.keys() - found.keys())),
        *(
            f"{name}: not as undisturbed"
            for name in sorted(found.keys() & expected.keys())
            if found[name] != expected[name]
        ),
    ]


def damage(folder: Path, before: dict[str, str], after: dict[str, str], *, versions: frozenset[str]) -> list[str]:
    """What a kill has broken: every file under its own name must be old or new, and whole.

    Args:
        folder: as the kill left it.
        before: the files when the first run began.
        after: the files that an undisturbed run leaves.
        versions: digests that any of them may also have.
    """
    broken = []
    for path in (path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        try:
            if path.suffix == ".jsonl":
                _check_ledger(path)
            elif name in before or name in after:
                if digest(path) not in {before.get(name), after.get(name), *versions}:
                    broken.append(f"{name}: neither old nor new")
            elif path.suffix == ".checkpoint":
                read_checkpoint(path)
        except (CheckpointError, ValueError, UserWarning) as error:
            broken.append(f"{name}: {error}")
    return broken + [f"{name}: gone" for name in before if not (folder / name).exists()]


def _check_ledger(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a broken line is reported by a warning
        Ledger(path).rows()


def saved_versions(folder: Path) -> frozenset[str]:
    """Digests of all models that `chaos.saving` writes, one after another."""
    found = set()
    for number in range(SAVES + 1):
        model_number(number).save(folder / "version.safetensors")
        Model.load(folder / "version.safetensors")
        found.add(digest(folder / "version.safetensors"))
    return frozenset(found)


def fell(scenario: Scenario, folder: Path, before: Progress) -> tuple[Progress, bool]:
    """The progress in a folder, and whether it is less than it was."""
    now = scenario.progress(folder)
    return now, any(new < old for new, old in zip(now, before, strict=True))
