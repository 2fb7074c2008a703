"""What the command line does, after its arguments have been read."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from reproduction.experiments import EXPERIMENTS, find_experiment
from reproduction.frame.executors import Cores, DaskCluster, Executor
from reproduction.frame.experiment import Scale
from reproduction.frame.ledger import Ledger
from reproduction.frame.selection import select_cells
from reproduction.frame.show import show


def ledger_of(name: str, results: Path) -> Ledger:
    return Ledger(results / f"{name}.jsonl")


def run(
    names: list[str],
    *,
    scale: Scale,
    seeds: tuple[int, ...] | None,
    only: tuple[str, ...] = (),
    resume: bool,
    jobs: int | None,
    dask: str | None,
    results: Path,
    out: Path,
) -> int:
    """Run experiments one after the other; gives the exit code."""
    from reproduction.frame.sweep import sweep  # imports torch, which `list` does without

    console, errors = Console(width=None if sys.stdout.isatty() else 150), Console(stderr=True)
    executor: Executor = DaskCluster(dask) if dask else Cores(jobs)
    failed = False
    for name in names:
        try:
            experiment = find_experiment(name).load()
        except (ImportError, AttributeError) as error:
            print(f"python -m reproduction: what: expected module:Class, got {name!r}: {error}", file=sys.stderr)
            return 2
        try:
            cells = select_cells(experiment.cells(scale, seeds), only)
        except ValueError as error:
            print(f"python -m reproduction: {error}", file=sys.stderr)
            return 2
        ledger = ledger_of(experiment.name, results)
        if not resume and (old := ledger.set_aside()) is not None:
            errors.print(f"The old ledger is now {old}", highlight=False)
        try:
            with _terminated_like_interrupted():
                summary = sweep(experiment, cells, ledger, executor)
        except KeyboardInterrupt:
            errors.print(f"Interrupted. What was finished is in {ledger.path}; the same command goes on from there.")
            return 130
        except ConnectionError as error:
            print(f"python -m reproduction: {error}", file=sys.stderr)
            return 2
        for text in summary.errors:
            errors.print(text, markup=False, highlight=False)
        if summary.errors:
            failed = True
            errors.print(f"{name}: {len(summary.errors)} failed; the same command tries them again", highlight=False)
        show(experiment, ledger.rows(), console, out)
    return 1 if failed else 0


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM ends a sweep as Ctrl-C does; by itself it would leave the other processes to finish their batches."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def show_list(results: Path) -> None:
    table = Table()
    for column in ("experiment", "what it is", "makes", "runs in the ledger"):
        table.add_column(column, justify="right" if column.startswith("runs") else "left")
    for name, entry in EXPERIMENTS.items():
        runs = len(ledger_of(name, results).keys())
        table.add_row(name, entry.about, "\n".join(entry.sections), str(runs))
    Console().print(table)


def write_report(results: Path, page: Path) -> None:
    from reproduction.report.page import write_page

    write_page(EXPERIMENTS, results, page)
    Console().print(f"Wrote {page} ({page.stat().st_size / 1024:.0f} KiB)", highlight=False, soft_wrap=True)
