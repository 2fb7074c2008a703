"""Progress of long work: a bar on a terminal, plain lines elsewhere, nothing on request."""

from __future__ import annotations

import math
import time
from typing import Any, Literal, Self, get_args

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from trimetric._support import checks

LINE_SECONDS = 10.0
TEXT = "{task.fields[text]}"

Shown = Literal["auto", "silent"]


class _Console(Console):
    """On standard error; once its reader is gone, the work continues without output."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


class _Bar:
    """A bar of `total`; where there is no terminal, a line every ten seconds."""

    def __init__(self, name: str, total: float, *columns: ProgressColumn, silent: bool, completed: int = 0) -> None:
        self.console = _Console(stderr=True)
        self.lines = not silent and not self.console.is_terminal
        self.start = self.told = time.monotonic()
        hidden = silent or not self.console.is_terminal
        self.bar = Progress(TextColumn(name), BarColumn(), *columns, console=self.console, disable=hidden)
        self.task = self.bar.add_task(name, total=total, completed=completed, text="")

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.bar.stop()

    def print_line(self, text: str, *, last: bool = False) -> None:
        """Where there is no terminal, and the last line was long ago or this is the last one."""
        if self.lines and (last or time.monotonic() - self.told >= LINE_SECONDS):
            self.told = time.monotonic()
            self.console.print(text, highlight=False, soft_wrap=True)


class TrainingProgress(_Bar):
    """Shows steps and finished epochs of a run of `steps` steps."""

    def __init__(self, steps: int, *, silent: bool) -> None:
        times = TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()
        super().__init__("training", steps, TextColumn(TEXT), *times, silent=silent)

    def advance(self, position: int) -> None:
        self.bar.update(self.task, completed=position)

    def finished(self, text: str, *, last: bool) -> None:
        """An epoch has ended; `text` sums it up."""
        self.bar.update(self.task, text=text)
        self.print_line(text, last=last)


class GapProgress(_Bar):
    """Shows a solver that closes a relative gap: the bar is the part of its digits that are there."""

    def __init__(self, tolerance: float, *, silent: bool) -> None:
        self.digits = -math.log10(min(max(tolerance, 1e-16), 0.1))
        super().__init__("repairing", self.digits, TextColumn(TEXT), TimeElapsedColumn(), silent=silent)

    def advance(self, gap: float, text: str) -> None:
        """A round has ended at this gap; `text` sums it up."""
        done = self.digits if gap <= 0 else min(max(-math.log10(gap), 0.0), self.digits)
        self.bar.update(self.task, completed=done, text=text)
        self.print_line(text)


class WorkProgress(_Bar):
    """Shows how many of `total` things are done, and the time that is left.

    Those that are `known` (there before, or found in a cache) took no time, and say nothing about what is left.
    """

    def __init__(self, name: str, total: int, shown: Shown, *, unit: str = "", known: int = 0) -> None:
        checks.one_of("progress", shown, get_args(Shown))
        self.name, self.total, self.done, self.fresh = name, total, known, 0
        self.unit = f" {unit}" if unit else ""
        columns = MofNCompleteColumn(), TextColumn(TEXT)
        super().__init__(name, total, *columns, silent=shown == "silent", completed=known)

    def advance(self, count: int, *, known: bool = False, text: str = "") -> None:
        """Advance the bar by `count`; `text` replaces the times, and `known` items do not count for the estimate."""
        self.done += count
        self.fresh += 0 if known else count
        gone = time.monotonic() - self.start
        left = gone * (self.total - self.done) / self.fresh if self.fresh else 0.0
        text = text or f"{_clock(gone)} gone, about {_clock(left)} left"
        self.bar.update(self.task, completed=self.done, text=text)
        self.print_line(
            f"{self.name}: {self.done:,} of {self.total:,}{self.unit}, {text}", last=self.done == self.total
        )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
