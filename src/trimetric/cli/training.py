"""What all commands that train share: the checkpoint beside the output, and what is said when a run ends early."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trimetric._support.tensor_files import CheckpointError, previous, remove_checkpoint
from trimetric.cli.effects import in_options
from trimetric.cli.process import stopped
from trimetric.files.errors import InputError
from trimetric.models.model import Model


def checkpoint_of(output: Path) -> Path:
    """Return the checkpoint beside a model file."""
    return output.with_name(output.name + ".checkpoint")


@contextmanager
def training(
    command: Any, checkpoint: Path, *, restart: bool, subjects: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Run the body, which trains; turn errors and interruptions into messages of the command line.

    Args:
        command: the parsed options.
        checkpoint: the file from which an interrupted run resumes.
        restart: whether to remove it first.
        subjects: what to call arguments of the library that are no options, such as the name of a file.
    """
    fresh = not any(file.exists() for file in (checkpoint, previous(checkpoint)))
    if restart:
        remove_checkpoint(checkpoint)
    try:
        yield
    except CheckpointError as error:
        raise InputError(f"{error} --restart starts over.") from None
    except ValueError as error:
        raise in_options(command, error, subjects) from None
    except (KeyboardInterrupt, SystemExit) as stop:
        raise stopped(stop, _how_to_resume(checkpoint)) from None
    if restart and fresh:
        command.general.note(f"--restart: nothing to start over, as there was no {checkpoint}")


def save(model: Model, output: Path) -> None:
    """Save the model; its checkpoint is not needed any more."""
    model.save(output)
    remove_checkpoint(checkpoint_of(output))


def in_unit(unit: str | None) -> str:
    """Return ", in minutes": the unit of distances, if it is known."""
    return "" if unit is None else f", in {unit}"


def _how_to_resume(checkpoint: Path) -> str:
    if checkpoint.exists():
        return f"stopped; the same command resumes from {checkpoint}"
    return "stopped before the first checkpoint; nothing was written"
