"""Progress of long work on graphs: a bar on a terminal, plain lines elsewhere, nothing on request."""

from __future__ import annotations

import time
from typing import Any, Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

LINE_SECONDS = 10.0

Shown = Literal["auto", "silent"]


class WorkProgress:
    """Shows how many of `total` things are done, and the time that is left."""

    def __init__(self, name: str, total: int, shown: Shown) -> None:
        self.name, self.total, self.done, self.fresh = name, total, 0, 0
        self.console = Console(stderr=True)
        self.lines = shown == "auto" and not self.console.is_terminal
        self.start = self.told = time.monotonic()
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[text]}"),
            console=self.console,
            disable=shown == "silent" or not self.console.is_terminal,
        )
        self.task = self.bar.add_task(name, total=total, text="")

    def __enter__(self) -> WorkProgress:
        self.bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.bar.stop()

    def advance(self, count: int, *, known: bool = False) -> None:
        """So many more are done; those that were `known` before took no time, and say nothing about what is left."""
        self.done += count
        self.fresh += 0 if known else count
        now = time.monotonic()
        left = (now - self.start) * (self.total - self.done) / self.fresh if self.fresh else 0.0
        text = f"{_clock(now - self.start)} gone, about {_clock(left)} left"
        self.bar.update(self.task, completed=self.done, text=text)
        if self.lines and now - self.told >= LINE_SECONDS:
            self.told = now
            self.console.print(f"{self.name}: {self.done:,} of {self.total:,}, {text}", highlight=False)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
