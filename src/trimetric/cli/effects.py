"""Options that would have no effect are refused: nobody should believe that they had one.

Each command has a table `effects` of the options that do something in some modes only.  An option without an entry has
an effect in every mode; `tests/cli/test_cli_options.py` tries all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, get_type_hints

from tyro.conf import Fixed, Positional

from trimetric.files.errors import InputError


@dataclass(frozen=True)
class Only:
    """When an option has an effect.

    Attributes:
        where: the same in words, which go on from "expected only".
        holds: whether it has one, given the parsed options of the command.
    """

    where: str
    holds: Callable[[Any], bool]


Effects = Mapping[str, Only]

CONCAVE = Only("with a head other than recommended and mlp", lambda options: options.head not in ("recommended", "mlp"))
"""units of `make_head`"""


def options_of(command: type[Any]) -> Iterator[tuple[str, str]]:
    """Names of the fields of a command's options, those of `general` included, and their words: `as_json`, `--json`."""
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
    """The parsed command, told which of its options stand on the command line."""
    said = {word.partition("=")[0].replace("_", "-") for word in words if word.startswith("--")}
    given = frozenset(name for name, option in options_of(type(command)) if option in said)
    return replace(command, general=replace(command.general, given=given))


def refuse_without_effect(command: Any) -> None:
    """Raise an `InputError` for the first option on the command line that has no effect in the chosen mode."""
    effects: Effects = getattr(command, "effects", {})
    for name, option in options_of(type(command)):
        only = effects.get(name)
        if name in command.general.given and only is not None and not only.holds(command):
            raise no_effect(option, only.where)


def no_effect(option: str, where: str) -> InputError:
    """What to raise for an option that would change nothing."""
    return InputError(f"{option}: expected only {where}; it has no effect here")
