"""Defer Ctrl-C and SIGTERM to a safe moment, so that no results are lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def deferred_signals(
    active: bool = True, *, noted_at_once: Callable[[int], object] | None = None
) -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM are noted in the list, for the loop to see after its step; a second one acts at once.

    Python lets only the main thread handle signals: in any other, and where not `active`, nothing is changed.

    Args:
        active: whether to do this at all.
        noted_at_once: called with the number of the signal in the moment when it comes.
    """
    noted: list[int] = []
    if not active or threading.current_thread() is not threading.main_thread():
        yield noted
        return
    before: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, _: object) -> None:
        noted.append(number)
        for each, handler in before.items():
            signal.signal(each, handler)
        if noted_at_once is not None:
            noted_at_once(number)

    # Whoever started this process may have asked for signals to be ignored (nohup).
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, note)
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
