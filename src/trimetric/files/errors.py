"""The error about a file, and checks of its path."""

from __future__ import annotations

from pathlib import Path


class InputError(ValueError):
    """One line that names the file, the place in it, what was expected and what was found."""


def check_exists(file: Path) -> Path:
    """Check that a path is an existing file, and return it.

    Args:
        file: the path.
    """
    if not file.exists():
        raise InputError(f"{file}: no such file")
    if not file.is_file():
        raise InputError(f"{file}: expected a file, got a folder")
    return file


def check_inputs(*files: Path | None) -> None:
    """Check that the input files of a command exist, before anything is imported to read them.

    Args:
        *files: the paths; None for those that were not given.
    """
    for file in files:
        if file is not None and not file.exists():  # what else may be wrong with it, its reader says better
            check_exists(file)


def unknown_suffix(file: Path, *suffixes: str) -> InputError:
    """Make the error about a file whose name ends in none of the known suffixes.

    Args:
        file: the path.
        *suffixes: those that are known.
    """
    expected = " or ".join([", ".join(suffixes[:-1]), suffixes[-1]] if len(suffixes) > 1 else suffixes)
    return InputError(f"{file}: expected a name that ends in {expected}")
