"""The Python blocks of the README and of the docs run as printed, and print what they say."""

from __future__ import annotations

import contextlib
import io
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Pages with Python blocks, and what they need beyond the core.
PAGES: dict[str, tuple[str, ...]] = {
    "README.md": (),
    "docs/nearness.md": (),
    "docs/graphs.md": ("numba", "routingkit_cch"),
    "docs/values.md": (),
    "docs/integrations.md": ("sklearn", "pytorch_metric_learning"),
}
BLOCKS = {
    f"{page}-{i}": (page, block)
    for page in PAGES
    for i, block in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL))
}


def test_every_page_has_blocks() -> None:
    assert {page for page, _ in BLOCKS.values()} == set(PAGES)


@pytest.mark.parametrize("name", BLOCKS)
def test_block_runs_and_prints_its_comments(name: str) -> None:
    page, block = BLOCKS[name]
    for library in PAGES[page]:
        if find_spec(library) is None:
            pytest.skip(f"needs {library}")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, page, "exec"), {})
    expected = re.findall(r"print\(.*\)\s+# (.*)", block)
    assert printed.getvalue().splitlines()[: len(expected)] == expected
