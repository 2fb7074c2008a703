"""Every public name has a summary, an explanation of each argument and an example that runs."""

from __future__ import annotations

import inspect
from importlib.util import find_spec

import pytest
from docstrings import PACKAGES, documented_arguments, gaps, public_names
from places import TESTS

if any(library is not None and find_spec(library) is None for library in PACKAGES.values()):
    pytest.skip("needs every optional library that a public package needs", allow_module_level=True)

WITHOUT_EXAMPLE: dict[str, str] = {
    "graphs.read_osm": "needs a map",
    "nearness.save_picture": "writes a file; repair_picture shows what is in it",
}
"""Public names that need no example, and why."""

STILL_MISSING = set((TESTS / "still_missing.txt").read_text().splitlines())
"""What is known to be missing.  Lines may be deleted from this file, never added."""


def found_gaps() -> set[str]:
    found = {gap for name, value in public_names().items() for gap in gaps(name, value)}
    return found - {f"{name}: example" for name in WITHOUT_EXAMPLE}


def test_no_docstring_lacks_anything() -> None:
    found = found_gaps()
    names = {gap.partition(":")[0] for gap in found}
    print(f"{len(found)} gaps in the docstrings of {len(names)} public names")
    print(*sorted(found), sep="\n")
    assert not found - STILL_MISSING, "missing from docstrings"
    assert not STILL_MISSING - found, "no longer missing: delete these lines from tests/still_missing.txt"


def test_exceptions_are_needed() -> None:
    names = public_names()
    for name in WITHOUT_EXAMPLE:
        assert name in names, f"{name}: no such public name"
        assert f"{name}: example" in set(gaps(name, names[name])), f"{name}: has an example, so is no exception"


def test_arguments_are_found_in_a_docstring() -> None:
    text = """Measures something.

    Args:
        x, y: two of them.
        dim (int): how many: a number.
        `pool`: with more
            than one: line.
        *rest: others.

    Returns:
        value: a number.
    """
    assert documented_arguments(inspect.cleandoc(text)) == {"x", "y", "dim", "pool", "rest"}
