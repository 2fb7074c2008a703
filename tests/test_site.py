"""The documentation site: built without the output of its tutorials, its links followed, opened from disk, searched."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from docstrings import public_names
from places import ROOT

from trimetric.cli.main import COMMANDS
from website.check import broken_links, browse, find_browser

for library in ("mkdocs", "material", "mkdocstrings_handlers", "latex2mathml"):
    if find_spec(library) is None:
        pytest.skip(f"no {library}: pip install 'trimetric[docs]'", allow_module_level=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    settings = {"TRIMETRIC_DOCS_EXECUTE": "false", "NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | settings | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_link_resolves(site: Path) -> None:
    assert broken_links(site) == []


def test_every_public_name_and_command_has_its_place(site: Path) -> None:
    from website import api, commands

    reference = "".join(page.read_text() for page in site.glob("api/*.html"))
    packages = [package.removeprefix("trimetric").removeprefix(".") for package in api.PACKAGES]
    for name in public_names():
        if name.rpartition(".")[0] in packages:
            assert f'id="trimetric.{name}"' in reference, f"the reference lacks {name}"
    for name in COMMANDS:
        page = (site / commands.place(name)).with_suffix(".html").read_text()
        assert f"usage: trimetric {name}" in page


def test_a_browser_opens_it_from_disk_and_searches(site: Path) -> None:
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium on this machine; as root on Debian, `make browser` installs it")
    pages = ("index", "api/norms", "api/distances", "howto/choose-a-head", "quasimetrics", "commands/fit")
    assert browse(site, program, [site / f"{name}.html" for name in pages]) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text('<p id="here">')
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here"></a><a href="b.html#there"></a><a href="c.html"></a><script src="https://example.org/x.js">'
    )
    assert broken_links(tmp_path) == [
        "a.html: fetches https://example.org/x.js",
        "a.html: b.html#there has no such place",
        "a.html: c.html does not exist",
    ]


def test_formulas_become_mathml() -> None:
    from website.formulas import with_mathml

    page = with_mathml('<div class="arithmatex">\\[a &lt; b\\]</div>')
    assert "<math" in page
    assert 'display="block"' in page
    assert "arithmatex" not in page


SCRIPT = """\
# %% [markdown]
# # Title

# %%
import os
import matplotlib.pyplot as plt
print('seen')
1 + 1

# %%
_ = os.system('echo shell')
plt.plot([0, 1]);
"""


def test_a_notebook_has_what_its_cells_print_and_draw(tmp_path: Path) -> None:
    from website.tutorials import executed

    (tmp_path / "script.py").write_text(SCRIPT)
    notebook = executed(tmp_path / "script.py")
    first, second = (cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code")
    assert [first[0]["text"], first[1]["data"]["text/plain"]] == [["seen\n"], ["2"]]
    assert second[0]["text"] == ["shell\n"]
    assert "image/png" in second[1]["data"]


def test_a_failing_cell_fails_the_build_and_is_named(tmp_path: Path) -> None:
    from mkdocs.exceptions import PluginError

    from website.tutorials import executed

    (tmp_path / "script.py").write_text("# %%\n1\n\n# %%\n1 / 0\n")
    with pytest.raises(PluginError, match=r"script.py: a cell failed[\s\S]*cell 2:\n1 / 0"):
        executed(tmp_path / "script.py")
