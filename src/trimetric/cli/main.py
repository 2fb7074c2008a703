"""From the words of a command line to an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from inspect import getdoc
from typing import Any

import trimetric
from trimetric.tables.errors import InputError

# A sub-command is a line here and a file of its name beside this one, with a dataclass of its options by the same name,
# capitalised, that has the field `general: General` and a `run` that returns the exit code: `values fit` is
# `values_fit.py` and `ValuesFit`.
COMMANDS = {
    "example": "write a small city with one-way streets to try the others on",
    "fit": "learn a distance from pairs, a matrix or a graph",
    "predict": "distances between objects, and nearest ones",
    "audit": "measure whether a model keeps what it promises",
    "info": "what is in a model file",
    "export": "a model as ONNX or as a program of torch.export",
    "repair": "the nearest matrix that keeps the triangle inequality",
    "values fit": "learn how far goals are, from logged transitions",
    "values plan": "walk to goals by what was learned",
}

OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 is success, 1 a failure or a broken promise, 2 bad input or usage."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help", "help"):
        print(_overview(), file=sys.stdout if words else sys.stderr)
        return OK if words else BAD_INPUT
    if words[0] == "--version":
        print(f"trimetric {trimetric.__version__}")
        return OK
    length = 1 if words[0] in COMMANDS else 2
    name = " ".join(words[:length])
    if name not in COMMANDS:
        grouped = any(command.startswith(f"{words[0]} ") for command in COMMANDS)
        got = name if grouped else words[0]
        return _fail(f"expected one of {', '.join(COMMANDS)}, got {got!r}; see trimetric --help", BAD_INPUT)
    try:
        command = _parsed(name, words[length:])
    except SystemExit as stop:  # --help, or a message about the usage that is already printed
        return int(stop.code or OK)
    return _run(command)


def _overview() -> str:
    listed = "\n".join(f"  {name:<11} {summary}" for name, summary in COMMANDS.items())
    return f"""usage: trimetric [--version] COMMAND ...

Learned distances that can never break the triangle inequality.

commands:
{listed}

Each explains itself by example: trimetric fit --help
To begin: trimetric example"""


def _parsed(name: str, words: list[str]) -> Any:
    import tyro

    module = import_module(f"trimetric.cli.{name.replace(' ', '_')}")
    options = getattr(module, name.title().replace(" ", ""))
    if {"-h", "--help"} & set(words):
        print(getdoc(options), end="\n\n")  # tyro would join the lines
    return tyro.cli(
        options,
        prog=f"trimetric {name}",
        args=words,
        description="",
        config=(tyro.conf.FlagCreatePairsOff, tyro.conf.OmitArgPrefixes),
    )


def _run(command: Any) -> int:
    try:
        command.general.check()
        code = command.run()
        sys.stdout.flush()
        return code
    except InputError as error:
        return _fail(str(error), BAD_INPUT)
    except KeyboardInterrupt as stop:
        return _fail(str(stop) or "stopped", INTERRUPTED)
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (OSError, ImportError, MemoryError, RuntimeError) as error:
        return _fail(" ".join(str(error).split()) or type(error).__name__, FAILED)


def _fail(message: str, code: int) -> int:
    print(message if code == INTERRUPTED else f"error: {message}", file=sys.stderr)
    return code
