"""Runs a module as `python -m` would, and kills its own process group just before its n-th change of a file.

    python runner.py MODULE [ARGUMENT ...]

A poll from outside can hardly hit the moment between two renames; Python's audit events stand exactly there.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from pathlib import Path

KILL_AT = "CHAOS_KILL_AT"
"""environment variable: the number of the change to be killed at, from 1; 0 for none"""
COUNT_FILE = "CHAOS_COUNT_FILE"
"""environment variable: where to write how many changes there were"""
CHECKPOINT_SECONDS = "CHAOS_CHECKPOINT_SECONDS"
"""environment variable: time between checkpoints, far below what suits a user"""

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
CHANGES = ("os.rename", "os.link", "os.remove", "os.truncate")


class Changes:
    """Counts the changes of files in a folder; as an audit hook it is called before each."""

    def __init__(self, folder: Path, kill_at: int) -> None:
        self.folder = str(folder.resolve()) + os.sep
        self.kill_at = kill_at
        self.count = 0

    def __call__(self, event: str, details: tuple[object, ...]) -> None:
        if event in CHANGES or (event == "open" and isinstance(details[2], int) and details[2] & WRITING):
            file = details[0]
            inside = isinstance(file, (str, os.PathLike)) and os.path.abspath(file).startswith(self.folder)
            if inside or event == "os.truncate":  # of which only the number of the open file is known
                self.count += 1
                if self.count == self.kill_at:
                    os.killpg(os.getpgrp(), signal.SIGKILL)


def often(seconds: float) -> None:
    """Make this time between checkpoints the default."""
    from trimetric.training.config import TrainingConfig

    usual = TrainingConfig.__init__

    def init(self: TrainingConfig, **settings: object) -> None:
        usual(self, **{"checkpoint_seconds": seconds, **settings})  # type: ignore[arg-type]

    TrainingConfig.__init__ = init  # type: ignore[method-assign]


def main() -> None:
    module, *arguments = sys.argv[1:]
    if seconds := os.environ.get(CHECKPOINT_SECONDS):
        often(float(seconds))
    changes = Changes(Path.cwd(), int(os.environ.get(KILL_AT, "0")))
    sys.argv = [module, *arguments]
    sys.addaudithook(changes)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        if file := os.environ.get(COUNT_FILE):
            Path(file).write_text(str(changes.count))


if __name__ == "__main__":
    if os.getpgrp() != os.getpid():
        sys.exit("runner.py: expected to lead a process group of its own, since it kills all of it")
    main()
