"""The table of graph file formats: complete, without overlaps, and what reading, errors and help are made from."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from trimetric.cli.main import main
from trimetric.files.errors import InputError
from trimetric.graphs import read_graph
from trimetric.graphs.files.formats import FORMATS, GraphFormat, find_format

OPTIONS = {"map": ("weight", "symmetrize"), "network": ("symmetrize", "largest")}
OPTIONS["network table"] = (*OPTIONS["network"], "source", "target")
SUFFIXES = [suffix for known in FORMATS for suffix in known.suffixes]


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_every_reader_is_there_and_takes_its_options(known: GraphFormat) -> None:
    taken = inspect.signature(known.read).parameters
    assert set(OPTIONS[known.kind]) <= set(taken)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_suffix_tells_one_format(suffix: str) -> None:
    assert SUFFIXES.count(suffix) == 1
    assert suffix in find_format(Path(f"Map{suffix.upper()}")).suffixes


def test_errors_and_help_name_every_suffix(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError) as refused:
        read_graph("streets.shp")
    assert main(["fit", "--help"]) == 0
    told = capsys.readouterr().out
    for suffix in SUFFIXES:
        assert suffix in str(refused.value)
        assert suffix in told
