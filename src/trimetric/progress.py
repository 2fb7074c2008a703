"""Progress of training and of solving: a bar on a terminal, plain lines elsewhere, nothing on request."""

from __future__ import annotations

import math
import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LINE_SECONDS = 10.0


class TrainingProgress:
    """Shows steps and finished epochs of a run of `steps` steps."""

    def __init__(self, steps: int, *, silent: bool) -> None:
        self.silent = silent
        self.steps = steps
        self.console = Console(stderr=True)
        self.shown = time.monotonic()
        self.bar = Progress(
            TextColumn("training"),
            BarColumn(),
            TextColumn("{task.fields[text]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self.console,
            disable=silent or not self.console.is_terminal,
        )
        self.task = self.bar.add_task("training", total=steps, text="")

    def __enter__(self) -> TrainingProgress:
        self.bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.bar.stop()

    def advance(self, position: int) -> None:
        self.bar.update(self.task, completed=position)

    def finished(self, text: str, *, last: bool) -> None:
        """An epoch has ended; `text` sums it up."""
        self.bar.update(self.task, text=text)
        due = last or time.monotonic() - self.shown >= LINE_SECONDS
        if not self.silent and not self.console.is_terminal and due:
            self.shown = time.monotonic()
            self.console.print(text, highlight=False)


class GapProgress:
    """Shows a solver that closes a relative gap: the bar is the part of its digits that are there."""

    def __init__(self, tolerance: float, *, silent: bool) -> None:
        self.silent = silent
        self.digits = -math.log10(min(max(tolerance, 1e-16), 0.1))
        self.console = Console(stderr=True)
        self.shown = time.monotonic()
        self.bar = Progress(
            TextColumn("repairing"),
            BarColumn(),
            TextColumn("{task.fields[text]}"),
            TimeElapsedColumn(),
            console=self.console,
            disable=silent or not self.console.is_terminal,
        )
        self.task = self.bar.add_task("repairing", total=self.digits, text="")

    def __enter__(self) -> GapProgress:
        self.bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.bar.stop()

    def advance(self, gap: float, text: str) -> None:
        """A round has ended at this gap; `text` sums it up."""
        done = self.digits if gap <= 0 else min(max(-math.log10(gap), 0.0), self.digits)
        self.bar.update(self.task, completed=done, text=text)
        due = time.monotonic() - self.shown >= LINE_SECONDS
        if not self.silent and not self.console.is_terminal and due:
            self.shown = time.monotonic()
            self.console.print(text, highlight=False)
