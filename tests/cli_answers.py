"""The command's answers, as tests read them."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from trimetric.cli import main

QUICK = ["--epochs", "3", "--dim", "8", "--learning-rate", "0.03"]


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def table(text: str, delimiter: str = ",") -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
