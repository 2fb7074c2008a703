"""Audits of matrices against the definition, triple by triple."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from matrices import random_matrix

from trimetric.cli import main
from trimetric.nearness import closure, write_matrix
from trimetric.routing import audit_matrix


@pytest.mark.parametrize("n", [1, 2, 3, 9])
@pytest.mark.parametrize("missing", [False, True])
def test_counts_are_those_of_the_definition(n: int, missing: bool) -> None:
    d = 10 * random_matrix(n, 0, symmetric=False)
    if missing and n > 2:
        d[0, 1] = d[2, 0] = np.nan
    found = audit_matrix(d, nearest=n > 1)
    far = np.where(np.isnan(d), np.inf, d)
    triples = [(i, k, j) for i in range(n) for k in range(n) for j in range(n) if far[i, j] > far[i, k] + far[k, j]]
    triples = [(i, k, j) for i, k, j in triples if not np.isnan(d[i, j])]
    assert found.broken_triples == len(triples)
    known = ~np.isnan(d)
    over = np.where(known, d - closure(far), 0.0)
    assert found.broken_pairs == (over > 1e-9 * np.nanmax(d)).sum()
    assert found.worst_excess == over.max()
    assert found.missing == (~known).sum()
    if triples:
        excess = [far[i, j] - far[i, k] - far[k, j] for i, k, j in triples]
        assert found.worst[0].direct - found.worst[0].detour == pytest.approx(max(excess))
        assert not found.exact
    assert found.nearest_change is None or found.nearest_change <= found.closure_change + 1e-12


def test_rounding_is_not_a_broken_triangle_and_bad_matrices_are_refused() -> None:
    rounded = audit_matrix([[0, 0.1, 0.30000000000000004], [9, 0, 0.2], [9, 9, 0]])
    assert rounded.is_metric
    assert rounded.exact
    rounded = audit_matrix([[0, 0.1, np.nextafter(0.30000000000000004, 1)], [9, 0, 0.2], [9, 9, 0]])
    assert rounded.is_metric
    assert not rounded.exact
    for bad, told in (([[0, -1], [1, 0]], "row 0, column 1"), ([[0, np.inf], [1, 0]], "finite"), ([[1]], "diagonal")):
        with pytest.raises(ValueError, match=told):
            audit_matrix(bad)
    with pytest.raises(ValueError, match="names: expected one for each of the 1 objects, got 2"):
        audit_matrix([[0]], names=["a", "b"])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("exponent", [-1020, -660, 0, 660, 1020])
def test_the_change_is_relative_at_any_scale(exponent: int) -> None:
    d, scale = np.array([[0.0, 1, 5], [1, 0, 1], [5, 1, 0]]), 2.0**exponent
    found = audit_matrix(d * scale)
    assert found.closure_change == pytest.approx(np.sqrt(2 * 3**2 / (2 * (1 + 25 + 1))), rel=1e-12)
    assert (found.broken_pairs, found.broken_triples, found.worst_excess) == (2, 2, 3 * scale)
    holes = np.where(d == 5, np.nan, d)
    assert audit_matrix(holes * scale).closure_change == 0
    assert audit_matrix(0 * d).closure_change == 0


def test_a_mask_is_not_lost() -> None:
    d = np.array([[0.0, 1, 5], [1, 0, 1], [5, 1, 0]])
    masked = np.ma.masked_equal(d, 5)
    with pytest.raises(TypeError, match="matrix: expected an array without a mask, got a masked array"):
        audit_matrix(masked)
    assert audit_matrix(masked.filled(np.nan)).missing == 2


def test_the_command_names_objects_draws_and_tells_by_its_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_text(",home,work,shop\nhome,0,1,5\nwork,1,0,1\nshop,5,1,0\n")
    assert main(["audit", str(broken), "--picture", str(tmp_path / "broken.png")]) == 1
    assert "from home to shop is 5, but 2 through work" in capsys.readouterr().out
    assert (tmp_path / "broken.png").stat().st_size > 1000
    write_matrix(tmp_path / "good.npy", closure(random_matrix(5, 0, symmetric=False)))
    assert main(["audit", str(tmp_path / "good.npy"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["is_metric"] is True
    (tmp_path / "bad.csv").write_text("0,-1\n1,0\n")
    assert main(["audit", str(tmp_path / "bad.csv")]) == 2
    assert "bad.csv: expected finite distances >= 0, got -1" in capsys.readouterr().err
