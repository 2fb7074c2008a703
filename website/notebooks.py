"""Scripts in the percent format as notebooks: `# %%` starts a cell of code, `# %% [markdown]` one of text.

    python -m website.notebooks SCRIPT.py RESULT.ipynb

runs the cells one after another in one process, and keeps what they print and draw.  It writes the notebook format
itself, so that neither a kernel nor Jupyter is needed.
"""

from __future__ import annotations

import ast
import base64
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

MARK = re.compile(r"^# %%(.*)$", re.MULTILINE)


def notebook_of(text: str) -> dict[str, Any]:
    r"""Turn a script into a notebook, without running it.

    Args:
        text: of a script in the percent format.

    Returns:
        The notebook, as its file has it.

    Examples:
        >>> cells = notebook_of("# %% [markdown]\n# # Title\n\n# %%\nprint(1)\n")["cells"]
        >>> [(cell["cell_type"], cell["source"]) for cell in cells]
        [('markdown', ['# Title']), ('code', ['print(1)'])]
    """
    _, *parts = MARK.split(text)
    cells = []
    for kind, body in zip(parts[::2], parts[1::2], strict=True):
        if "[markdown]" in kind:
            lines = [re.sub(r"^# ?", "", line) for line in body.strip().splitlines()]
            cell: dict[str, Any] = {"cell_type": "markdown", "metadata": {}}
        else:
            lines = body.strip().splitlines()
            cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
        if any(lines):
            source = "\n".join(lines).splitlines(keepends=True)
            cells.append({"id": f"cell-{len(cells) + 1}", **cell, "source": source})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def execute(notebook: dict[str, Any]) -> None:
    """Run the cells of a notebook, and add their output to it.

    Args:
        notebook: as `notebook_of` makes it; changed in place.

    Raises:
        RuntimeError: with the traceback as its cause, if a cell raises.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(code, start=1):
        source = "".join(cell["source"])
        shown: list[Any] = []
        try:
            printed = _printed(lambda source=source, shown=shown: shown.append(_run(source, namespace)))
        except Exception as error:
            raise RuntimeError(f"cell {count}:\n{source}") from error
        cell["execution_count"] = count
        if printed:
            cell["outputs"].append(
                {"output_type": "stream", "name": "stdout", "text": printed.splitlines(keepends=True)}
            )
        if shown[0] is not None:
            data = _data(shown[0])
            cell["outputs"].append(
                {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data}
            )
        for picture in _figures():
            cell["outputs"].append({"output_type": "display_data", "metadata": {}, "data": {"image/png": picture}})


def _run(source: str, namespace: dict[str, Any]) -> Any:
    """Execute a cell; the value of its last line if that is an expression, which does not end with a semicolon."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), namespace)
    if not isinstance(last, ast.Expr):
        return None
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
    return None if source.rstrip().endswith(";") else value


def _data(value: Any) -> dict[str, Any]:
    data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    html = getattr(value, "_repr_html_", None)
    if callable(html) and (text := html()):
        data["text/html"] = str(text).splitlines(keepends=True)
    return data


def _printed(action: Callable[[], object]) -> str:
    """What an action writes to standard output, the processes that it starts included."""
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            action()
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return file.read().decode()


def _figures() -> list[str]:
    """The open figures of matplotlib as PNG in base 64; they are closed."""
    if "matplotlib.pyplot" not in sys.modules:
        return []
    import matplotlib.pyplot as plt

    pictures = []
    for number in plt.get_fignums():
        file = io.BytesIO()
        plt.figure(number).savefig(file, format="png", dpi=110, bbox_inches="tight")
        pictures.append(base64.b64encode(file.getvalue()).decode())
    plt.close("all")
    return pictures


def main(script: str, result: str) -> None:
    """Run a script and write the notebook with its output.

    Args:
        script: a file in the percent format.
        result: the notebook to write.
    """
    notebook = notebook_of(Path(script).read_text())
    execute(notebook)
    Path(result).write_text(json.dumps(notebook, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
