"""All readers by name."""

from __future__ import annotations

import contextlib
from importlib import import_module

from .graph_readers import GRAPH_READERS
from .reader import Reader
from .state_readers import STATE_READERS
from .table_readers import TABLE_READERS

READERS: dict[str, Reader] = {reader.name: reader for reader in (*TABLE_READERS, *GRAPH_READERS, *STATE_READERS)}


LATE = (
    "osmium",
    "pyarrow.parquet",
    "reproduction.frame.ledger",
    "scipy.sparse.csgraph",
    "trimetric.cli.fit",
    "trimetric.cli.info",
    "trimetric.cli.repair",
    "trimetric.cli.report",
    "trimetric.cli.rl_fit",
    "trimetric.cli.training",
    "trimetric.cli.values_fit",
    "trimetric.rl.learning.goal_distance",
    "trimetric.rl.worlds.environment",
    "tyro",
)


def warm_up() -> None:
    """Import what readers import late, so that no input seems slow, and processes need not do it again."""
    for module in LATE:
        with contextlib.suppress(ImportError):
            import_module(module)
