"""The command: what it answers, what it writes, its exit codes, and that bad input leaves nothing behind."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
import torch
from cli_answers import QUICK, answer, table
from places import ROOT

import trimetric as tm
from trimetric.cli import main
from trimetric.cli.fit import Fit
from trimetric.cli.main import COMMANDS, _parsed
from trimetric.cli.values_fit import ValuesFit
from trimetric.models.heads import HEADS
from trimetric.training.losses import LOSSES
from trimetric.training.schedules import SCHEDULES

HEADER = "from,to,distance\n"
pytestmark = pytest.mark.usefixtures("empty_folder")


# Words


@pytest.mark.parametrize("name", COMMANDS)
def test_help_teaches_by_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert len(re.findall(rf"^ *trimetric {name}\b", text, flags=re.MULTILINE)) >= 2
    assert all(option in text for option in ("--quiet", "--json"))
    assert "default: None" not in text
    assert "default: )" not in text


def test_overview(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in COMMANDS)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"trimetric {tm.__version__}\n"
    assert main([]) == 2
    assert main(["fti"]) == 2
    assert "error: expected one of example, fit, predict" in capsys.readouterr().err
    assert main(["fit", "pairs.csv", "-o", "m.safetensors", "--epochs", "many"]) == 2
    assert main(["fit", "pairs.csv"]) == 2


PRINTED = [
    (match[1], shlex.split(match[2], comments=True))
    for text in (
        *(page.read_text() for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))),
        *((Path(tm.__file__).parent / "cli" / f"{name.replace(' ', '_')}.py").read_text() for name in COMMANDS),
    )
    for match in re.finditer(
        r"^(?:\$| *) ?trimetric (example|fit|predict|audit|info|export|metrize|rl fit|values fit|values plan)\b(.*)$",
        text,
        re.MULTILINE,
    )
]


def test_printed_commands_can_be_typed() -> None:
    assert len(PRINTED) > 25
    for name, words in PRINTED:
        assert type(_parsed(name, words)).__name__ == name.title().replace(" ", "")


def test_printed_commands_name_the_unit_that_they_give() -> None:
    timed = [words for name, words in PRINTED if name == "fit" and "time" in words]
    assert timed
    for words in timed:
        assert _parsed("fit", words).unit_of_distances == "seconds"
        assert "minutes" not in " ".join(words)


def test_options_are_those_of_the_library() -> None:
    hints = get_type_hints(Fit)
    assert get_args(hints["head"]) == get_args(get_type_hints(ValuesFit)["head"]) == tuple(HEADS)
    assert set(get_args(hints["loss"])) == set(LOSSES)
    assert set(get_args(hints["schedule"])) == set(SCHEDULES)


def test_help_and_bad_files_do_not_wait_for_torch() -> None:
    code = (
        "import sys; from trimetric.cli import main;"
        "assert main(['fit', '--help']) == 0 and 'numpy' not in sys.modules;"
        "assert main(['fit', 'absent.csv', '-o', 'm.safetensors']) == 2 and 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "error: absent.csv: no such file\n"


# The way through


def test_three_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example"]) == 0
    commands = [line.split()[1:] for line in capsys.readouterr().out.splitlines() if line.startswith("  trimetric")]
    assert [words[0] for words in commands] == ["fit", "predict", "audit"]
    assert main([*commands[0], *QUICK]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "64 objects, 3,628 pairs to train on, 404 held out (202 unordered pairs)"
    assert "triangle_defect 0 in 262,144 triples of objects: every promise holds" in out
    assert out[-1] == "saved in city/model.safetensors"
    assert main(commands[1]) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header == "from,to,distance"
    assert row.startswith("A1,H8,")
    assert main(commands[2]) == 0
    assert "every promise holds" in capsys.readouterr().out
    assert sorted(file.name for file in Path("city").iterdir()) == ["model.safetensors", "objects.csv", "pairs.csv"]


def test_the_city_is_connected_and_asymmetric(city: Path) -> None:
    rows = table((city / "pairs.csv").read_text())
    distance = {(row["from"], row["to"]): float(row["distance"]) for row in rows}
    assert len(distance) == 64 * 63
    assert sum(abs(d - distance[b, a]) > 0.1 for (a, b), d in distance.items()) > 2000
    assert main(["example", "-o", str(city)]) == 2
    assert main(["example", "-o", str(city / "pairs.csv")]) == 2


def test_fit_tells_programs(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(capsys, "fit", city / "pairs.csv", "-o", "m.safetensors", *QUICK)
    assert told["model"] == "m.safetensors"
    assert told["errors"]["pairs"] == 404
    assert sum(bucket["pairs"] for bucket in told["errors"]["by_distance"]) == 404
    assert told["errors"]["mse"] < told["errors"]["mse_of_mean"]
    assert told["audit"]["triangle_defect"] == 0
    model = tm.Model.load("m.safetensors")
    assert model.notes["errors"] == told["errors"]
    assert model.notes["settings"]["dim"] == 8
    assert model.notes["made_by"] == f"trimetric {tm.__version__}"
    again = tm.Model.load(city / "points.safetensors")
    assert torch.equal(again.all_pairs(), model.all_pairs()), "the seed decides"


def test_quiet_is_silent(city: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(city / "pairs.csv"), "-o", "m.safetensors", *QUICK, "--quiet"]) == 0
    assert main(["audit", "m.safetensors", "--quiet"]) == 0
    assert main(["predict", "m.safetensors", "--all-pairs", "-o", "d.csv", "--quiet"]) == 0
    assert capfd.readouterr() == ("", "")
    assert sorted(file.name for file in Path().iterdir()) == ["d.csv", "m.safetensors"]


@pytest.mark.parametrize("head", HEADS)
def test_every_head(head: str, city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(capsys, "fit", city / "pairs.csv", "-o", "m.safetensors", *QUICK, "--head", head, "--epochs", 1)
    assert told["audit"]["promised"]["triangle"] == (head != "mlp")
    assert told["audit"]["holds"] == (head != "mlp")


@pytest.mark.parametrize("head", ["wide", "deep"])
def test_symmetric(head: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.csv").write_text(HEADER + "a,b,1\nb,a,1\nb,c,2\na,c,2.5\n")
    told = answer(capsys, "fit", "p.csv", "-o", "m.safetensors", *QUICK, "--head", head, "--symmetric", "--epochs", 1)
    assert told["audit"]["promised"]["symmetric"]
    assert told["audit"]["asymmetry"] == 0


def test_matrices_and_edges(capsys: pytest.CaptureFixture[str]) -> None:
    points = np.random.default_rng(0).normal(size=(12, 2))
    matrix = np.linalg.norm(points[:, None] - points, axis=-1)
    np.save("m.npy", matrix)
    np.savetxt("m.csv", matrix, delimiter=",")
    for words in (["m.npy"], ["m.csv", "--matrix"]):
        told = answer(capsys, "fit", *words, "-o", "m.safetensors", *QUICK, "--symmetric")
        assert told["errors"]["pairs"] == 14
    ring = "".join(f"{i},{(i + 1) % 12},1\n" for i in range(12))
    Path("e.csv").write_text("from,to,weight\n" + ring)
    assert answer(capsys, "fit", "e.csv", "--edges", "-o", "m.safetensors", *QUICK)["errors"]["pairs"] == 14
    assert len(tm.Model.load("m.safetensors").ids or ()) == 12


def test_unreachable_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.csv").write_text("from,to,weight\n" + "".join(f"{i},{i + 1},1\n" for i in range(9)))
    fit = ["fit", "e.csv", "--edges", "-o", "m.safetensors", *QUICK]
    assert main(fit) == 2
    assert "unreachable pairs need the discounted loss, or to be dropped" in capsys.readouterr().err
    told = answer(capsys, *fit, "--loss", "discounted", "--validation", 0.3)
    assert 0 < told["errors"]["pairs"] < 27
    assert tm.Model.load("m.safetensors").notes["training_pairs"] == 62
    answer(capsys, *fit, "--drop-unreachable")
    assert tm.Model.load("m.safetensors").notes["training_pairs"] <= 45


def test_the_smallest_tables(capsys: pytest.CaptureFixture[str]) -> None:
    for text, pairs in {"a,b,1\n": 1, "a,b,0\nb,a,0\n": 2, "a,b,1\nb,c,2\nc,a,3\n": 3}.items():
        Path("p.csv").write_text(HEADER + text)
        told = answer(capsys, "fit", "p.csv", "-o", "m.safetensors", *QUICK)
        assert told["errors"]["on"] == ("training pairs" if pairs < 3 else told["errors"]["on"])
        assert told["audit"]["holds"]
    told = answer(capsys, "fit", "p.csv", "-o", "m.safetensors", *QUICK, "--validation", 0)
    assert told["errors"]["pairs"] == 3


# Stopped and resumed


def test_ctrl_c_leaves_a_checkpoint_from_which_the_same_command_resumes(
    city: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from trimetric.training import learning

    whole = learning.fit

    def interrupted(*arguments: Any, **named: Any) -> Any:
        def stop(epoch: Any) -> None:
            if epoch.epoch == 1:
                signal.raise_signal(signal.SIGINT)

        return whole(*arguments, callbacks=[stop], **named)

    command = ["fit", str(city / "pairs.csv"), "-o", "m.safetensors", *QUICK]
    monkeypatch.setattr(learning, "fit", interrupted)
    assert main(command) == 130
    assert capsys.readouterr().err.splitlines()[-1] == (
        "stopped; the same command resumes from m.safetensors.checkpoint"
    )
    assert not Path("m.safetensors").exists()

    monkeypatch.setattr(learning, "fit", whole)
    assert main([*command, "--batch-size", "100"]) == 2
    assert "belongs to another run: batch_size: 256 there, 100 here. " in (told := capsys.readouterr().err)
    assert "--restart starts over" in told
    assert main(command) == 0
    assert "resuming from m.safetensors.checkpoint" in capsys.readouterr().out
    assert [file.name for file in Path().iterdir()] == ["m.safetensors"]
    undisturbed = tm.Model.load(city / "points.safetensors").all_pairs()
    assert torch.equal(tm.Model.load("m.safetensors").all_pairs(), undisturbed)


def test_a_training_that_diverges_saves_nothing(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(city / "pairs.csv"), "-o", "m.safetensors", *QUICK, "--learning-rate", "1e38"]) == 1
    assert "diverged" in capsys.readouterr().err
    assert not list(Path().iterdir())


# As a process


def test_the_reader_of_a_pipe_may_leave(city: Path) -> None:
    words = [sys.executable, "-m", "trimetric", "predict", str(city / "points.safetensors"), "--all-pairs"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "from,to,distance\n"
        process.stdout.close()
        assert process.wait() == 0
        assert process.stderr.read() == ""
