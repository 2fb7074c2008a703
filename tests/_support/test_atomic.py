"""Files are written wholly or not at all, with the mode that the umask gives; what fails is told in a line."""

from __future__ import annotations

import errno
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest
import torch
from torch import nn

import trimetric as tm
from trimetric._support.atomic import WriteError, check_writable, replacing
from trimetric._support.tensor_files import read_file, write_checkpoint, write_file
from trimetric.cli import main
from trimetric.files.writing import write_rows
from trimetric.graphs.files.cache import ArrayCache
from trimetric.nearness import write_matrix
from trimetric.rl.transitions.log import Transitions


def _model(file: Path) -> None:
    tm.Model(tm.Siamese(nn.Linear(64, 64), tm.Euclidean(64))).save(file)


def _transitions(file: Path) -> None:
    seen = np.random.default_rng(0).normal(size=(900, 3))
    Transitions(observations=seen, next_observations=seen[::-1], costs=np.ones(900)).write(file)


MATRIX = np.random.default_rng(0).normal(size=(40, 40))
WRITERS: dict[str, Callable[[Path], object]] = {
    "model.safetensors": _model,
    "run.checkpoint": lambda file: write_checkpoint(file, {"w": torch.randn(4000)}, {}),
    "table.csv": lambda file: write_rows(file, ("x", "y"), [[(i, i)] for i in range(4000)]),
    "matrix.npy": lambda file: write_matrix(file, MATRIX),
    "matrix.npz": lambda file: write_matrix(file, MATRIX),
    "matrix.csv": lambda file: write_matrix(file, MATRIX),
    "model.pt2": lambda file: tm.export(tm.NormInduced(tm.Euclidean(3)), file),
    "transitions.npz": _transitions,
}
every_writer = pytest.mark.parametrize("name", WRITERS)


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@every_writer
@pytest.mark.usefixtures("umask")
def test_the_mode_follows_the_umask(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640


@pytest.mark.usefixtures("umask")
def test_the_mode_of_cached_arrays_follows_the_umask(tmp_path: Path) -> None:
    ArrayCache(tmp_path).write("abc", {"a": np.arange(3)})
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.rglob("*.safetensors")} == {0o640}


@every_writer
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "no space is left on the disk"),
        (errno.EDQUOT, "the disk quota is used up"),
        (errno.EROFS, "the file system is read-only"),
    ],
    ids=["full", "quota", "read-only"],
)
def test_what_cannot_be_written_leaves_the_old_file_and_nothing_else(
    name: str, code: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / name
    file.write_bytes(b"old")

    def fails(_: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(WriteError) as caught:
        WRITERS[name](file)
    assert str(caught.value) == f"{file}: cannot be written, {words}"
    assert caught.value.errno == code
    assert file.read_bytes() == b"old"
    assert [found.name for found in tmp_path.iterdir()] == [name]


def _interrupted(stream: BinaryIO) -> None:
    stream.write(b"new")
    raise KeyboardInterrupt


def test_ctrl_c_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), replacing(file) as stream:
        _interrupted(stream)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_what_a_killed_process_left_is_used_again(tmp_path: Path) -> None:
    (tmp_path / "file.writing").write_bytes(b"half of something long")
    with replacing(tmp_path / "file") as stream:
        stream.write(b"new")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("file", b"new")]


def test_two_that_write_one_file_do_not_mix(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with replacing(file) as first:
        first.write(b"first")
        first.flush()
        with replacing(file) as second:
            second.write(b"second, which is longer")
        assert file.read_bytes() == b"second, which is longer"
    assert file.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_that_lies_in_the_way_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"precious")
    (tmp_path / "file.writing").symlink_to("precious")
    with replacing(tmp_path / "file") as stream:
        stream.write(b"new")
    assert (tmp_path / "precious").read_bytes() == b"precious"
    assert (tmp_path / "file").read_bytes() == b"new"


def test_what_could_not_be_written_is_told_beforehand(tmp_path: Path) -> None:
    check_writable(tmp_path / "new")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, words in {
        "folder": "it is a folder",
        "pipe": "it is a device, a pipe or a socket",
        "absent/file": "there is no such folder",
        "x" * 300: "the name is too long",
        "x" * 250: "the name is too long",  # that of the file beside it
    }.items():
        with pytest.raises(WriteError, match=words):
            check_writable(tmp_path / name)
    assert {file.name for file in tmp_path.iterdir()} == {"folder", "pipe"}


def test_tensors_that_share_memory_are_written_whole(tmp_path: Path) -> None:
    table = torch.arange(6.0).reshape(2, 3)
    tensors = {"whole": table, "again": table, "row": table[1], "turned": table.mT}
    write_file(tmp_path / "file", tensors, {}, form="test")
    read, _ = read_file(tmp_path / "file", form="test", noun="test")
    assert all(torch.equal(read[name], tensors[name]) for name in tensors)


FULL = {
    "fit": ["fit", "pairs.csv", "-o", "out.safetensors", "--epochs", "1", "--quiet"],
    "repair": ["repair", "D.npy", "-o", "out.npy", "--quiet"],
    "export": ["export", "model.safetensors", "-o", "out.pt2", "--quiet"],
    "predict": ["predict", "model.safetensors", "--all-pairs", "-o", "out.csv", "--quiet"],
}


@pytest.mark.parametrize(
    "command", [pytest.param(each, marks=pytest.mark.slow) if each in ("export", "predict") else each for each in FULL]
)
@pytest.mark.usefixtures("empty_folder")
def test_a_disk_that_is_full_gets_one_line(command: str, city: Path) -> None:
    """A limit on the size of files stands for the disk; the system says EFBIG in place of ENOSPC."""
    Path("pairs.csv").write_bytes((city / "pairs.csv").read_bytes())
    Path("model.safetensors").write_bytes((city / "points.safetensors").read_bytes())
    np.save("D.npy", np.ones((40, 40)) - np.eye(40))
    before = {file.name for file in Path().iterdir()}
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)); "
    code = limit + "from trimetric.cli import main; sys.exit(main(sys.argv[1:]))"
    run = subprocess.run(
        [sys.executable, "-c", code, *FULL[command]],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},  # numba keeps files of its own
    )
    assert run.returncode == 1
    assert run.stderr.startswith("error: out.")
    assert run.stderr.endswith("cannot be written, it is larger than a file may be here\n")
    assert run.stderr.count("\n") == 1
    assert {file.name for file in Path().iterdir()} == before
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 5000


IMPOSSIBLE = {
    "long": ("m" * 240 + ".safetensors", "cannot be written, the name is too long"),
    "a long checkpoint": ("m" * 230 + ".safetensors", ".checkpoint: cannot be written, the name is too long"),
    "a folder": ("folder.safetensors", "expected a file, got a folder"),
    "a folder as checkpoint": ("m.safetensors", "m.safetensors.checkpoint: cannot be written, it is a folder"),
    "a pipe": ("pipe.safetensors", "cannot be written, it is a device, a pipe or a socket"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
@pytest.mark.usefixtures("empty_folder")
def test_an_impossible_output_is_found_before_the_files_are_read(case: str, capfd: pytest.CaptureFixture[str]) -> None:
    for folder in ("folder.safetensors", "m.safetensors.checkpoint"):
        Path(folder).mkdir()
    os.mkfifo("pipe.safetensors")
    before = set(Path().iterdir())
    name, message = IMPOSSIBLE[case]
    assert main(["fit", "absent.csv", "-o", name]) == 2
    err = capfd.readouterr().err
    assert err.startswith("error: --output: ")
    assert err.rstrip().endswith(message)
    assert set(Path().iterdir()) == before
