"""The command: what it answers, what it writes, its exit codes, and that bad input leaves nothing behind."""

from __future__ import annotations

import csv
import io
import json
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

import trimetric as tm
from trimetric.cli import main
from trimetric.cli.fit import Fit
from trimetric.cli.main import COMMANDS, _parsed
from trimetric.heads import HEADS
from trimetric.losses import LOSSES
from trimetric.schedules import SCHEDULES

QUICK = ["--epochs", "3", "--dim", "8", "--learning-rate", "0.03"]
HEADER = "from,to,distance\n"


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, and two models of it."""
    folder = tmp_path_factory.mktemp("cli") / "city"
    assert main(["example", "-o", str(folder), "--quiet"]) == 0
    pairs = str(folder / "pairs.csv")
    assert main(["fit", pairs, "-o", str(folder / "points.safetensors"), *QUICK, "--quiet"]) == 0
    features = ["--features", str(folder / "objects.csv"), "--widths", "16"]
    assert main(["fit", pairs, "-o", str(folder / "features.safetensors"), *features, *QUICK, "--quiet"]) == 0
    return folder


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def table(text: str, delimiter: str = ",") -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


# Words


@pytest.mark.parametrize("name", COMMANDS)
def test_help_teaches_by_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert len(re.findall(rf"^ *trimetric {name}\b", text, flags=re.MULTILINE)) >= 2
    assert all(option in text for option in ("--seed", "--device", "--quiet", "--json"))


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
        *((Path(__file__).parent.parent / name).read_text() for name in ("README.md", "docs/cli.md", "docs/graphs.md")),
        *((Path(tm.__file__).parent / "cli" / f"{name.replace(' ', '_')}.py").read_text() for name in COMMANDS),
    )
    for match in re.finditer(
        r"^(?:\$| *) ?trimetric (example|fit|predict|audit|info|export|values fit|values plan)\b(.*)$",
        text,
        re.MULTILINE,
    )
]


def test_printed_commands_can_be_typed() -> None:
    assert len(PRINTED) > 25
    for name, words in PRINTED:
        assert type(_parsed(name, words)).__name__ == name.title().replace(" ", "")


def test_options_are_those_of_the_library() -> None:
    hints = get_type_hints(Fit)
    assert set(get_args(hints["head"])) == {*HEADS, "recommended", "mlp"}
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
    assert out[0] == "64 objects, 3,629 pairs to train on, 403 held out"
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
    assert told["errors"]["pairs"] == 403
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


@pytest.mark.parametrize("head", [*HEADS, "recommended", "mlp"])
def test_every_head(head: str, city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(capsys, "fit", city / "pairs.csv", "-o", "m.safetensors", *QUICK, "--head", head, "--epochs", 1)
    assert told["audit"]["promised"]["triangle"] == (head != "mlp")
    assert told["audit"]["holds"]


@pytest.mark.parametrize("head", ["wide", "deep"])
def test_symmetric(head: str, city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(
        capsys, "fit", city / "pairs.csv", "-o", "m.safetensors", *QUICK, "--head", head, "--symmetric", "--epochs", 1
    )
    assert told["audit"]["promised"]["symmetric"]
    assert told["audit"]["asymmetry"] == 0


def test_matrices_and_edges(capsys: pytest.CaptureFixture[str]) -> None:
    points = np.random.default_rng(0).normal(size=(12, 2))
    matrix = np.linalg.norm(points[:, None] - points, axis=-1)
    np.save("m.npy", matrix)
    np.savetxt("m.csv", matrix, delimiter=",")
    for words in (["m.npy"], ["m.csv", "--matrix"]):
        told = answer(capsys, "fit", *words, "-o", "m.safetensors", *QUICK, "--symmetric")
        assert told["errors"]["pairs"] == 13
    ring = "".join(f"{i},{(i + 1) % 12},1\n" for i in range(12))
    Path("e.csv").write_text("from,to,weight\n" + ring)
    assert answer(capsys, "fit", "e.csv", "--edges", "-o", "m.safetensors", *QUICK)["errors"]["pairs"] == 13
    assert len(tm.Model.load("m.safetensors").ids or ()) == 12


def test_unreachable_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.csv").write_text("from,to,weight\n" + "".join(f"{i},{i + 1},1\n" for i in range(9)))
    fit = ["fit", "e.csv", "--edges", "-o", "m.safetensors", *QUICK]
    assert main(fit) == 2
    assert "unreachable pairs need the discounted loss, or to be dropped" in capsys.readouterr().err
    told = answer(capsys, *fit, "--loss", "discounted", "--validation", 0.3)
    assert 0 < told["errors"]["pairs"] < 27
    assert tm.Model.load("m.safetensors").notes["training_pairs"] == 63
    answer(capsys, *fit, "--drop-unreachable")
    assert tm.Model.load("m.safetensors").notes["training_pairs"] <= 45


def test_predict(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = city / "points.safetensors"
    model = tm.Model.load(file)
    ids, every = list(model.ids or ()), model.all_pairs()
    row = {name: i for i, name in enumerate(ids)}

    def check(found: list[dict[str, Any]], pairs: list[tuple[str, str]]) -> None:
        assert [(pair["from"], pair["to"]) for pair in found] == pairs
        expected = [every[row[a], row[b]].item() for a, b in pairs]
        assert [float(pair["distance"]) for pair in found] == pytest.approx(expected, rel=1e-4, abs=1e-6)

    check(answer(capsys, "predict", file, "--from", "A1", "--to", "H8")["pairs"], [("A1", "H8")])
    both = ["predict", file, "--from", "A1", "B2", "--to", "H8", "C3"]
    check(answer(capsys, *both)["pairs"], [("A1", "H8"), ("A1", "C3"), ("B2", "H8"), ("B2", "C3")])
    check(answer(capsys, "predict", file, "--to", "C3")["pairs"], [(name, "C3") for name in ids])
    check(answer(capsys, "predict", file, "--all-pairs")["pairs"], [(a, b) for a in ids for b in ids])

    others = [name for name in ids if name != "D4"]
    there = sorted(others, key=lambda name: every[row["D4"], row[name]].item())[:4]
    check(answer(capsys, "predict", file, "--from", "D4", "--nearest", 4)["pairs"], [("D4", name) for name in there])
    back = sorted(others, key=lambda name: every[row[name], row["D4"]].item())[:4]
    reverse = answer(capsys, "predict", file, "--from", "D4", "--nearest", 4, "--reverse")
    check(reverse["pairs"], [(name, "D4") for name in back])
    assert len(answer(capsys, "predict", file, "--from", "D4", "--nearest", 1000)["pairs"]) == 63
    assert len(answer(capsys, "predict", file, "--nearest", 2)["pairs"]) == 128

    Path("ask.csv").write_text("to,from\nA1,B1\nB1,B1\nA1,B1\n")
    assert main(["predict", str(file), "ask.csv", "-o", "told.tsv"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 distances written to told.tsv"
    told = table(Path("told.tsv").read_text(), delimiter="\t")
    check(told, [("B1", "A1"), ("B1", "B1"), ("B1", "A1")])

    assert main(["predict", str(file), str(city / "pairs.csv")]) == 0
    out, err = capsys.readouterr()
    rows = table(out)
    mse = np.mean([(float(row["distance"]) - float(row["given"])) ** 2 for row in rows])
    assert len(rows) == 4032
    assert f"mean squared error {mse:.4g}" in err


def test_predict_for_objects_that_were_not_there(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("new.csv").write_text("y,id,x\n0,corner,0\n3.5,middle,3.5\n")
    file = city / "features.safetensors"
    found = answer(capsys, "predict", file, "--features", "new.csv", "--all-pairs")["pairs"]
    expected = tm.Model.load(file).all_pairs(torch.tensor([[0.0, 0.0], [3.5, 3.5]]))
    assert [pair["distance"] for pair in found] == pytest.approx(expected.flatten().tolist(), rel=1e-4)
    Path("few.csv").write_text("id,x\na,1\n")
    assert main(["predict", str(file), "--features", "few.csv", "--all-pairs"]) == 2
    assert "few.csv: expected a column 'y'" in capsys.readouterr().err
    assert main(["predict", str(city / "points.safetensors"), "--features", "new.csv", "--all-pairs"]) == 2


class Liar(tm.Distance):
    """Promises the triangle inequality, and is a square."""

    axioms = tm.Axioms(symmetric=True)

    def __init__(self, dim: int) -> None:
        super().__init__(dim, num_components=1, pool="mean")

    def components(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x - y).square().sum(-1, keepdim=True)


def test_audit(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(capsys, "audit", city / "points.safetensors", "--points", 30)
    assert (told["points"], told["triples"], told["holds"], told["triangle_defect"]) == (30, 27000, True, 0)
    told = answer(capsys, "audit", city / "features.safetensors", "--random")
    assert (told["points"], told["holds"]) == (500, True)
    tm.Model(Liar(3)).save("liar.safetensors")
    assert main(["audit", "liar.safetensors", "--points", "20"]) == 1
    assert "BROKEN: triangle" in capsys.readouterr().out
    assert main(["audit", "liar.safetensors", "--points", "0"]) == 2


def test_info(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = answer(capsys, "info", city / "features.safetensors")
    model = tm.Model.load(city / "features.safetensors")
    assert told["weights"] == sum(p.numel() for p in model.network.parameters())
    assert told["ids"] == model.ids
    assert told["notes"]["feature_columns"] == ["x", "y"]
    assert told["promises"]["triangle"]
    assert main(["info", str(city / "features.safetensors")]) == 0
    out = capsys.readouterr().out
    assert "MLP(in_features=2, out_features=8, widths=[16])" in out
    assert "64: A1, B1, C1, D1, E1, ..." in out


def test_export(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(city / "features.safetensors"), "-o", "m.pt2"]) == 0
    assert capsys.readouterr().out == "written: m.pt2\n"
    model = tm.Model.load(city / "features.safetensors")
    x, y = model.objects(["A1", "B2", "C3"]), model.objects(["H8", "A1", "C3"])
    torch.testing.assert_close(torch.export.load("m.pt2").module()(x, y), model.network(x, y))


def test_the_smallest_tables(capsys: pytest.CaptureFixture[str]) -> None:
    for text, pairs in {"a,b,1\n": 1, "a,b,0\nb,a,0\n": 2, "a,b,1\nb,c,2\nc,a,3\n": 3}.items():
        Path("p.csv").write_text(HEADER + text)
        told = answer(capsys, "fit", "p.csv", "-o", "m.safetensors", *QUICK)
        assert told["errors"]["on"] == ("training pairs" if pairs < 3 else told["errors"]["on"])
        assert told["audit"]["holds"]
    told = answer(capsys, "fit", "p.csv", "-o", "m.safetensors", *QUICK, "--validation", 0)
    assert told["errors"]["pairs"] == 3


# Stopped, and gone on


def test_ctrl_c_leaves_a_checkpoint_from_which_the_same_command_goes_on(
    city: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from trimetric.cli import train

    whole = train.fit

    def interrupted(*arguments: Any, **named: Any) -> Any:
        def stop(epoch: Any) -> None:
            if epoch.epoch == 1:
                signal.raise_signal(signal.SIGINT)

        return whole(*arguments, callbacks=[stop], **named)

    command = ["fit", str(city / "pairs.csv"), "-o", "m.safetensors", *QUICK]
    monkeypatch.setattr(train, "fit", interrupted)
    assert main(command) == 130
    assert capsys.readouterr().err.splitlines()[-1] == (
        "stopped; the same command goes on from m.safetensors.checkpoint"
    )
    assert not Path("m.safetensors").exists()

    monkeypatch.setattr(train, "fit", whole)
    assert main([*command, "--batch-size", "100"]) == 2
    assert "belongs to another run: config differ" in (told := capsys.readouterr().err)
    assert "--restart begins anew" in told
    assert main(command) == 0
    assert "going on from m.safetensors.checkpoint" in capsys.readouterr().out
    assert [file.name for file in Path().iterdir()] == ["m.safetensors"]
    undisturbed = tm.Model.load(city / "points.safetensors").all_pairs()
    assert torch.equal(tm.Model.load("m.safetensors").all_pairs(), undisturbed)


def test_a_training_that_diverges_saves_nothing(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(city / "pairs.csv"), "-o", "m.safetensors", *QUICK, "--learning-rate", "1e38"]) == 1
    assert "diverged" in capsys.readouterr().err
    assert not list(Path().iterdir())


# Bad input

FILES: dict[str, str | bytes] = {
    "good.csv": HEADER + "a,b,1\nb,c,2\nc,a,3\n",
    "objects.csv": "id,x\na,1\nb,2\n",
    "all.csv": "id,x\na,1\nb,2\nc,3\n",
    "m.npy": "not read",
    "zero.csv": HEADER + "a,b,0\nb,c,2\n",
    "loops.csv": HEADER + "a,a,0\n",
    "text.csv": HEADER + "a,b,1\nb,c,abc\n",
    "nan.csv": HEADER + "a,b,nan\n",
    "inf.csv": HEADER + "a,b,inf\n",
    "negative.csv": HEADER + "a,b,-1\n",
    "twice.csv": HEADER + "a,b,1\na,b,2\n",
    "itself.csv": HEADER + "a,b,1\na,a,2\n",
    "ragged.csv": HEADER + "a,b,1\na,b\n",
    "columns.csv": "source,target,distance\na,b,1\n",
    "latin.csv": (HEADER + "é,b,1\n").encode("latin-1"),
    "none.csv": HEADER,
    "empty.csv": "",
    "file.xlsx": "x",
    "damaged.safetensors": "x",
}
OUT = ["-o", "m.safetensors"]
BAD: dict[str, tuple[list[str], str]] = {
    "text": (["fit", "text.csv", *OUT], "text.csv, line 3: distance: expected a number, got 'abc'"),
    "nan": (["fit", "nan.csv", *OUT], "nan.csv, line 2: distance: expected a number >= 0, got 'nan'"),
    "inf": (["fit", "inf.csv", *OUT], "inf.csv, line 2: distance: expected a finite number"),
    "negative": (["fit", "negative.csv", *OUT], "negative.csv, line 2: distance: expected a number >= 0, got '-1'"),
    "twice": (["fit", "twice.csv", *OUT], "twice.csv, line 3: expected one distance from 'a' to 'b', got 2 here and 1"),
    "itself": (["fit", "itself.csv", *OUT], "itself.csv, line 3: distance: expected 0 from 'a' to itself, got '2'"),
    "ragged": (["fit", "ragged.csv", *OUT], "ragged.csv, line 3: expected 3 columns as in the header, got 2"),
    "columns": (["fit", "columns.csv", *OUT], "columns.csv: expected a column 'from', got the columns 'source', "),
    "encoding": (["fit", "latin.csv", *OUT], "latin.csv, line 2: expected text encoded as UTF-8, got the byte 0xe9"),
    "no rows": (["fit", "none.csv", *OUT], "none.csv: expected at least one row, got none"),
    "empty": (["fit", "empty.csv", *OUT], "empty.csv: expected a header and rows, got an empty file"),
    "missing": (["fit", "absent.csv", *OUT], "absent.csv: no such file"),
    "a folder": (["fit", ".", *OUT], ".: expected a name that ends in .csv"),
    "suffix": (["fit", "file.xlsx", *OUT], "file.xlsx: expected a name that ends in .csv, .tsv, .parquet or .npz"),
    "only loops": (["fit", "loops.csv", *OUT], "loops.csv: expected a pair of different objects, got none"),
    "relative": (["fit", "zero.csv", *OUT, "--loss", "relative"], "zero.csv, line 2: expected a distance > 0 for"),
    "no features": (
        ["fit", "good.csv", *OUT, "--features", "objects.csv"],
        "good.csv, line 3: to: 'c' is not among the 2 objects of objects.csv",
    ),
    "output suffix": (["fit", "good.csv", "-o", "m.pt"], "--output: m.pt: expected a name that ends in .safetensors"),
    "output folder": (
        ["fit", "good.csv", "-o", "no/m.safetensors"],
        "--output: no/m.safetensors: there is no folder no",
    ),
    "output in a file": (
        ["fit", "good.csv", "-o", "good.csv/m.safetensors"],
        "--output: good.csv/m.safetensors: there",
    ),
    "device": (["fit", "good.csv", *OUT, "--device", "abacus"], "--device: expected one that torch can use here, got "),
    "epochs": (["fit", "good.csv", *OUT, "--epochs", "0"], "--epochs: expected a positive integer, got 0"),
    "batch": (["fit", "good.csv", *OUT, "--batch-size", "-1"], "--batch-size: expected a positive integer, got -1"),
    "dim": (["fit", "good.csv", *OUT, "--dim", "0"], "--dim: expected a positive integer, got 0"),
    "dim of features": (
        ["fit", "zero.csv", *OUT, "--features", "all.csv", "--dim", "0"],
        "--dim: expected a positive integer, got 0",
    ),
    "seed": (["fit", "good.csv", *OUT, "--seed", "-1"], "--seed: expected a whole number from 0"),
    "edges of a matrix": (["fit", "m.npy", *OUT, "--edges"], "--edges: expected rows of edges, got the matrix m.npy"),
    "read and written": (["predict", "MODEL", "good.csv", "-o", "./good.csv"], "--output: good.csv: expected another"),
    "validation": (["fit", "good.csv", *OUT, "--validation", "1"], "--validation: expected a part from 0 to below 1"),
    "patience": (
        ["fit", "good.csv", *OUT, "--validation", "0", "--patience", "3"],
        "--patience: expected pairs to hold",
    ),
    "symmetric": (["fit", "good.csv", *OUT, "--symmetric", "--head", "mlp"], "--symmetric: expected a head that can"),
    "two kinds": (["fit", "good.csv", *OUT, "--matrix", "--edges"], "--edges: expected pairs, a matrix or edges"),
    "no model": (["audit", "absent.safetensors"], "absent.safetensors: no such file"),
    "damaged model": (["info", "damaged.safetensors"], "damaged.safetensors: cannot be read, it is truncated or no"),
    "nothing asked": (["predict", "MODEL"], "PAIRS: expected a file of pairs, or --from"),
    "too much asked": (["predict", "MODEL", "good.csv", "--all-pairs"], "PAIRS: expected a file, or --from"),
    "unknown object": (
        ["predict", "MODEL", "--from", "A11"],
        "--from: 'A11' is not among the 64 objects of MODEL; did",
    ),
    "unknown in file": (
        ["predict", "MODEL", "good.csv", "-o", "d.csv"],
        "good.csv, line 2: from: 'a' is not among the",
    ),
    "nearest": (["predict", "MODEL", "--nearest", "0"], "--nearest: expected a positive integer, got 0"),
    "reverse": (["predict", "MODEL", "--from", "A1", "--reverse"], "--reverse: expected --nearest with it"),
    "predict suffix": (
        ["predict", "MODEL", "--all-pairs", "-o", "d.txt"],
        "--output: d.txt: expected a name that ends",
    ),
    "export suffix": (
        ["export", "MODEL", "-o", "m.bin"],
        "--output: m.bin: expected a name that ends in .onnx or .pt2",
    ),
    "example": (["example", "-o", "no/city"], "--output: no/city: there is no folder no"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_line_and_leaves_nothing(case: str, city: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, content in FILES.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    words, message = BAD[case]
    model = str(city / "points.safetensors")
    assert main([model if word == "MODEL" else word for word in words]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.replace(model, "MODEL").startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert {file.name for file in Path().iterdir()} == set(FILES)


# As a process of its own


def test_the_reader_of_a_pipe_may_leave(city: Path) -> None:
    words = [sys.executable, "-m", "trimetric", "predict", str(city / "points.safetensors"), "--all-pairs"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "from,to,distance\n"
        process.stdout.close()
        assert process.wait() == 0
        assert process.stderr.read() == ""


# Repair


def test_repair_writes_a_metric_and_says_how_near_it_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = np.random.default_rng(0).uniform(0, 5, (20, 20))
    np.fill_diagonal(given, 0)
    np.savetxt("D.csv", given, delimiter=",")
    assert main(["repair", "D.csv", "-o", "X.npy", "--picture", "change.png", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["gap"] <= 1e-6
    assert told["written"] == ["X.npy", "change.png"]
    metric = np.load("X.npy")
    assert (metric[:, None] <= metric[:, :, None] + metric[None]).all()
    assert Path("change.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        ("0,1\n1,0\n2,2\n3,3\n", [], "D.csv: expected a square matrix, got 4 rows of 2 columns"),
        ("0,\n1,0\n", [], "expected finite distances, got D[0, 1] = nan; say --missing"),
        ("0,nan\n1,0\n", [], "expected finite distances, got D[0, 1] = nan; say --missing"),
        ("0,-1\n1,0\n", [], "D[0, 1] = -1"),
        ("1,1\n1,0\n", [], "D[0, 0] = 1"),
        ("0,1\n2,0\n", ["--symmetric"], "expected a symmetric matrix"),
        ("0,1,2\n1,x,1\n2,1,0\n", [], "D.csv, line 2: expected a number, got 'x'"),
        ("", [], "D.csv: expected a matrix, got an empty file"),
    ],
)
def test_repair_refuses(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    matrix: str,
    options: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("D.csv").write_text(matrix)
    assert main(["repair", "D.csv", "-o", "X.npy", *options]) == 2
    assert message in capsys.readouterr().err
    assert not Path("X.npy").exists()


def test_repair_shows_gap_and_violation(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    given = np.random.default_rng(0).uniform(0, 5, (20, 20))
    np.fill_diagonal(given, 0)
    np.save("D.npy", given)
    monkeypatch.setattr("trimetric.progress.LINE_SECONDS", 0.0)
    assert main(["repair", "D.npy", "-o", "X.csv"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 3
    assert all(re.match(r"round \d+  gap (about )?\S+  largest violation \S+  \S+ s$", line) for line in lines)
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, as far as rich knows
    assert main(["repair", "D.npy", "-o", "X.csv"]) == 0
    assert "repairing" in capsys.readouterr().err
    assert main(["repair", "D.npy", "-o", "X.csv", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_repair_interrupted_writes_the_best_so_far() -> None:
    given = np.random.default_rng(0).uniform(0, 5, (60, 60))
    np.fill_diagonal(given, 0)
    np.save("D.npy", given)
    code = (
        "import sys, trimetric.progress as progress; from trimetric.cli import main; progress.LINE_SECONDS = 0.0\n"
        "sys.exit(main(['repair', 'D.npy', '-o', 'X.npy', '--tolerance', '1e-300', '--method', 'dykstra']))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("round ")
    process.terminate()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    assert "ended before the tolerance was reached (interrupted)" in out
    assert "relative duality gap" in out
    assert tm.nearness.is_metric(np.load("X.npy"))
