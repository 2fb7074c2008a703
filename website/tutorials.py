"""Tutorials: scripts of `docs/tutorials/`, executed, as pages with their output and as notebooks to download."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

from website.notebooks import notebook_of

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs/tutorials"
AT_ONCE = 2


def pages(*, execute: bool) -> dict[str, str | bytes]:
    """The pages, pictures and notebooks of all tutorials, by their place in the site.

    Args:
        execute: whether to run the cells; without it the pages have no output.

    Raises:
        PluginError: if a cell of a tutorial raises.
    """
    scripts = sorted(FOLDER.glob("*.py"))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        notebooks = list(pool.map(executed if execute else _unexecuted, scripts))
    made: dict[str, str | bytes] = {}
    for script, notebook in zip(scripts, notebooks, strict=True):
        made |= _page(script.stem, notebook)
    return made


def executed(script: Path) -> dict[str, Any]:
    """Run a tutorial in a process and an empty folder of its own.

    Args:
        script: a file in the percent format.

    Returns:
        The notebook with the output of each cell.
    """
    threads = str(max(1, (os.cpu_count() or 1) // AT_ONCE))
    paths = [str(ROOT / "src"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "OMP_NUM_THREADS": threads,
        "MPLBACKEND": "Agg",
        "COLUMNS": "88",
    }
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "result.ipynb")
        workplace = Path(folder, "work")
        workplace.mkdir()
        done = subprocess.run(
            [sys.executable, "-m", "website.notebooks", script, result],
            cwd=workplace,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise PluginError(f"{script.name}: a cell failed\n{done.stderr}")
        return json.loads(result.read_text())


def _unexecuted(script: Path) -> dict[str, Any]:
    return notebook_of(script.read_text())


def _page(name: str, notebook: dict[str, Any]) -> dict[str, str | bytes]:
    """The page, its pictures and its notebook."""
    pictures: dict[str, str | bytes] = {}
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            if output["output_type"] == "stream":
                parts.append(_block("".join(output["text"])))
                continue
            data = output["data"]
            if "image/png" in data:
                picture = f"{name}-{len(pictures) + 1}.png"
                pictures[f"tutorials/{picture}"] = base64.b64decode(data["image/png"])
                parts.append(f"![Figure that the cell above draws]({picture})")
            elif "text/html" in data:
                parts.append(f'<div class="output" markdown="0">\n{"".join(data["text/html"])}\n</div>')
            else:
                parts.append(_block("".join(data["text/plain"])))
    download = f"[Download this page as a notebook]({name}.ipynb){{ .md-button download={name}.ipynb }}"
    title, _, rest = "\n\n".join(parts).partition("\n")
    return {
        f"tutorials/{name}.md": f"{title}\n\n{download}\n{rest}\n",
        f"tutorials/{name}.ipynb": json.dumps(_with_readable_links(notebook), indent=1) + "\n",
        **pictures,
    }


def _block(text: str) -> str:
    return f"``` {{ .text .output }}\n{text.rstrip()}\n```"


def _with_readable_links(notebook: dict[str, Any]) -> dict[str, Any]:
    """Links to other pages of the site mean nothing in a downloaded notebook: keep their text."""
    link = re.compile(r"(?<!!)\[([^\]]+)\]\((?![a-z]+:)[^)]+\)")
    cells = [
        {**cell, "source": [link.sub(r"\1", line) for line in cell["source"]]}
        if cell["cell_type"] == "markdown"
        else cell
        for cell in notebook["cells"]
    ]
    return {**notebook, "cells": cells}
