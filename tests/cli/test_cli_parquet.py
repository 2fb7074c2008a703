"""Every table that a command writes as CSV it writes as Parquet too, and other commands read it again."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
import torch
from places import ROOT

import trimetric as tm
from trimetric.cli import main
from trimetric.files.columns import read_table

pytest.importorskip("pyarrow", reason="needs the extra `tables`")

SCORES = [("a", "b", 1.0), ("b", "c", 2.0), ("c", "a", 9.0), ("a", "c", 9.0), ("c", "b", 2.5), ("b", "a", 1.5)]


@pytest.fixture(autouse=True)
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    tm.Model(tm.NormInduced(tm.WideNorm(2)), ["a", "b", "c"], torch.randn(3, 2)).save("town.safetensors")
    lines = [f"{start},{end},{value}\n" for start, end, value in SCORES]
    Path("pairs.csv").write_text("from,to,distance\n" + "".join(lines))


TABLES = {
    "predict": (["predict", "town.safetensors", "--all-pairs"], ["from", "to"], ["distance"]),
    "predict given": (["predict", "town.safetensors", "pairs.csv"], ["from", "to"], ["distance", "given"]),
    "predict nearest": (["predict", "town.safetensors", "--nearest", "1"], ["from", "to"], ["distance"]),
    "embed": (["embed", "town.safetensors"], ["id"], ["x0", "x1"]),
    "metrize": (["metrize", "pairs.csv", "--steps", "20"], ["from", "to"], ["distance", "given"]),
}


@pytest.mark.parametrize("name", TABLES)
def test_parquet_has_what_csv_has(name: str) -> None:
    words, ids, numbers = TABLES[name]
    found = []
    for suffix in ("csv", "tsv", "parquet"):
        assert main([*words, "-o", f"out.{suffix}"]) == 0
        found.append(read_table(Path(f"out.{suffix}"), ids=ids, numbers=numbers))
    for table in found[1:]:
        for column in ids:
            names = [[list(one.names)[code] for code in one.codes[column]] for one in (found[0], table)]
            assert names[0] == names[1]
        for column in numbers:
            np.testing.assert_allclose(table.numbers[column], found[0].numbers[column], rtol=1e-6)


def test_what_one_command_writes_others_read() -> None:
    assert main(["predict", "town.safetensors", "--all-pairs", "-o", "pairs.parquet"]) == 0
    assert main(["fit", "pairs.parquet", "-o", "again.safetensors", "--epochs", "1", "--dim", "4"]) == 0
    assert tm.Model.load("again.safetensors").ids == ["a", "b", "c"]
    assert main(["predict", "again.safetensors", "pairs.parquet", "-o", "errors.parquet"]) == 0
    assert main(["embed", "town.safetensors", "-o", "points.parquet"]) == 0
    words = ["--features", "points.parquet", "--feature-columns", "x0", "x1", "--epochs", "1", "--dim", "4"]
    assert main(["fit", "pairs.parquet", "-o", "features.safetensors", *words]) == 0
    assert main(["predict", "features.safetensors", "--features", "points.parquet", "--all-pairs"]) == 0


def test_no_command_writes_csv_alone() -> None:
    """Of the suffixes that a command takes for its output, .csv never stands without .parquet."""
    seen = 0
    for file in sorted((ROOT / "src/trimetric/cli").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, (ast.Tuple, ast.Call)):
                items = node.elts if isinstance(node, ast.Tuple) else node.args
                texts = [item.value for item in items if isinstance(item, ast.Constant)]
                if ".csv" in texts and (isinstance(node, ast.Tuple) or ast.unparse(node.func) == "output_file"):
                    plain_matrices = file.name == "repair.py"  # with its own list of the formats of solvers
                    assert ".parquet" in texts or plain_matrices, f"{file.name}: {texts}"
                    seen += 1
    assert seen >= 4
