"""The command with bad input: one line that says what was expected, exit code 2, and nothing left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from trimetric.cli import main

pytestmark = pytest.mark.usefixtures("empty_folder")

HEADER = "from,to,distance\n"
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
    "directions.csv": HEADER + "b,c,1\na,b,2.5\nb,a,3\n",
    "asymmetric.csv": "0,2.5\n3,0\n",
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
    "directions": (
        ["fit", "directions.csv", *OUT, "--symmetric"],
        "directions.csv, line 4: expected the same distance from 'b' to 'a' as back, got 3 here and 2.5 in "
        "directions.csv, line 3; without --symmetric each direction has its own",
    ),
    "directions of a matrix": (
        ["fit", "asymmetric.csv", "--matrix", *OUT, "--symmetric"],
        "asymmetric.csv, from '1' to '0': expected the same distance from '1' to '0' as back, got 3 here and 2.5 in ",
    ),
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
    "device": (
        ["fit", "good.csv", *OUT, "--device", "abacus"],
        "--device: expected a device that torch can use",
    ),
    "epochs": (["fit", "good.csv", *OUT, "--epochs", "0"], "--epochs: expected a positive integer, got 0"),
    "batch": (["fit", "good.csv", *OUT, "--batch-size", "-1"], "--batch-size: expected a positive integer, got -1"),
    "dim": (["fit", "good.csv", *OUT, "--dim", "0"], "--dim: expected a positive integer, got 0"),
    "dim of features": (
        ["fit", "zero.csv", *OUT, "--features", "all.csv", "--dim", "0"],
        "--dim: expected a positive integer, got 0",
    ),
    "seed": (["fit", "good.csv", *OUT, "--seed", "-1"], "--seed: expected a whole number from 0"),
    "edges of a matrix": (["fit", "m.npy", *OUT, "--edges"], "--edges: expected rows of edges, got the matrix m.npy"),
    "read and written": (
        ["predict", "MODEL", "good.csv", "-o", "./good.csv"],
        "--output: good.csv: expected a file",
    ),
    "validation": (["fit", "good.csv", *OUT, "--validation", "1"], "--validation: expected a share from 0 to below 1"),
    "patience": (
        ["fit", "good.csv", *OUT, "--validation", "0", "--patience", "3"],
        "--patience: expected held-out pairs",
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
    "reverse": (["predict", "MODEL", "--from", "A1", "--reverse"], "--reverse: expected only with --nearest; it"),
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


def test_no_command_writes_over_what_it_reads(city: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = (city / "points.safetensors").read_bytes()
    Path("m.onnx").write_bytes(model)
    assert main(["export", "m.onnx", "-o", "m.onnx"]) == 2
    Path("m.csv").write_bytes(model)
    assert main(["predict", "m.csv", "--all-pairs", "-o", "m.csv"]) == 2
    Path("good.csv").write_text(str(FILES["good.csv"]))
    Path("m.safetensors").symlink_to("good.csv")
    assert main(["fit", "good.csv", "-o", "m.safetensors"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(", got ")[0] for line in told] == [
        "error: --output: m.onnx: expected a file other than m.onnx",
        "error: --output: m.csv: expected a file other than m.csv",
        "error: --output: m.safetensors: expected a file other than good.csv",
    ]
    assert Path("m.onnx").read_bytes() == Path("m.csv").read_bytes() == model
