"""Options by name: which were given, which have an effect, and which one an error of the library is about.

Options without effect are refused: nobody should believe that they had one.  Each command has a table `effects` of the
options that matter in some modes only.  An option without an entry matters in every mode;
`tests/cli/test_cli_options.py` tries all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, get_type_hints

from tyro.conf import Fixed, Positional

from trimetric.files.errors import InputError
from trimetric.models.heads import HEADS


@dataclass(frozen=True)
class Only:
    """When an option has an effect.

    Attributes:
        where: the same in words, to follow "expected only".
        holds: whether it has an effect, given the parsed options of the command.
    """

    where: str
    holds: Callable[[Any], bool]


Effects = Mapping[str, Only]

WITHOUT_UNITS = [name for name, head in HEADS.items() if not head.concave]
CONCAVE = Only(
    f"with a head other than {' and '.join(WITHOUT_UNITS)}", lambda options: options.head not in WITHOUT_UNITS
)
"""where `--concave-units` have an effect"""


def options_of(command: type[Any]) -> Iterator[tuple[str, str]]:
    """Yield the field and the word of each option of a command, including those of `general`: `as_json`, `--json`."""
    hints = get_type_hints(command, include_extras=True)
    for item in fields(command):
        if is_dataclass(hints[item.name]):
            yield from options_of(hints[item.name])  # type: ignore[arg-type]
            continue
        marks = getattr(hints[item.name], "__metadata__", ())
        if Positional in marks or Fixed in marks:
            continue
        named = next((mark.name for mark in marks if getattr(mark, "name", None)), None)
        yield item.name, "--" + (named or item.name).replace("_", "-")


def with_given(command: Any, words: Sequence[str]) -> Any:
    """Return the parsed command with a record of which options were given on the command line."""
    said = {word.partition("=")[0].replace("_", "-") for word in words if word.startswith("--")}
    given = frozenset(name for name, option in options_of(type(command)) if option in said)
    return replace(command, general=replace(command.general, given=given))


def refuse_without_effect(command: Any) -> None:
    """Raise an `InputError` for the first option given that has no effect in the chosen mode."""
    effects: Effects = getattr(command, "effects", {})
    for name, option in options_of(type(command)):
        only = effects.get(name)
        if name in command.general.given and only is not None and not only.holds(command):
            raise no_effect(option, only.where)


def no_effect(option: str, where: str) -> InputError:
    """Return the error for an option that would change nothing."""
    return InputError(f"{option}: expected only {where}; it has no effect here")


def in_options(command: Any, error: Exception, subjects: Mapping[str, str] | None = None) -> Exception:
    """Turn an error about an argument of the library into one about the option that gave it.

    `batch_size: expected ...` becomes `--batch-size: expected ...`, as the fields of commands have the names of the
    library's arguments.  Of several arguments, those that are no options of the command are left out.

    Args:
        command: the parsed options.
        error: with a message that begins with the names of arguments.
        subjects: what to call other arguments, such as the file that gave them.

    Returns:
        An `InputError`; or the error itself, if it is about nothing that the user gave.
    """
    if isinstance(error, InputError):
        return error
    known = {**dict(options_of(type(command))), **(subjects or {})}
    names, _, problem = str(error).partition(": ")
    named = [name.partition("[") for name in names.split(", ")]
    words = [f"{known[name]}{bracket}{index}" for name, bracket, index in named if name in known]
    return InputError(f"{', '.join(words)}: {problem}") if words else error
