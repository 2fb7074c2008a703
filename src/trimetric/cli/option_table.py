"""The options of a command as a table: words, what they take and what they mean, read from its dataclass.

`trimetric --completion` is made from it.  Nothing here imports NumPy or torch.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from tyro.conf import Fixed, Positional

Takes = Literal["nothing", "file", "choice", "text"]


@dataclass(frozen=True)
class Option:
    """An option of a command, or an argument without a word.

    Attributes:
        words: such as `("--output", "-o")`; empty for an argument that is known by its place.
        takes: what follows it.
        choices: the values it takes, where these are few.
        several: whether it takes more than one value.
        about: a short explanation.
    """

    words: tuple[str, ...]
    takes: Takes = "nothing"
    choices: tuple[str, ...] = ()
    several: bool = False
    about: str = ""


HELP = Option(("--help", "-h"), about="show the help of the command")


def command_class(name: str) -> type[Any]:
    """Return the dataclass of a command's options.

    Args:
        name: of the command, such as "values fit".

    Examples:
        >>> command_class("values fit").__name__
        'ValuesFit'
    """
    module = import_module(f"trimetric.cli.{name.replace(' ', '_')}")
    return getattr(module, name.title().replace(" ", ""))


def option_table(command: type[Any]) -> list[Option]:
    """Return the options of a command, including those of `general` and `--help`.

    Args:
        command: the dataclass of its options.

    Examples:
        >>> [option.words for option in option_table(command_class("info"))]
        [(), ('--quiet',), ('--json',), ('--help', '-h')]
    """
    return [*_options(command), HELP]


def _options(command: type[Any]) -> Iterator[Option]:
    hints = get_type_hints(command, include_extras=True)
    texts = _field_texts(command)
    for item in fields(command):
        hint = hints[item.name]
        if is_dataclass(hint):
            yield from _options(hint)  # type: ignore[arg-type]
            continue
        marks = getattr(hint, "__metadata__", ())
        if Fixed in marks:
            continue
        named = next((mark.name for mark in marks if getattr(mark, "name", None)), None)
        aliases = next((mark.aliases for mark in marks if getattr(mark, "aliases", None)), None) or ()
        help_text = next((mark.help for mark in marks if getattr(mark, "help", None)), None)
        word = "--" + (named or item.name).replace("_", "-")
        takes, choices, several = _value(hint)
        yield Option(
            words=() if Positional in marks else (word, *aliases),
            takes=takes,
            choices=choices,
            several=several,
            about=_short(help_text or texts.get(item.name, "")),
        )


def _value(hint: Any) -> tuple[Takes, tuple[str, ...], bool]:
    """Return what a type of values stands for on the command line, its choices, and whether there are several."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _value(parts[0])
    if origin in (Union, UnionType):
        return _value(next(part for part in parts if part is not type(None)))
    if origin is tuple:
        return (*_value(parts[0])[:2], True)
    if origin is Literal:
        return "choice", tuple(map(str, parts)), False
    if hint is bool:
        return "nothing", (), False
    return "file" if hint is Path else "text", (), False


def _field_texts(command: type[Any]) -> dict[str, str]:
    """Return the texts below the fields of a dataclass and of the classes it inherits from."""
    found: dict[str, str] = {}
    for part in reversed(command.__mro__[:-1]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(part))).body
        body = tree.body if isinstance(tree, ast.ClassDef) else []
        for item, text in pairwise(body):
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and isinstance(text, ast.Expr):
                found[item.target.id] = ast.literal_eval(text.value)
    return found


def _short(text: str) -> str:
    """Return the first part of an explanation, in one line."""
    line = " ".join(text.split())
    for end in (" (default", "; ", ": "):
        line = line.partition(end)[0]
    return line
