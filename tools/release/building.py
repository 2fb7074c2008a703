"""Build the wheel and the source archive, and check what is in them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "trimetric"
OF_THE_WHEEL = {".py", ".pyi", ".typed", ".js", ".css", ".html", ".svg"}
AT_THE_TOP = ("README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "constraints.txt", "pyproject.toml")


class ReleaseError(Exception):
    """Something that must not be published."""


def build(folder: Path) -> tuple[Path, Path]:
    """Build into an emptied folder, the wheel from the source archive, in an environment that pip makes for it.

    Args:
        folder: where the files go.

    Returns:
        The wheel and the source archive.
    """
    shutil.rmtree(folder, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT))
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, archive


def check_description(*files: Path) -> None:
    """Check that the page of the package can be shown: `twine check --strict`."""
    _run(sys.executable, "-m", "twine", "check", "--strict", *map(str, files))


def check_wheel(wheel: Path, version: str) -> int:
    """Check that the wheel has every file of the package, the license, and nothing else.

    Args:
        wheel: the file.
        version: the version that it must have.

    Returns:
        The number of its files.
    """
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
    information = f"trimetric-{version}.dist-info"
    expected = {
        *(_inside(file) for file in PACKAGE.rglob("*") if file.suffix in OF_THE_WHEEL),
        *(f"{information}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")),
    }
    _compare(wheel.name, names, expected)
    for needed in ("trimetric/py.typed", "trimetric/__init__.pyi", "trimetric/graphs/__init__.pyi"):
        if needed not in names:
            raise ReleaseError(f"{wheel.name}: expected {needed}, which is not in it")
    return len(names)


def check_archive(archive: Path, version: str) -> int:
    """Check that the source archive has what the project needs to be built, tested and documented.

    Args:
        archive: the file.
        version: the version that it must have.

    Returns:
        The number of its files.
    """
    top = f"trimetric-{version}"
    with tarfile.open(archive) as content:
        names = {name.removeprefix(f"{top}/") for name in content.getnames()}
    listed = subprocess.run(["git", "ls-files", *("src", "tests", "docs")], cwd=ROOT, capture_output=True, text=True)
    tracked = listed.stdout.splitlines() if listed.returncode == 0 else []
    absent = sorted({*AT_THE_TOP, *(name for name in tracked if (ROOT / name).exists())} - names)
    if absent:
        raise ReleaseError(f"{archive.name}: expected {', '.join(absent[:5])}, which are not in it")
    strange = sorted(name for name in names if "__pycache__" in name or name.startswith((".venv", "out/", "dist/")))
    if strange:
        raise ReleaseError(f"{archive.name}: expected no made files, got {', '.join(strange[:5])}")
    return len(names)


def _inside(file: Path) -> str:
    return file.relative_to(PACKAGE.parent).as_posix()


def _compare(name: str, found: set[str], expected: set[str]) -> None:
    for kind, files in (("missing", expected - found), ("not wanted", found - expected)):
        if files:
            raise ReleaseError(f"{name}: {len(files)} files are {kind}: {', '.join(sorted(files)[:5])}")


def _run(*words: str) -> None:
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise ReleaseError(f"{' '.join(words[1:4])} failed\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
