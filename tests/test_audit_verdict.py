"""What an audit concludes: `holds` is True only where something is promised or required, and all of it held."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import trimetric as tm
from trimetric._audit.axioms import NOTHING, Measured
from trimetric.cli import main
from trimetric.nearness import closure, is_metric, min_plus, violations

line = torch.tensor([[0.0], [1.0], [2.0]])


def squared(x: Tensor, y: Tensor) -> Tensor:
    return (y - x).square().sum(-1)


def length(x: Tensor, y: Tensor) -> Tensor:
    return (y - x).abs().sum(-1)


def test_a_function_that_promises_nothing_never_holds() -> None:
    report = tm.audit(squared, line)
    assert not report.holds
    assert report.broken == []
    assert report.verdict == "nothing is promised; the triangle inequality is broken by up to 2"
    assert report.verdict in str(report)
    fine = tm.audit(length, line)
    assert not fine.holds
    assert fine.verdict.startswith("nothing is promised; no violation of the triangle inequality was found")


@pytest.mark.parametrize("max_points", [10, 2])
@pytest.mark.parametrize(
    ("axiom", "function"),
    {
        "triangle": squared,
        "nonnegative": lambda x, y: length(x, y) - 1,
        "reflexive": lambda x, y: length(x, y) + 1,
        "definite": lambda x, y: (length(x, y) - 1).relu(),
        "symmetric": lambda x, y: (y - x).relu().sum(-1),
        "homogeneous": lambda x, y: length(x, y).sqrt(),
    }.items(),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_required_is_checked(axiom: Measured, function: Any, max_points: int) -> None:
    kept = tm.audit(length, line, require=[axiom], max_points=max_points, random_triples=500)
    assert kept.holds
    assert kept.verdict.startswith("every requirement holds")
    broken = tm.audit(function, line, require=(axiom,), max_points=max_points, random_triples=500)
    assert broken.broken == [axiom]
    assert not broken.holds
    assert broken.verdict == f"BROKEN: {axiom}"
    assert json.loads(json.dumps(broken.to_dict()))["required"] == [axiom]


def test_requirements_stand_beside_promises() -> None:
    points = torch.randn(20, 2)
    report = tm.audit(tm.WideNorm(2), points, require=("symmetric",))
    assert report.broken == ["symmetric"]
    assert tm.audit(tm.WideNorm(2, symmetric=True), points, require=("symmetric",)).verdict == "every promise holds"
    both = tm.audit(tm.WideNorm(2), points, require=("definite",))
    assert both.verdict == "every promise and requirement holds"


def test_promises_without_the_triangle_inequality_say_so() -> None:
    discounted = tm.Discounted(tm.Euclidean(1), gamma=0.5)
    assert tm.audit(discounted, line).verdict.startswith("every promise holds; the triangle inequality is not among")


@pytest.mark.parametrize("max_points", [10, 2])
def test_nan_and_infinite_distances(max_points: int) -> None:
    def some_nan(x: Tensor, y: Tensor) -> Tensor:
        return torch.where((x[..., 0] == 0) & (y[..., 0] == 1), torch.nan, length(x, y))

    few = {"max_points": max_points, "random_triples": 500}
    for axiom in ("reflexive", "definite", "symmetric", "triangle", "nonnegative", "homogeneous"):
        report = tm.audit(some_nan, line, require=(axiom,), **few)  # type: ignore[arg-type]
        assert report.broken == [axiom]
        assert "some distances are NaN" in report.verdict
    assert tm.audit(some_nan, line, **few).verdict == "nothing is promised; some distances are NaN"  # type: ignore[arg-type]

    def no_way_back(x: Tensor, y: Tensor) -> Tensor:
        return torch.where((y < x)[..., 0], torch.inf, length(x, y))

    assert tm.audit(no_way_back, line, require=("triangle",), **few).holds  # type: ignore[arg-type]

    def no_way_but_by_detours(x: Tensor, y: Tensor) -> Tensor:
        return torch.where(length(x, y) > 1, torch.inf, length(x, y))

    report = tm.audit(no_way_but_by_detours, line, require=("triangle",), **few)  # type: ignore[arg-type]
    assert report.broken == ["triangle"]


@pytest.mark.parametrize(
    ("require", "message"),
    [
        ("triangle", "require: expected a sequence of names of axioms, such as ('triangle',), got 'triangle'"),
        (("monotone",), "require[0]: expected one of 'nonnegative', 'reflexive', 'definite', 'triangle'"),
        (None, "require: expected a sequence of names of axioms"),
    ],
    ids=str,
)
def test_unknown_requirements(require: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        tm.audit(length, line, require=require)
    assert message in str(caught.value)


class Square(tm.Distance):
    """Promises nothing, which is honest of a square."""

    axioms = NOTHING

    def __init__(self, dim: int) -> None:
        super().__init__(dim, num_components=1, pool="mean")

    def components(self, x: Tensor, y: Tensor) -> Tensor:
        return (x - y).square().sum(-1, keepdim=True)


def test_commands_say_that_nothing_is_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{a},{b},{abs(a - b)}" for a in range(6) for b in range(6) if a != b]
    Path("p.csv").write_text("from,to,distance\n" + "\n".join(rows) + "\n")
    assert main(["fit", "p.csv", "-o", "m.safetensors", "--head", "mlp", "--epochs", "1", "--dim", "4"]) == 0
    assert "triples of objects: nothing is promised; " in capsys.readouterr().out
    assert main(["audit", "m.safetensors"]) == 0
    assert "nothing is promised; " in capsys.readouterr().out
    tm.Model(Square(3)).save("square.safetensors")
    assert main(["audit", "square.safetensors"]) == 0
    assert "nothing is promised; the triangle inequality is broken by up to" in capsys.readouterr().out
    assert main(["audit", "square.safetensors", "--require", "triangle", "reflexive", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["broken"] == ["triangle"]
    assert not told["holds"]
    assert main(["audit", "m.safetensors", "--require", "triangel"]) == 2


MATRICES = {
    "not square": (np.zeros((3, 4)), "x: expected a square matrix, got shape (3, 4)"),
    "a vector": (np.zeros(3), "x: expected a square matrix, got shape (3,)"),
    "three axes": (np.zeros((2, 2, 2)), "x: expected a square matrix, got shape (2, 2, 2)"),
    "empty": (np.zeros((0, 0)), "x: expected a square matrix, got shape (0, 0)"),
    "text": ([["a"]], "x: expected a square matrix of numbers, got list"),
    "complex": (np.zeros((2, 2), complex), "x: expected a square matrix of numbers, got ndarray"),
}


@pytest.mark.parametrize("function", [violations, is_metric, closure, min_plus], ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", MATRICES)
def test_only_square_matrices(function: Any, case: str) -> None:
    matrix, message = MATRICES[case]
    with pytest.raises((TypeError, ValueError)) as caught:
        function(matrix)
    assert message in str(caught.value)


def test_only_distances_have_violations() -> None:
    for matrix, message in [
        ([[0, np.nan], [1, 0]], "x: expected no NaN, got x[0, 1] = nan"),
        ([[0, -1], [1, 0]], "x: expected distances >= 0, got x[0, 1] = -1"),
        ([[0, 1], [1, 2]], "x: expected zeros on the diagonal, got x[1, 1] = 2"),
    ]:
        with pytest.raises(ValueError, match=message.replace("[", r"\[")):
            violations(matrix)
        assert not is_metric(matrix)
    with pytest.raises(ValueError, match="tolerance: expected a finite number above 0, got -1"):
        violations(np.zeros((2, 2)), -1)
    with pytest.raises(ValueError, match="x: expected no NaN"):
        closure([[0, np.nan], [1, 0]])
    with pytest.raises(ValueError, match=r"y: expected the shape of x, \(2, 2\), got \(3, 3\)"):
        min_plus(np.zeros((2, 2)), np.zeros((3, 3)))


def test_lists_tensors_and_strided_arrays_are_matrices() -> None:
    broken = [[0, 1, 5], [1, 0, 1], [5, 1, 0]]
    padded = np.zeros((6, 6))
    padded[::2, ::2] = broken
    for matrix in (broken, torch.tensor(broken), np.array(broken, np.float32), padded[::2, ::2]):
        assert violations(matrix) == (3.0, 2)
        assert not is_metric(matrix)
        assert is_metric(closure(matrix))
