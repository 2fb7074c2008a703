"""Compile a model and the C++ program that runs it.

    python -m examples.cpp.build city/features.safetensors -o out/cpp
    out/cpp/distances out/cpp/model.pt2 2 < pairs.txt

The model becomes machine code by AOTInductor, for batches of any size; the program links against libtorch.
"""

from __future__ import annotations

import shutil
import subprocess
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch
import tyro

import trimetric as tm

SOURCE = Path(__file__).with_name("distances.cpp")


@dataclass(frozen=True, kw_only=True)
class Build:
    """Compile a model and the program that runs it."""

    model: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="MODEL")]
    """a model file whose network reads vectors"""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("out/cpp")
    """the folder to write to"""


def compile_model(model: tm.Model, example: torch.Tensor, file: Path) -> Path:
    """Compile the network of a model ahead of time.

    Args:
        model: the model.
        example: two objects as its network reads them.
        file: the package to write, which ends in `.pt2`.

    Returns:
        The package.
    """
    batch = torch.export.Dim("batch", min=1, max=1 << 20)
    inputs = (example[:2], example[:2].clone())
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of its own code
        program = torch.export.export(model.network.eval(), inputs, dynamic_shapes=({0: batch}, {0: batch}))
        return Path(torch._inductor.aoti_compile_and_package(program, package_path=str(file)))


def compile_program(folder: Path, *, compiler: str = "g++") -> Path:
    """Compile `distances.cpp` against the libtorch of the installed torch.

    Args:
        folder: where to put the program.
        compiler: of C++17 or later.

    Returns:
        The program.
    """
    if shutil.which(compiler) is None:
        raise FileNotFoundError(f"compiler: expected a C++ compiler on the PATH, got {compiler!r}")
    torch_folder = Path(torch.__file__).parent
    libraries, program = torch_folder / "lib", folder / "distances"
    includes = [torch_folder / "include", torch_folder / "include/torch/csrc/api/include"]
    command = [
        compiler,
        "-std=c++20",
        "-O1",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
        *(f"-I{path}" for path in includes),
        str(SOURCE),
        "-o",
        str(program),
        f"-L{libraries}",
        f"-Wl,-rpath,{libraries}",
        "-ltorch",
        "-ltorch_cpu",
        "-lc10",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{compiler}: {done.stderr[-2000:]}")
    return program


def main() -> None:
    """Read the options and compile both."""
    options = tyro.cli(Build)
    try:
        model = tm.Model.load(options.model)
    except (RuntimeError, ValueError, OSError) as error:
        raise SystemExit(str(error)) from None
    options.output.mkdir(parents=True, exist_ok=True)
    package = compile_model(model, model.objects()[:2], options.output / "model.pt2")
    print(f"{compile_program(options.output)} {package}")


if __name__ == "__main__":
    main()
