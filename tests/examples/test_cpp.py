"""A model compiled ahead of time answers in C++ what it answers in Python."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import torch

import trimetric as tm
from examples.cpp.build import compile_model, compile_program

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler: install g++")


@pytest.mark.slow
def test_a_program_without_python_answers(tmp_path: Path) -> None:
    network = tm.Siamese(tm.MLP(3, 8, widths=(16,)), tm.NeuralMetric(tm.WideNorm(8, components=4, width=3)))
    objects = torch.randn(6, 3)
    package = compile_model(tm.Model(network), objects, tmp_path / "model.pt2")
    program = compile_program(tmp_path)
    x, y = objects[:-1], objects[1:].clone()
    y[2] = x[2]
    lines = "\n".join(" ".join(f"{value:.9g}" for value in row) for row in torch.cat([x, y], dim=1).tolist())
    done = subprocess.run([program, package, "3"], input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = torch.tensor([float(line) for line in done.stdout.split()])
    assert torch.allclose(found, network(x, y), rtol=1e-5, atol=1e-6)
    assert found[2] == 0
    single = subprocess.run([program, package, "3"], input="0 0 0 1 2 3", capture_output=True, text=True, check=False)
    expected = network(torch.zeros(1, 3), torch.tensor([[1.0, 2.0, 3.0]]))
    assert torch.allclose(torch.tensor([float(single.stdout)]), expected, rtol=1e-5)
    wrong = subprocess.run([program, package, "3"], input="1 2 3 4", capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "expected 6 numbers a line, got 4 in all" in wrong.stderr


def test_a_missing_compiler_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="compiler: expected a C\\+\\+ compiler on the PATH, got 'no-such'"):
        compile_program(tmp_path, compiler="no-such")
