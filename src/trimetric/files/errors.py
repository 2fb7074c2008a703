"""What is wrong with a file."""

from __future__ import annotations

from pathlib import Path


class InputError(ValueError):
    """One line that names the file, the place in it, what was expected and what came."""


def check_exists(file: Path) -> Path:
    """The path of a file that is there."""
    if not file.exists():
        raise InputError(f"{file}: no such file")
    if not file.is_file():
        raise InputError(f"{file}: expected a file, got a folder")
    return file


def unknown_suffix(file: Path, *suffixes: str) -> InputError:
    expected = " or ".join([", ".join(suffixes[:-1]), suffixes[-1]] if len(suffixes) > 1 else suffixes)
    return InputError(f"{file}: expected a name that ends in {expected}")
