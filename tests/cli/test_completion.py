"""`trimetric --completion`: the shells accept the scripts, and these complete commands, options and values."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from trimetric.cli import main
from trimetric.cli.completion import SHELLS, completion_script
from trimetric.cli.effects import options_of
from trimetric.cli.main import COMMANDS
from trimetric.cli.option_table import command_class, option_table

pytestmark = pytest.mark.usefixtures("empty_folder")


def script_for(shell: str) -> Path:
    if shutil.which(shell) is None:
        pytest.skip(f"needs the shell {shell}, which is not installed")
    file = Path(f"completion.{shell}")
    file.write_text(completion_script(shell, COMMANDS) + "\n")
    return file


def output(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_accepts_its_script(shell: str) -> None:
    output(shell, "-n", str(script_for(shell)))


LINES = {
    "trimetric fi": {"fit"},
    "trimetric val": {"values"},
    "trimetric values ": {"fit", "plan"},
    "trimetric values p": {"plan"},
    "trimetric values fit --meth": {"--method"},
    "trimetric values fit --method t": {"td"},
    "trimetric fit --head w": {"wide"},
    "trimetric fit pairs.csv --feat": {"--features", "--feature-columns"},
    "trimetric predict --from-f": {"--from-file"},
    "trimetric predict --met": set(),
    "trimetric repair --method d": {"dykstra", "decrease-only"},
    "trimetric audit --require tri": {"triangle"},
    "trimetric fit some": {"some pairs.csv"},
    "trimetric fit some -o ano": {"another.csv"},
    "trimetric --completion z": {"zsh"},
}


@pytest.fixture
def _files(empty_folder: None) -> None:  # noqa: ARG001
    Path("some pairs.csv").touch()
    Path("another.csv").touch()


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("line", LINES)
def test_bash_completes(line: str) -> None:
    words = line.split(" ")
    code = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _trimetric; printf "%s\\n" "${COMPREPLY[@]}"'
    found = output("bash", "-c", code, "bash", str(script_for("bash")), *words).splitlines()
    assert {word for word in found if word and word != "--help"} == LINES[line]


def test_bash_completes_after_an_equals_sign() -> None:
    script = script_for("bash")
    code = f'source {script}; COMP_WORDS=(trimetric fit --head = d); COMP_CWORD=4; _trimetric; echo "${{COMPREPLY[@]}}"'
    assert output("bash", "-c", code) == "deep\n"


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("line", LINES)
def test_fish_completes(line: str) -> None:
    script = script_for("fish")
    code = f"source {script}; complete -C '{line}'"
    found = output("fish", "--no-config", "-c", code).splitlines()
    words = {word.partition("\t")[0].replace("\\ ", " ") for word in found}
    assert words == LINES[line]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_in_its_table(name: str) -> None:
    command = command_class(name)
    table = option_table(command)
    assert {word for _, word in options_of(command)} <= {word for option in table for word in option.words}
    assert all(option.about for option in table), "an option without an explanation"


@pytest.mark.parametrize("name", COMMANDS)
def test_words_are_those_of_the_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*name.split(), "--help"]) == 0
    text = capsys.readouterr().out
    for option in option_table(command_class(name)):
        assert all(word in text for word in option.words)
        assert all(choice in text for choice in option.choices)


def test_wrong_shells_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--completion", "tcsh"]) == 2
    assert capsys.readouterr().err == "error: --completion: expected one of bash, zsh, fish, got 'tcsh'\n"
    assert main(["--completion"]) == 2
    assert capsys.readouterr().err == "error: --completion: expected one of bash, zsh, fish, got nothing\n"
    assert main(["--help"]) == 0
    assert "--completion" in capsys.readouterr().out


def test_scripts_are_made_without_torch() -> None:
    code = (
        "import sys; from trimetric.cli import main; assert main(['--completion', 'bash']) == 0;"
        "assert not {'torch', 'numpy'} & set(sys.modules)"
    )
    assert "_trimetric" in output(sys.executable, "-c", code)
