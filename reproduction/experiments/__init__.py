"""The experiments: each folder declares its own in its `__init__.py`, and they are found there.

They import from `reproduction.frame` and `reproduction.data`, never from each other.
"""

from __future__ import annotations

from reproduction.frame.registry import Entry, discover

EXPERIMENTS: dict[str, Entry] = discover(__name__)
"""all experiments by name"""


def find_experiment(name: str) -> Entry:
    """Look up an experiment.

    Args:
        name: one of `EXPERIMENTS`, or `module:Class` for an experiment of your own.

    Raises:
        KeyError: if `name` is neither.
    """
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    if ":" in name:
        return Entry(name, name)
    raise KeyError(name)
