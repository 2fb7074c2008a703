"""The command as a process: help, pipes whose reader leaves, Ctrl-C and SIGTERM."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trimetric.cli import main

pytestmark = pytest.mark.usefixtures("empty_folder")

PAIRS = "from,to,distance\na,b,1\nb,c,2\nc,a,3\n"
QUICK = ["--epochs", "2", "--dim", "4"]


def run(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """The command with these words in a process of its own, in which the code has replaced what `info` does."""
    script = f"""
import os, signal, sys
from trimetric.cli import main
from trimetric.cli.info import Info
def replaced(self):
    {code}
Info.run = replaced
sys.exit(main())
"""
    return subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, timeout=120)


# Help


@pytest.mark.parametrize(
    ("words", "code", "begins"),
    [
        ([], 2, "usage: trimetric [--version] [--completion SHELL] COMMAND"),
        (["help"], 0, "usage: trimetric [--version] [--completion SHELL] COMMAND"),
        (["help", "fit"], 0, "Learn a distance from pairs"),
        (["help", "values"], 0, "usage: trimetric values COMMAND"),
        (["help", "values", "fit"], 0, "Learn how far each goal is"),
        (["values"], 2, "usage: trimetric values COMMAND"),
        (["values", "--help"], 0, "usage: trimetric values COMMAND"),
        (["values", "-h"], 0, "usage: trimetric values COMMAND"),
        (["values", "plan", "-h"], 0, "Walk to goals"),
    ],
    ids=lambda value: (" ".join(value) or "nothing") if isinstance(value, list) else None,
)
def test_help(words: list[str], code: int, begins: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == code
    out, err = capsys.readouterr()
    told, silent = (out, err) if code == 0 else (err, out)
    assert told.startswith(begins)
    assert silent == ""


def test_help_for_a_group_lists_its_commands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    main(["values", "--help"])
    told = capsys.readouterr().out
    assert "values fit " in told
    assert "values plan " in told
    assert "predict" not in told


# Pipes


def test_a_reader_of_help_may_leave() -> None:
    words = [sys.executable, "-m", "trimetric", "fit", "--help"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 0


def test_a_model_is_fitted_whoever_reads_the_output() -> None:
    Path("pairs.csv").write_text(PAIRS)
    words = [sys.executable, "-m", "trimetric", "fit", "pairs.csv", "-o", "m.safetensors", *QUICK]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        process.stdout.close()  # as 2>&1 | head -0
        assert process.wait() == 0
    assert Path("m.safetensors").exists()


def test_output_that_cannot_be_written_is_one_line() -> None:
    words = [sys.executable, "-m", "trimetric", "--version"]
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("distance", ["0", "inf"])
def test_an_error_that_does_not_exist_is_a_dash(distance: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("pairs.csv").write_text("from,to,distance\na,b,0\nb,a,0\nb,c,0\nc,b,0\n")
    assert main(["fit", "pairs.csv", "-o", "m.safetensors", *QUICK]) == 0
    Path("asked.csv").write_text(f"from,to,distance\na,b,{distance}\n")
    assert main(["predict", "m.safetensors", "asked.csv", "-o", "found.csv"]) == 0
    out, err = capsys.readouterr()
    assert "mean relative error  -\n" in out
    assert "mean relative error - on" in err
    assert "nan%" not in out + err


# Signals

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])


@SIGNALS
def test_a_signal_during_an_import_that_catches_everything(number: int) -> None:
    """As NumPy and torch do while they load, which ended in "maximum recursion depth exceeded"."""
    Path("greedy.py").write_text(f"""
import os
try:
    os.kill(os.getpid(), {int(number)})
    for _ in range(100_000): pass
except BaseException:
    raise RecursionError("maximum recursion depth exceeded") from None
""")
    done = run("sys.path.insert(0, ''); import greedy", "info", "m.safetensors")
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", "stopped\n")


@SIGNALS
def test_a_signal_in_other_code_runs_what_must_be_undone(number: int) -> None:
    """In text that `exec` runs, after which an interpreter would kill itself by SIGINT."""
    code = f"""
    try:
        exec("os.kill(os.getpid(), {int(number)})\\nfor _ in range(100_000): pass")
    finally:
        print("undone")"""
    done = run(code, "info", "m.safetensors")
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "undone\n", "stopped\n")


def test_a_second_signal_ends_the_process_at_once() -> None:
    code = """
    try:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(100_000): pass
    finally:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(100_000): pass
        print("not reached")"""
    done = run(code, "info", "m.safetensors")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")


def test_sigterm_leaves_a_checkpoint_as_ctrl_c_does(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from trimetric.training import learning

    whole = learning.fit

    def terminated(*arguments: Any, **named: Any) -> Any:
        return whole(*arguments, callbacks=[lambda _: signal.raise_signal(signal.SIGTERM)], **named)

    Path("pairs.csv").write_text(PAIRS)
    monkeypatch.setattr(learning, "fit", terminated)
    assert main(["fit", "pairs.csv", "-o", "m.safetensors", *QUICK]) == 143
    assert capsys.readouterr().err.splitlines()[-1] == "stopped; the same command resumes from m.safetensors.checkpoint"
    assert not Path("m.safetensors").exists()
