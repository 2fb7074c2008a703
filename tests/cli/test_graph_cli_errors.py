"""Bad input for `fit --graph` and for questions by coordinates gets one line that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from trimetric.cli import main

pytest.importorskip("numba")
pytest.importorskip("osmium")
pytest.importorskip("routingkit_cch")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "-o", "m.safetensors"], "PAIRS: expected a file of pairs, or --graph, got none"),
        (
            ["fit", "p.csv", "--graph", "g.gr", "-o", "m.safetensors"],
            "PAIRS: expected a file of pairs, or --graph, got both",
        ),
        (
            ["fit", "--graph", "g.gr", "--edges", "-o", "m.safetensors"],
            "--edges: expected only with PAIRS, not with --graph; it",
        ),
        (["fit", "--graph", "missing.gr", "-o", "m.safetensors"], "missing.gr: no such file"),
        (
            ["fit", "--graph", "e.csv", "-o", "m.safetensors", "--weight", "length"],
            "--weight: expected only with --graph ",
        ),
        (
            ["fit", "--graph", "e.csv", "-o", "m.safetensors", "--validation", ".1"],
            "--validation: expected only with PA",
        ),
        (["fit", "--graph", "e.csv", "-o", "m.safetensors", "--drop-unreachable"], "--drop-unreachable: expected only"),
        (
            ["fit", "--graph", "e.csv", "-o", "m.safetensors", "--landmarks", "0"],
            "--landmarks: expected a positive whole",
        ),
        (
            ["fit", "--graph", "e.csv", "-o", "m.safetensors", "--sample", "0"],
            "--sample: expected a positive whole number",
        ),
        (["fit", "--graph", "e.csv", "-o", "m.safetensors", "--sample", "999"], "at most the 20 of the graph, got 999"),
        (
            ["fit", "--graph", "e.csv", "-o", "m.safetensors", "--cache", "e.csv"],
            "--cache: expected a folder, got the file",
        ),
        (
            ["fit", "--graph", "e.csv", "-o", "m.safetensors", "--epochs", "0"],
            "--epochs: expected a positive integer, got 0",
        ),
        (
            ["fit", "--graph", "named.csv", "-o", "m.safetensors"],
            "'b', 'w'; --from-column, --to-column and --distance-col",
        ),
        (
            ["fit", "--graph", "inf.csv", "-o", "m.safetensors"],
            "inf.csv, line 3: weight: expected a finite number (leave out edges",
        ),
        (
            ["fit", "--graph", "nan.csv", "-o", "m.safetensors"],
            "nan.csv, line 3: weight: expected a number >= 0, got 'nan'",
        ),
        (
            ["fit", "--graph", "minus.csv", "-o", "m.safetensors"],
            "minus.csv, line 3: weight: expected a number >= 0, got '-1'",
        ),
        (
            ["fit", "--graph", "inf.gr", "-o", "m.safetensors"],
            "inf.gr, line 3: expected a finite weight >= 0, got 'inf'",
        ),
        (
            ["fit", "--graph", "minus.gr", "-o", "m.safetensors"],
            "minus.gr, line 3: expected a finite weight >= 0, got '-1'",
        ),
        (["fit", "--graph", "g.shp", "-o", "m.safetensors"], "g.shp: expected a name that ends in"),
        (
            ["fit", "--graph", "g.gr", "-o", "m.safetensors"],
            "g.gr: expected at least 4 nodes to sample pairs from, got 2",
        ),
        (
            ["predict", "TOWN", "--from", "1", "--from-file", "x.csv"],
            "--from-file: expected a file or --from, got both",
        ),
        (["predict", "TOWN", "--to-file", "x.csv"], "x.csv: no such file"),
        (["predict", "TOWN", "--to-file", "ids.csv"], "--to-file: 'nowhere' is not among the 196 objects of"),
        (
            ["predict", "TOWN", "--to-file", "far.csv"],
            "far.csv, line 2: lon, lat: expected a longitude and latitude within 500 m",
        ),
    ],
)
def test_bad_input(
    words: list[str],
    message: str,
    town: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.gr").write_text("p sp 2 2\na 1 2 1\na 2 1 1\n")
    Path("g.shp").touch()
    Path("e.csv").write_text("from,to,weight\na,b,1\nb,c,1\nc,d,1\nd,e,1\ne,a,1\n")
    Path("named.csv").write_text("a,b,w\nx,y,1\n")
    for name, bad in {"inf": "inf", "nan": "nan", "minus": "-1"}.items():
        Path(f"{name}.csv").write_text(f"from,to,weight\na,b,1\nb,a,{bad}\n")
        Path(f"{name}.gr").write_text(f"p sp 2 2\na 1 2 1\na 2 1 {bad}\n")
    Path("ids.csv").write_text("id\nnowhere\n")
    Path("far.csv").write_text("id,lon,lat\na,-8,410\n")
    assert main([word.replace("TOWN", str(town / "town.safetensors")) for word in words]) == 2
    assert message in capsys.readouterr().err
    assert not Path("m.safetensors").exists()
