"""Every option of every sub-command, in every mode, changes the result or is refused.

The options come from the commands' own dataclasses: a new one fails here until `VALUES` has a value to try it with.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from cli_option_cases import (
    ALSO,
    INSTEAD,
    LEFT_OUT,
    METHODS,
    MODES,
    NEVER_DONE,
    OF_TRAINING,
    OUTPUTS,
    OWN_VALUES,
    TRAINED,
    VALUES,
    WEIGHTS,
    write_inputs,
)

from trimetric._support.tensor_files import read_file
from trimetric.cli import main
from trimetric.cli.effects import options_of
from trimetric.cli.main import COMMANDS
from trimetric.models.model import FORMAT


def options(command: str) -> list[str]:
    module = import_module(f"trimetric.cli.{command.replace(' ', '_')}")
    return [option for _, option in options_of(getattr(module, command.title().replace(" ", "")))]


PRINTING = ("predict", "audit", "info", "serve", "values plan", "rl evaluate", "rl diagnose")
"""Commands whose result is what they print."""

CASES = [(command, option) for command in COMMANDS for option in options(command)]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("options")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_inputs()
    return folder


@pytest.fixture
def _here(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inputs)
    monkeypatch.setenv("XDG_CACHE_HOME", str(inputs / "usual cache"))
    # What is written matters here, not how long it takes.
    monkeypatch.setattr(
        import_module("trimetric.models.exporting"), "export", lambda model, file: file.write_text(str(model.ids))
    )


@dataclass(frozen=True)
class Outcome:
    """Exit code, digests of all files, and what was printed."""

    code: int
    files: dict[str, str]
    out: str
    err: str

    def same(self, other: Outcome, *, printed: bool) -> bool:
        parts = [self.code == other.code, self.files == other.files]
        return all([*parts, self.out == other.out, self.err == other.err] if printed else parts)


@pytest.fixture(scope="module")
def known() -> dict[tuple[str, ...], Outcome]:
    """Outcomes without the option, which many options share."""
    return {}


def outcome(command: str, words: list[str], option: str, capsys: pytest.CaptureFixture[str]) -> Outcome:
    shutil.rmtree("out", ignore_errors=True)
    Path("out").mkdir()
    if option == "--restart":
        Path("out/m.safetensors.checkpoint").write_text("of another run")
    if option == "--force":
        Path("out/city").mkdir()
        Path("out/city/pairs.csv").touch()
    for copy, original in {"out/log.npz": "log.npz", "out/same.csv": "broken.csv"}.items():
        if copy in words:
            shutil.copy(original, copy)
    capsys.readouterr()
    code = main([*command.split(), *words])
    out, err = capsys.readouterr()
    files = {str(file): digest(file) for file in sorted(Path("out").rglob("*")) if file.is_file()}
    return Outcome(code, files, out, err)


def digest(file: Path) -> str:
    """Of a model its weights and notes, but not the settings, which tell every option, and nothing that was timed."""
    if file.suffix != ".safetensors" or file.name.endswith(".policy.safetensors") or "cache" in file.parts:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    tensors, state = read_file(file, form=FORMAT, noun="model")
    notes = {key: value for key, value in state["notes"].items() if key != "settings"}
    untimed = re.sub(r'"us": [^,}]*', "", json.dumps(notes))
    weights = {name: hashlib.sha256(tensor.numpy().tobytes()).hexdigest() for name, tensor in tensors.items()}
    return f"{untimed} {weights}"


def without_and_with(words: list[str], option: str, value: list[str]) -> tuple[list[str], list[str]]:
    """A mode without the option, or with its other value, and with it."""
    short = {"--output": "-o"}.get(option, option)
    if short not in words:
        return words, [*words, option, *value]
    start = words.index(short)
    end = next((i for i in range(start + 1, len(words)) if words[i].startswith("-")), len(words))
    rest = [*words[:start], *words[end:]]
    return (words, [*rest, option, *value]) if value else (rest, words)


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize(("command", "option"), CASES, ids=[f"{command} {option}" for command, option in CASES])
def test_an_option_changes_the_result_or_is_refused(
    command: str, option: str, known: dict[tuple[str, ...], Outcome], capsys: pytest.CaptureFixture[str]
) -> None:
    special = {"--output": OUTPUTS.get(command, "out/n.safetensors"), "--method": METHODS.get(command, "")}
    special["--weight"] = WEIGHTS.get(command, "")
    value = (special.get(option) or OWN_VALUES.get((command, option)) or VALUES[option]).split()
    done = False
    for mode, words in MODES[command].items():
        if option in OF_TRAINING and mode not in TRAINED.get(command, MODES[command]):
            continue
        if (command, mode, option) in LEFT_OUT:
            continue
        of_a_map = (command, mode) == ("fit", "map") or (command == "matrix" and mode != "graph")
        if of_a_map and find_spec("osmium") is None:
            continue
        instead, also = INSTEAD.get(option, {}), ALSO.get((command, option), [])
        base, words = without_and_with([instead.get(word, word) for word in [*words, *also]], option, value)
        if sorted(base) == sorted(words):
            continue
        got = outcome(command, words, option, capsys)
        key = (command, *base, option if option in ("--restart", "--force") else "")
        if key not in known:
            known[key] = outcome(command, base, option, capsys)
        told = f"{command}, {mode}: {' '.join(words)}\n{got.err}"
        if got.code == 2:
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", got.err), f"refused for another reason: {told}"
        if got.code == 2 == known[key].code:
            assert got.err.startswith(f"error: {option}: expected"), told
        printed = option in ("--quiet", "--json") or command in PRINTING
        assert got.code == 2 or not got.same(known[key], printed=printed), f"no effect: {told}"
        done |= got.code != 2
    assert done or option in NEVER_DONE, f"{command} {option} was refused in every mode"


def test_no_value_is_left_of_an_option_that_is_gone() -> None:
    assert set(VALUES) | {"--output"} == {option for _, option in CASES}
