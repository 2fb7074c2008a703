"""The command as a process: signals, closed streams and readers that leave."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn, TextIO


class Stopped(KeyboardInterrupt):
    """Ctrl-C or SIGTERM, with a message for the user.

    Not a plain KeyboardInterrupt: after one has passed through `exec`, the interpreter ends by killing itself with
    SIGINT, whatever the exit code.
    """

    def __init__(self, message: str = "stopped", *, number: int = signal.SIGINT) -> None:
        super().__init__(message)
        self.code = 128 + number


def stopped(by: KeyboardInterrupt | SystemExit, message: str) -> Stopped:
    """Return the exception for a training run that a signal has stopped, with a message for the user.

    Args:
        by: what the run raised: SystemExit after SIGTERM.
        message: for the user.
    """
    terminated = by.code == 128 + signal.SIGTERM if isinstance(by, (Stopped, SystemExit)) else False
    return Stopped(message, number=signal.SIGTERM if terminated else signal.SIGINT)


@contextmanager
def own_process() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM raise `Stopped`; a second one, or one during an import, ends the process at once.

    An exception cannot interrupt an import: NumPy and torch catch every exception while they load, and then fail in
    other ways ("maximum recursion depth exceeded").

    Threads of torch are told to sleep while they wait for each other, before torch is loaded.  Otherwise they keep
    their cores busy, and beside other work, a command takes many times as long.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    _open_closed_streams()
    asked: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        if asked or _importing(frame):
            _exit_at_once(128 + number)
        asked.append(number)
        raise Stopped(number=number)

    before: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handled = [number for number, handler in before.items() if handler != signal.SIG_IGN]  # nohup, or a script's &
    for number in handled:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in handled:  # what is left is the interpreter's shutdown
            signal.signal(number, signal.SIG_DFL)


def _open_closed_streams() -> None:
    """Open streams that the shell has closed (>&-) to nowhere; otherwise the next file would get their number."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _exit_at_once(code: int) -> NoReturn:
    tell_now("stopped")
    os._exit(code)


def tell_now(text: str) -> None:
    """Write a line to standard error from within a signal handler, where print may be interrupting itself."""
    with suppress(OSError):
        os.write(2, f"{text}\n".encode())


def flush() -> None:
    """Write out what was printed, while an error can still be reported."""
    sys.stdout.flush()
    sys.stderr.flush()


def mute(stream: TextIO) -> None:
    """Discard the rest of what is printed: the reader of a pipe, such as head, has left."""
    with suppress(OSError, ValueError):  # no file, as in tests
        number = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
