"""Progress of a sweep: a bar on a terminal, plain lines elsewhere, nothing on request."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

LINE_SECONDS = 10.0


class SweepProgress:
    """Shows how many cells are there, of which some were before, and the time that is left."""

    def __init__(self, name: str, cells: int, there: int, *, silent: bool) -> None:
        self.name = name
        self.cells = cells
        self.there = there
        self.done = 0
        self.console = Console(stderr=True)
        self.lines = not silent and not self.console.is_terminal
        self.start = self.shown = time.monotonic()
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[text]}"),
            console=self.console,
            disable=silent or not self.console.is_terminal,
        )
        self.task = self.bar.add_task(name, total=cells, completed=there, text="")

    def __enter__(self) -> SweepProgress:
        self.bar.start()
        if self.lines:
            self.console.print(
                f"{self.name}: {self.cells} cells, {self.there} of them already in the ledger", highlight=False
            )
        return self

    def __exit__(self, *_: Any) -> None:
        self.bar.stop()

    def advance(self, cells: int, text: str = "") -> None:
        """Some cells are finished."""
        self.done += cells
        now, left = time.monotonic(), self.cells - self.there - self.done
        seconds = (now - self.start) * left / self.done if self.done else float("nan")
        text = text or f"{_clock(now - self.start)} gone, about {_clock(seconds)} left"
        self.bar.update(self.task, completed=self.there + self.done, text=text)
        if self.lines and (left == 0 or now - self.shown >= LINE_SECONDS):
            self.shown = now
            self.console.print(f"{self.name}: {self.there + self.done} of {self.cells} cells, {text}", highlight=False)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
