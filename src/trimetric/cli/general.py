"""The options that every sub-command has, those that many have, and where output goes."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from tyro.conf import Fixed, Suppress, arg

from trimetric._support.atomic import WriteError, check_writable
from trimetric._support.printable import printable
from trimetric.cli.process import mute
from trimetric.files.errors import InputError, check_exists, unknown_suffix

if TYPE_CHECKING:
    import torch

    from trimetric.models.model import Model


def unless_given(
    metavar: str, *, name: str | None = None, aliases: tuple[str, ...] = (), help: str | None = None
) -> Any:
    """Mark an option without a literal default: its help text says what happens if it is not given."""
    return arg(metavar=metavar, name=name, aliases=aliases or None, help=help, help_behavior_hint="")


@dataclass(frozen=True, kw_only=True)
class General:
    """Options of every command."""

    quiet: bool = False
    """print nothing but errors"""
    as_json: Annotated[bool, arg(name="json")] = False
    """print one JSON object instead of text"""
    given: Suppress[Fixed[frozenset[str]]] = frozenset()
    """the options that were given on the command line, by the names of their fields"""

    def check(self) -> None:
        """Refuse values that no command can use."""

    def say(self, text: str) -> None:
        """Print for people; control characters that come from files are escaped."""
        if not (self.quiet or self.as_json):
            try:
                print(printable(text, keep="\n\t"), flush=True)
            except BrokenPipeError:  # the reader has left, but the file that is being made is still wanted
                mute(sys.stdout)

    def note(self, text: str) -> None:
        """Print for people on standard error, beside an answer that programs read."""
        if not self.quiet:
            print(printable(text, keep="\n\t"), file=sys.stderr, flush=True)

    def answer(self, **data: Any) -> None:
        """Print for programs: one JSON object, if asked for."""
        if self.as_json:
            print(json.dumps(_finite(data), indent=2, allow_nan=False))

    def progress(self) -> Literal["auto", "silent"]:
        """Return whether to show progress bars, on standard error."""
        return "silent" if self.quiet else "auto"

    def of_one_process(self) -> tuple[Self, bool]:
        """Return the options of this process, silent for all but the first that `torchrun` started, and if it is it."""
        from trimetric.training.processes import started_together

        first = started_together().first
        return self if first else replace(self, quiet=True, as_json=False), first

    def torch_device(self) -> torch.device:
        """Return the device on which torch computes."""
        import torch

        return torch.device("cpu")

    def load(self, file: Path) -> Model:
        """Load a model file; what is wrong with it is bad input."""
        check_exists(file)
        from trimetric._support.tensor_files import CheckpointError
        from trimetric.models.model import Model

        device = self.torch_device()
        try:
            return Model.load(file, device=device)
        except CheckpointError as error:
            raise InputError(" ".join(str(error).split())) from None


@dataclass(frozen=True, kw_only=True)
class Seeded(General):
    """Options of commands that draw random numbers."""

    seed: int = 0
    """seed of everything random"""

    def check(self) -> None:
        if not 0 <= self.seed < 1 << 32:
            raise InputError(f"--seed: expected a whole number from 0 to 2^32 - 1, got {self.seed}")


@dataclass(frozen=True, kw_only=True)
class Computing(General):
    """Options of commands that compute with torch."""

    device: str = "cpu"
    """the device on which torch computes, such as cuda or cuda:1"""

    def torch_device(self) -> torch.device:
        import torch

        try:
            device = torch.device(self.device)
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError):
            raise InputError(f"--device: expected a device that torch can use here, got {self.device!r}") from None
        return device


@dataclass(frozen=True, kw_only=True)
class SeededComputing(Seeded, Computing):
    """Options of commands that draw random numbers and compute with torch."""


def output_file(option: str, file: Path, *suffixes: str, beside: Sequence[str] = ()) -> Path:
    """Check that a file can be written, before any work is done.

    Args:
        option: the option that gave the path.
        file: the file to write.
        suffixes: its name must end in one of them.
        beside: endings of further files that the work writes beside it, such as ".checkpoint".

    Returns:
        The path.
    """
    if file.suffix.lower() not in suffixes:
        raise InputError(f"{option}: {unknown_suffix(file, *suffixes)}")
    try:
        if file.is_dir():
            raise InputError(f"{option}: {file}: expected a file, got a folder")
        if not file.parent.is_dir():
            raise InputError(f"{option}: {file}: there is no folder {file.parent}")
        for path in (file, *(file.with_name(file.name + ending) for ending in beside)):
            if path.exists() and not os.access(path, os.W_OK):
                raise InputError(f"{option}: {path}: cannot be written, no permission to write there")
            check_writable(path)
    except WriteError as error:
        raise InputError(f"{option}: {error}") from None
    except OSError as error:  # of a name that the system cannot even look for
        raise InputError(f"{option}: {WriteError(file, error)}") from None
    return file


CHECKPOINTS = (".checkpoint", ".previous.checkpoint")
"""what a training run writes beside its output, see `output_file`"""


def keep_inputs(option: str, file: Path, *inputs: Path | None, remedy: str = "") -> None:
    """Refuse to overwrite an input, also through a link.

    Args:
        option: the option that gave the file to write.
        file: the file to write.
        inputs: files that are read, or written for another purpose.
        remedy: what to add to the message.
    """
    for other in inputs:
        if other is not None and file.exists() and other.exists() and file.samefile(other):
            raise InputError(f"{option}: {file}: expected a file other than {other}, got the same{remedy}")


def _finite(value: Any) -> Any:
    """Replace NaN and infinity, which JSON does not have, by null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
