"""The commands: run experiments, list them, write the report."""

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
    """Open the ledger of an experiment in the folder `results`."""
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
    """Run experiments one after another, and print their tables.

    Args:
        names: experiments by name, or `module:Class`.
        scale: the budget.
        seeds: replaces the seeds of the budget.
        only: run only cells with these settings, each `NAME=VALUE` or `NAME=VALUE,VALUE`.
        resume: skip the runs that are in the ledger; otherwise the ledger is set aside.
        jobs: processes on this machine; one per core by default.
        dask: address of a Dask scheduler, to run on its workers instead.
        results: folder of the ledgers.
        out: folder for the figures.

    Returns:
        The exit code: 1 if a cell failed, 2 for a wrong argument, 130 after an interruption.
    """
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
            errors.print(f"Interrupted. Finished runs are in {ledger.path}; the same command resumes from there.")
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
    """Let SIGTERM end a sweep as Ctrl-C does; by default, the other processes would first finish their batches."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def show_list(results: Path) -> None:
    """Print the experiments, and how many runs their ledgers in `results` have."""
    table = Table()
    for column in ("experiment", "what it is", "makes", "runs in the ledger"):
        table.add_column(column, justify="right" if column.startswith("runs") else "left")
    for name, entry in EXPERIMENTS.items():
        runs = len(ledger_of(name, results).keys())
        table.add_row(name, entry.about, "\n".join(entry.sections), str(runs))
    Console().print(table)


def write_report(results: Path, page: Path) -> None:
    """Write the report of the ledgers in `results` to `page`."""
    from reproduction.report.page import write_page

    write_page(EXPERIMENTS, results, page)
    Console().print(f"Wrote {page} ({page.stat().st_size / 1024:.0f} KiB)", highlight=False, soft_wrap=True)
