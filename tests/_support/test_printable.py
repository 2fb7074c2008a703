"""What comes from files is escaped where people see it, and stays as it is where programs read it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from torch import nn

import trimetric as tm
from trimetric._support.printable import printable, shown
from trimetric.cli import main
from trimetric.files.writing import write_rows

pytestmark = pytest.mark.usefixtures("empty_folder")

EVIL = "\x1b[31mred\x07\x9b2J\u202egnp\u2066\x7f\nnext\r\x00"


def _harmless(text: str) -> bool:
    return all(c == "\n" or (c.isprintable() and ord(c) not in range(0x7F, 0xA0)) for c in text)


def test_control_characters_are_escaped() -> None:
    assert printable(EVIL) == "\\x1b[31mred\\x07\\x9b2J\\u202egnp\\u2066\\x7f\\nnext\\r\\x00"
    assert printable("a\nb\x1b", keep="\n") == "a\nb\\x1b"
    assert printable("café 東京 שלום 🚲") == "café 東京 שלום 🚲"
    assert printable("half \ud800") == "half \\ud800"
    assert len(printable("\x00" * 10**6, limit=80)) == 80
    assert len(shown("\x00" * 10**6)) == 80
    assert shown("\x1b") == "'\\x1b'"


@pytest.fixture
def evil_model(empty_folder: None) -> Path:  # noqa: ARG001
    network = tm.Siamese(nn.Embedding(2, 3), tm.Euclidean(3))
    notes = {"made_by\x1b": "\x1b]0;title\x07\nline", "long": "x" * 10**5, "unit": "\x1b[31mminutes"}
    return tm.Model(network, [EVIL, "b"], notes=notes).save("evil.safetensors")


@pytest.mark.parametrize(
    "words",
    [
        ["info", "evil.safetensors"],
        ["predict", "evil.safetensors", "--from", "\x1b[31mred"],
        ["predict", "evil.safetensors", "evil.csv"],
        ["predict", "evil.safetensors", "--from", "b", "-o", "out.csv"],
        ["fit", "evil.csv", "-o", "m.safetensors", "--distance-column", "to"],
        ["audit", "evil\x1b.safetensors"],
    ],
    ids=["info", "unknown name", "unknown in a file", "unit", "no number", "file name"],
)
@pytest.mark.usefixtures("evil_model")
def test_nothing_from_a_file_controls_the_terminal(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    Path("evil.csv").write_text("from,to\na,\x1b[31m\x9b\u202ex\n", encoding="utf-8")
    code = main(words)
    out, err = capfd.readouterr()
    assert code == (0 if words[0] == "info" or "out.csv" in words else 2)
    assert out + err
    assert _harmless(out + err)
    assert max(map(len, (out + err).splitlines())) < 2000


@pytest.mark.usefixtures("evil_model")
def test_data_stays_as_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "evil.safetensors", "--from", "b", "-o", "out.csv", "--quiet"]) == 0
    assert EVIL in Path("out.csv").read_bytes().decode()
    assert main(["predict", "evil.safetensors", "--from", "b"]) == 0
    assert EVIL[:20] in capfd.readouterr().out  # a pipe


def test_a_terminal_gets_escaped_ids(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert write_rows(None, ("from",), [[(EVIL,)]]) == 1
    assert _harmless(capsys.readouterr().out)


def test_long_junk_is_shortened(capfd: pytest.CaptureFixture[str]) -> None:
    for name, text in {
        "cell.csv": "from,to,distance\na,b," + "\x00" * 50_000 + "\n",
        "id.csv": "from,to,distance\n" + "x" * 50_000 + ",b,1\n" + "x" * 50_000 + ",b,2\n",
        "header.csv": "x" * 50_000 + ",to\na,b\n",
    }.items():
        Path(name).write_text(text)
        assert main(["fit", name, "-o", "m.safetensors"]) == 2
        assert len(capfd.readouterr().err) < 400
