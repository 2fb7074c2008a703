"""`trimetric info`"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from trimetric._support.printable import SHOWN, printable
from trimetric.cli.general import General

SHOWN_IDS = 5
LONGEST_NOTE = 1000


@dataclass(frozen=True, kw_only=True)
class Info:
    """Show what is in a model file: its parts, what it promises, the objects that it knows, and how it was made.

    trimetric info model.safetensors
    trimetric info model.safetensors --json
    """

    model: Annotated[Positional[Path], arg(metavar="MODEL")]
    """a model file, as trimetric fit writes it"""
    general: General = field(default_factory=General)

    def run(self) -> int:
        model = self.general.load(self.model)

        from trimetric._support.described import describe
        from trimetric.cli.promises import caveat

        architecture = describe(model.network)
        weights = sum(parameter.numel() for parameter in model.network.parameters())
        ids = list(model.ids or ())
        say = self.general.say
        say(f"{self.model}: {weights:,} weights")
        for name, part in _parts(architecture):
            say(f"  {name:<10} {_expression(part)}")
        shown = ", ".join(printable(name, limit=SHOWN) for name in ids[:SHOWN_IDS]) + (
            ", ..." if len(ids) > SHOWN_IDS else ""
        )
        say(f"  objects    {f'{len(ids):,}: {shown}' if ids else 'none by name'}")
        say(f"  promises   {model.axioms}")
        if (text := caveat(model)) is not None:
            say(f"  beware     {text}")
        for key, value in _flat(model.notes):
            say(f"  {printable(key, limit=SHOWN)}: {printable(str(value), limit=LONGEST_NOTE)}")
        self.general.answer(
            model=str(self.model),
            weights=weights,
            architecture=architecture,
            promises=asdict(model.axioms),
            objects=len(ids),
            unit=model.notes.get("unit"),
            ids=model.ids,
            notes=model.notes,
        )
        return 0


def _parts(architecture: dict[str, Any]) -> list[tuple[str, Any]]:
    """Encoder and distance separately, as they are long."""
    if architecture["class"] == "Siamese":
        return list(architecture["arguments"].items())
    return [("distance", architecture)]


def _expression(value: Any) -> str:
    """The call that builds a part."""
    if isinstance(value, dict):
        arguments = ", ".join(f"{name}={_expression(item)}" for name, item in value["arguments"].items())
        return f"{value['class']}({arguments})"
    if isinstance(value, list):
        return f"[{', '.join(map(_expression, value))}]"
    return repr(value)


def _flat(notes: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in notes.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            yield from _flat({str(i): item for i, item in enumerate(value, start=1)}, f"{prefix}{key}.")
        elif value is not None and value is not False and value != []:
            yield prefix + key, value
