"""The command line of the reproduction."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

from reproduction.__main__ import main
from reproduction.experiments import EXPERIMENTS
from reproduction.experiments.pairwise_time.experiment import COMMAND, PairwiseTime
from reproduction.frame.ledger import Ledger
from reproduction.frame.paper import LABELS
from reproduction.frame.registry import discover
from reproduction.frame.tables import Measured


def run_without_torch(arguments: list[str]) -> str:
    """Run a command in a new process and check that it imports neither torch nor matplotlib; returns its output."""
    code = (
        "import sys\nfrom reproduction.__main__ import main\n"
        f"try:\n    main({arguments})\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "assert 'torch' not in sys.modules and 'matplotlib' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_teaches_and_comes_without_torch() -> None:
    shown = run_without_torch(["--help"])
    for words in (
        "examples:",
        "python -m reproduction list",
        "--quick",
        "--paper",
        "--seeds",
        "--only",
        "--no-resume",
        "--dask",
    ):
        assert words in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["figure2"], f"what: expected some of {', '.join(EXPERIMENTS)}, all, list, report, got 'figure2'"),
        (["figure1", "nope"], "got 'nope'"),
        ([], "got nothing"),
        (["figure1", "--jobs", "0"], "--jobs: expected at least 1, got 0"),
        (["no_such_module:Class"], "what: expected module:Class, got 'no_such_module:Class'"),
        (["tiny_experiment:Nothing"], "has no attribute 'Nothing'"),
        (
            ["tiny_experiment:Tiny", "--only", "width=1"],
            "--only: expected NAME=VALUE with a NAME among delay, size, sizes, got 'width=1'",
        ),
        (["tiny_experiment:Tiny", "--only", "size"], "got 'size'"),
        (["tiny_experiment:Tiny", "--only", "size=1,4"], "--only: expected size to be some of 1, 2, 3, got '4'"),
    ],
)
def test_mistakes(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_quick_and_paper_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["figure1", "--quick", "--paper"])
    assert end.value.code == 2
    assert "--paper" in capsys.readouterr().err


def test_some_cells_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--results", str(tmp_path), "--out", str(tmp_path / "out"), "--jobs", "1"]
    assert main(["tiny_experiment:Tiny", "--seeds", "7", "--only", "size=3,1", "delay=0", *where]) == 0
    assert "2 of 2 cells" in capsys.readouterr().err
    assert {row.settings["size"] for row in Ledger(tmp_path / "tiny.jsonl").rows()} == {1, 3}


def test_run_list_and_rerun(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--results", str(tmp_path), "--out", str(tmp_path / "out"), "--jobs", "1"]
    assert main(["tiny_experiment:Tiny", "--seeds", "7", "8", *where]) == 0
    printed = capsys.readouterr()
    assert "1.75 ± 0.07" in printed.out
    assert "6 of 6 cells" in printed.err
    ledger = tmp_path / "tiny.jsonl"
    before = ledger.read_bytes()
    assert main(["tiny_experiment:Tiny", "--seeds", "7", "8", "--resume", *where]) == 0
    assert ledger.read_bytes() == before
    assert "6 cells, 6 of them already in the ledger" in capsys.readouterr().err
    assert main(["tiny_experiment:Tiny", "--no-resume", *where]) == 0
    assert (tmp_path / "tiny.jsonl.1.old").read_bytes() == before
    assert ledger.read_bytes() != before


def test_list_comes_without_torch(tmp_path: Path) -> None:
    printed = run_without_torch(["list", "--results", str(tmp_path)])
    assert all(name in printed for name in EXPERIMENTS)


def test_experiments_are_discovered_in_the_order_of_the_paper() -> None:
    assert list(EXPERIMENTS)[:3] == ["figure1", "norms-2d", "nearness"]
    made = [label for entry in EXPERIMENTS.values() for label in entry.sections]
    assert len(made) == len(set(made))  # two experiments never make the same section
    assert set(LABELS) <= set(made)


def test_a_new_experiment_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, text in {
        "mine": "",
        "mine/data": "",  # declares nothing: no experiment
        "mine/tiny": "from reproduction.frame.registry import Entry\n"
        "EXPERIMENTS = (Entry('tiny', 'tiny_experiment:Tiny'),)\n",
    }.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    (entry,) = discover("mine").values()
    assert entry.load().name == "tiny"
    assert entry.titles == {"tiny": "tiny"}


def test_a_failed_cell_is_reported_and_the_exit_code_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tiny_experiment:Failing", "--results", str(tmp_path), "--out", str(tmp_path), "--jobs", "1"]) == 1
    errors = capsys.readouterr().err
    assert "RuntimeError: a negative size" in errors
    assert "1 failed; the same command tries them again" in errors


def test_a_wrong_address_of_a_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["tiny_experiment:Tiny", "--dask", "what://ever:1", "--results", str(tmp_path), "--out", str(tmp_path)]
    assert main(arguments) == 2
    assert "--dask: expected the address of a running Dask scheduler, got 'what://ever:1'" in capsys.readouterr().err


def test_all_experiments_load_under_their_names() -> None:
    for name, entry in EXPERIMENTS.items():
        assert entry.load().name == name


def test_pairwise_time_says_what_makes_it_and_reads_what_was_made(tmp_path: Path) -> None:
    empty, _ = PairwiseTime(tmp_path / "results.json").tables([])
    assert empty.cells == {}
    assert COMMAND in empty.note
    (tmp_path / "results.json").write_text(
        '{"machine": "an abacus", "pairwise": ['
        '{"architecture": "DN 2x400", "batch": 32, "backward": false, "milliseconds": 1.5, "definition_ratio": 3.0},'
        '{"architecture": "DN 2x400", "batch": 32, "backward": true, "milliseconds": 9.0, "definition_ratio": 2.0},'
        '{"architecture": "DN 3x600", "batch": 2048, "backward": false, "milliseconds": 7e4, "definition_ratio": null},'
        '{"architecture": "other", "batch": 32, "backward": false, "milliseconds": 1.0, "definition_ratio": 1.0}]}'
    )
    times, ratios = PairwiseTime(tmp_path / "results.json").tables([])
    cell = times.cells["DN 2x400", "32"]
    assert isinstance(cell, Measured)
    assert cell.value == 1.5
    assert "an abacus" in times.note
    assert times.verdict("DN 2x400", times.columns[0]) is None
    assert ratios.cells["DN 3x600", "2048"] == "definition not run"
