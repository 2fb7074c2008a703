"""A page for each sub-command of `trimetric`: what `docs/commands/` says about it, then its `--help`."""

from __future__ import annotations

import contextlib
import io
import os
from unittest import mock

from trimetric.cli.main import COMMANDS, main

COLUMNS = "88"


def pages(existing: set[str]) -> dict[str, str | bytes]:
    """Pages of the sub-commands that have none in `docs/commands/` yet.

    Args:
        existing: the pages that there are, by their place below `docs/`.

    Returns:
        The text of each missing page, by its place.
    """
    return {
        place(name): f"# trimetric {name}\n\n{summary[0].upper()}{summary[1:]}.\n"
        for name, summary in COMMANDS.items()
        if place(name) not in existing
    }


def place(name: str) -> str:
    """Where the page of a sub-command lies, below `docs/`."""
    return f"commands/{name.replace(' ', '-')}.md"


def with_options(page: str, text: str) -> str:
    """Append the help of a sub-command to its page; leave other pages as they are.

    Args:
        page: its place below `docs/`.
        text: its Markdown.
    """
    if page == "commands/index.md":
        rows = "\n".join(
            f"| [`{name}`]({place(name).removeprefix('commands/')}) | {COMMANDS[name]} |" for name in COMMANDS
        )
        return text.replace("<!-- commands -->", f"| command | what it does |\n|---|---|\n{rows}")
    name = next((name for name in COMMANDS if place(name) == page), None)
    if name is None:
        return text
    return f"{text.rstrip()}\n\n## Help\n\n```console\n$ trimetric {name} --help\n{help_of(name)}\n```\n"


def help_of(name: str) -> str:
    """What `trimetric NAME --help` prints, in lines of 88 characters."""
    printed = io.StringIO()
    plain = {"COLUMNS": COLUMNS, "TERM": "dumb", "NO_COLOR": "1"}
    with mock.patch.dict(os.environ, plain), contextlib.redirect_stdout(printed):
        code = main([*name.split(), "--help"])
    if code != 0:
        raise RuntimeError(f"trimetric {name} --help: expected exit code 0, got {code}")
    return printed.getvalue().strip()
