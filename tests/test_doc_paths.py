"""The files and folders that the pages name exist."""

from __future__ import annotations

import re

import pytest
from places import ROOT

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "reproduction/README.md",
        *ROOT.glob("docs/**/*.md"),
    ]
    if path.exists()
)
ROOTS = "src|tests|docs|reproduction|benchmarks|examples"
PATH = re.compile(rf"(?<![\w/.-])(?:{ROOTS})/[\w./*-]*[\w/*]|(?<![\w/.<-])(?:{ROOTS})/(?![\w<])")
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)\)")
MADE_BY_THE_READER = re.compile(r"hexagonal|my_|^(?:site|out|dist)/")
"""Names in the examples of CONTRIBUTING.md, and folders that `make` makes: a clean checkout has none of them."""


IN_THE_PACKAGE = re.compile(r"`((?:[\w*-]+/)+(?:[\w*]+\.\w+)?|[\w*]+\.py)`")


@pytest.mark.parametrize("page", PAGES)
def test_paths_exist(page: str) -> None:
    text = (ROOT / page).read_text()
    for path in PATH.findall(text):
        if not MADE_BY_THE_READER.search(path):
            assert any(ROOT.glob(path.rstrip("/"))), f"{page} names {path}, which does not exist"
    for link in LINK.findall(text):
        assert (ROOT / page).parent.joinpath(link).exists(), f"{page} links to {link}, which does not exist"


@pytest.mark.parametrize("page", [page for page in PAGES if page in ("docs/architecture.md", "CONTRIBUTING.md")])
def test_paths_in_the_package_exist(page: str) -> None:
    """On these pages a path in code type is one from the root or from src/trimetric."""
    for path in IN_THE_PACKAGE.findall((ROOT / page).read_text()):
        if not MADE_BY_THE_READER.search(path):
            places = (ROOT, ROOT / "src/trimetric")
            assert any(any(place.glob(path.rstrip("/"))) for place in places), f"{page} names {path}, not in the tree"
