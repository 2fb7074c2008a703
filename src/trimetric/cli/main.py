"""From the arguments of a command line to an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import trimetric
from trimetric._support.optional import MissingExtraError
from trimetric._support.printable import printable
from trimetric.cli.process import Stopped, flush, mute, own_process
from trimetric.files.errors import InputError

# A sub-command is a line here and a file of its name beside this one, with a dataclass of its options by the same name,
# capitalized, that has the field `general: General` (or one of its kinds) and a `run` that returns the exit code:
# `values fit` is `values_fit.py` and `ValuesFit`.  Its table `effects` says which options have an effect in which mode.
COMMANDS = {
    "example": "write a small city with one-way streets to try the other commands on",
    "fit": "learn a distance from pairs, a matrix or a graph",
    "predict": "predict distances between objects, and find the nearest ones",
    "audit": "measure whether a model or a matrix keeps the triangle inequality",
    "info": "show what is in a model file",
    "embed": "write the points of objects",
    "index build": "build an index that finds nearest objects without comparing with all",
    "export": "export a model to ONNX or torch.export",
    "matrix": "compute travel times and lengths between places on a road map",
    "repair": "find the nearest matrix that keeps the triangle inequality",
    "metrize": "turn a model or scores into a distance that keeps the triangle inequality",
    "serve": "answer travel times over HTTP, in OSRM's format, with a map page",
    "rl fit": "learn from logged episodes how far goals are, and a policy that walks to them",
    "rl evaluate": "let a policy act in a world until its goals are reached",
    "rl diagnose": "measure what a learned distance got wrong, on logged episodes",
    "values fit": "learn how far goals are, from logged transitions",
    "values plan": "walk to goals by what was learned",
}

OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
HELP = ("-h", "--help", "help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: of the command; by default those of the process, and then signals are handled too.

    Returns:
        The exit code: 0 for success, 1 for a failure or a broken promise, 2 for bad input or usage or a missing extra,
        130 after Ctrl-C and 143 after SIGTERM.
    """
    with own_process() if arguments is None else nullcontext():
        try:
            code = _outcome(list(sys.argv[1:] if arguments is None else arguments))
            flush()
            return code
        except BrokenPipeError:
            mute(sys.stdout)
            mute(sys.stderr)
            return OK
        except KeyboardInterrupt as stop:
            return _fail(str(stop) or "stopped", stop.code if isinstance(stop, Stopped) else INTERRUPTED)
        except OSError as error:  # standard output cannot be written to, as on a full disk
            mute(sys.stdout)
            return _fail(_one_line(error), FAILED)


def _outcome(words: list[str]) -> int:
    if words and words[0] == "help":
        words = [*words[1:], "--help"]
    if not words or words[0] in HELP:
        print(_overview(COMMANDS), file=sys.stdout if words else sys.stderr)
        return OK if words else BAD_INPUT
    if words[0] == "--version":
        print(f"trimetric {trimetric.__version__}")
        return OK
    if words[0] == "--completion":
        return _print_completion(words[1:])
    group = {name: summary for name, summary in COMMANDS.items() if name.startswith(f"{words[0]} ")}
    if group and (len(words) == 1 or words[1] in HELP):
        print(_overview(group), file=sys.stdout if len(words) > 1 else sys.stderr)
        return OK if len(words) > 1 else BAD_INPUT
    length = 1 if words[0] in COMMANDS else 2
    name = " ".join(words[:length])
    if name not in COMMANDS:
        got = name if group else words[0]
        return _fail(f"expected one of {', '.join(COMMANDS)}, got {got!r}; see trimetric --help", BAD_INPUT)
    try:
        command = _parsed(name, words[length:])
    except SystemExit as stop:  # --help, or a message about the usage that is already printed
        return int(stop.code or OK)
    return _run(command)


def _overview(commands: dict[str, str]) -> str:
    listed = "\n".join(f"  {name:<11} {summary}" for name, summary in commands.items())
    if len(commands) < len(COMMANDS):
        first = next(iter(commands))
        return f"""usage: trimetric {first.split()[0]} COMMAND ...

commands:
{listed}

Each has examples: trimetric {first} --help"""
    return f"""usage: trimetric [--version] [--completion SHELL] COMMAND ...

Learned distances that can never break the triangle inequality.

commands:
{listed}

Each has examples: trimetric fit --help
To start: trimetric example
To complete words with the Tab key: trimetric --completion bash, zsh or fish prints a script for the shell"""


def _print_completion(words: list[str]) -> int:
    from trimetric.cli.completion import SHELLS, completion_script

    if len(words) != 1 or words[0] not in SHELLS:
        got = repr(" ".join(words)) if words else "nothing"
        return _fail(f"--completion: expected one of {', '.join(SHELLS)}, got {got}", BAD_INPUT)
    print(completion_script(words[0], COMMANDS))
    return OK


def _parsed(name: str, words: list[str]) -> Any:
    from inspect import getdoc

    import tyro

    from trimetric.cli.effects import with_given
    from trimetric.cli.option_table import command_class

    options = command_class(name)
    if {"-h", "--help"} & set(words):
        print(getdoc(options), end="\n\n")  # tyro would join the lines
    command = tyro.cli(
        options,
        prog=f"trimetric {name}",
        args=words,
        description="",
        config=(tyro.conf.FlagCreatePairsOff, tyro.conf.OmitArgPrefixes),
    )
    return with_given(command, words)


def _run(command: Any) -> int:
    from trimetric.cli.effects import refuse_without_effect

    try:
        refuse_without_effect(command)
        command.general.check()
        return command.run()
    except (InputError, MissingExtraError) as error:
        return _fail(str(error), BAD_INPUT)
    except BrokenPipeError:  # for `main`, as at every other moment
        raise
    except (OSError, ImportError, MemoryError, RuntimeError) as error:
        return _fail(_one_line(error), FAILED)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _fail(message: str, code: int) -> int:
    line = printable(message)
    stopped = code not in (FAILED, BAD_INPUT)
    try:
        print(line if stopped else f"error: {line}", file=sys.stderr, flush=True)
    except OSError:  # nobody reads it, but the exit code is right
        mute(sys.stderr)
    return code
