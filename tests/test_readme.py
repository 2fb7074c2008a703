"""The Python blocks of the README and of the docs and its commands run as printed, and print what they say."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest
from places import ROOT

from trimetric.cli import main

PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
BLOCKS = {
    f"{page.relative_to(ROOT)}-{i}": block for page in PAGES for i, block in enumerate(PYTHON.findall(page.read_text()))
}
# What a block needs beyond the core, by words in it.
NEEDS = {
    "sklearn": "sklearn",
    "pytorch_metric_learning": "pytorch_metric_learning",
    "onnx": "onnxruntime",
    "integrations import jax": "jax",
    "lightning": "lightning",
    "transformers": "transformers",
    "tm.graphs": "routingkit_cch",
    "GridEnvironment": "gymnasium",
}


def test_pages_have_blocks() -> None:
    assert len(BLOCKS) > 10


@pytest.mark.parametrize("name", BLOCKS)
def test_block_runs_and_prints_its_comments(name: str) -> None:
    block = BLOCKS[name]
    for word, library in NEEDS.items():
        if word in block and find_spec(library) is None:
            pytest.skip(f"needs {library}")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        if "lightning" in block or "transformers" in block:
            warnings.simplefilter("ignore")  # they warn of their own imports
        exec(compile(block, name, "exec"), {})
    expected = re.findall(r"print\(.*\)\s+# (.*)", block)
    assert printed.getvalue().splitlines()[: len(expected)] == expected


CONSOLE = re.search(r"```console\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?(?:e-?\d+)?)"
# Training for 100 epochs amplifies rounding, which differs between machines: errors may, by so much.
SPREAD = 0.3


def run(command: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    words = shlex.split(command)
    if words[0] == "grep":
        return [line for line in Path(words[3]).read_text().splitlines() if re.search(words[2], line)]
    assert words[0] == "trimetric"
    assert main(words[1:]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.usefixtures("empty_folder")
def test_commands_print_what_the_readme_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert CONSOLE is not None
    assert main(["example", "--quiet"]) == 0
    for part in CONSOLE[1].removeprefix("$ ").split("\n$ "):
        command, *shown = part.splitlines()
        shown = [line for line in shown if not line.startswith("epoch ")]  # the progress is not on standard output
        printed = run(command, capsys)
        assert len(printed) == len(shown), command
        # Two neighbors are nearly as far as each other, and either may come first.
        pairs = [sorted(lines) if " fit " not in command else lines for lines in (printed, shown)]
        for got, expected in zip(*pairs, strict=True):
            assert _words(got) == _words(expected)
            assert _numbers(got) == pytest.approx(_numbers(expected), rel=SPREAD), got


def _words(line: str) -> str:
    """Ids and text; numbers, and the blanks that align them, aside."""
    return re.sub(rf"\s*(?<![A-Z]){NUMBER}", " #", line)


def _numbers(line: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(rf"(?<![A-Z\d]){NUMBER}", line)]
