"""What every reader of a file promises, and one attempt to break it.

A valid result, or one printable line that names the file; nothing written; in bounded time and memory.
"""

from __future__ import annotations

import contextlib
import io
import re
import resource
import signal
import traceback
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

from trimetric.files.errors import InputError

SECONDS = 5.0
MEMORY = 1 << 30
UNPRINTABLE, REORDERING = ("Cc", "Cs", "Zl", "Zp"), "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
LONGEST_MESSAGE = 450  # characters beside the name of the file

Mutation = Callable[[bytes, Random], bytes]


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A reader, files that it accepts, and ways to change them.

    Args:
        name: how reports call it.
        file: the name of the file that is fuzzed.
        seeds: makes valid files, small ones.
        call: reads the file.
        check: raises an AssertionError where a result is not valid.
        mutations: from a valid file to a strange one.
        refusals: the exceptions by which the reader may refuse a file.
        command: words of the command line that reads the file and refuses what the reader refuses; `{file}` and
            `{folder}` are replaced.
        prepare: writes other files that the reader needs into the folder.
        names_file: whether a refusal must name the file.
    """

    name: str
    file: str
    seeds: Callable[[], list[bytes]]
    call: Callable[[Path], object]
    check: Callable[[object], None]
    mutations: tuple[Mutation, ...]
    refusals: tuple[type[Exception], ...] = (InputError,)
    command: tuple[str, ...] = ()
    prepare: Callable[[Path], None] | None = None
    names_file: bool = True


@dataclass(frozen=True)
class Outcome:
    """What came of an input.

    Args:
        kind: an escape is a broken promise.
        signature: the same for inputs that do the same, as far as can be told.
        detail: the message, or the traceback of an escape.
    """

    kind: Literal["accepted", "refused", "escape"]
    signature: str
    detail: str = ""


class TooSlow(BaseException):
    """Raised by the alarm; no handler of the reader may catch it."""


def attempt(reader: Reader, data: bytes, folder: Path, *, command_line: bool = False) -> Outcome:
    """Let the reader read the bytes from a file in the folder."""
    file = folder / reader.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    before = _contents(folder)
    try:
        with warnings.catch_warnings(), _alarm(SECONDS):
            warnings.simplefilter("error")  # on a terminal they are lines that nobody asked for
            reader.check(reader.call(file))
        outcome = Outcome("accepted", "accepted")
    except reader.refusals as error:
        outcome = _refused(reader, str(error), folder)
        if command_line and reader.command and outcome.kind == "refused":
            outcome = _through_command_line(reader, file, folder) or outcome
    except TooSlow:
        outcome = Outcome("escape", "too slow", f"more than {SECONDS:g} s of processor time\n{traceback.format_exc()}")
    except Exception as error:
        outcome = Outcome("escape", _signature(error), traceback.format_exc())
    if _contents(folder) != before:
        changed = sorted(set(_contents(folder)) ^ set(before)) or "a file that was there"
        return Outcome("escape", "wrote", f"the folder changed: {changed} ({outcome.detail})")
    return outcome


def _refused(reader: Reader, message: str, folder: Path) -> Outcome:
    plain = message.replace(str(folder), "").replace(reader.file, "")
    # One template for all messages that differ in values alone.
    template = re.sub(r"'.*'|\".*\"|\(.*\)|[-+]?\d[\d.,e+-]*", "_", plain)[:120]
    wrong = None
    if any(unicodedata.category(c) in UNPRINTABLE or c in REORDERING for c in message):
        wrong = "unprintable"
    elif len(plain) > LONGEST_MESSAGE:
        wrong = "long"
    elif reader.names_file and reader.file.rpartition("/")[2] not in message:
        wrong = "nameless"
    elif "pickle" in message:
        wrong = "advice to load pickles"
    return Outcome("escape", f"{wrong} message: {template}", repr(message)) if wrong else Outcome("refused", template)


def _through_command_line(reader: Reader, file: Path, folder: Path) -> Outcome | None:
    from trimetric.cli import main

    words = [word.format(file=file, folder=folder) for word in reader.command]
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        code = main(words)
    lines = complained.getvalue().splitlines()
    if code != 2 or len(lines) != 1 or not lines[0].startswith("error: "):
        return Outcome("escape", f"command line: exit code {code}", "\n".join([" ".join(words), *lines]))
    return None


def _signature(error: Exception) -> str:
    """The exception and the innermost line of the project that it passed through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "site-packages" not in frame.filename]
    inside = [frame for frame in frames if "/fuzz/" not in frame.filename] or frames
    return f"{type(error).__name__} in {Path(inside[-1].filename).name}:{inside[-1].name}:{inside[-1].lineno}"


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Rings after so much processor time, so that a busy machine does not count against a reader."""

    def ring(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def limited_memory(extra: int = MEMORY) -> Iterator[None]:
    """At most `extra` bytes of address space beyond what the process has; more is a MemoryError, an escape."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + extra, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
