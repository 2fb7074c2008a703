"""Run the cells that are not in the ledger yet."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reproduction.frame.executors import Executor
from reproduction.frame.experiment import Cell, Experiment, Result, key_of, settings, unique
from reproduction.frame.ledger import Ledger, Run
from trimetric._support.progress import WorkProgress


@dataclass(frozen=True)
class Outcome:
    """What a batch returned: the results of each cell, or the traceback."""

    cells: list[Any]
    results: list[list[Result]]
    seconds: float
    error: str | None = None


@dataclass(frozen=True)
class Batch:
    """A task for another process: an experiment and the cells that it runs at once."""

    experiment: Experiment[Any]
    cells: list[Any]


def run_batch(batch: Batch) -> Outcome:
    """Run a batch in a worker, with one thread; an error loses only this batch."""
    if "torch" in sys.modules:  # imported by the experiment, if it needs it
        sys.modules["torch"].set_num_threads(1)
    start = time.perf_counter()
    try:
        results = batch.experiment.run_batch(batch.cells)
        if len(results) != len(batch.cells) or not all(results):
            raise ValueError(f"run_batch: expected results for each of {len(batch.cells)} cells, got {results!r:.200}")
        json.dumps([asdict(result) for cell in results for result in cell])
    except Exception:
        return Outcome(batch.cells, [], time.perf_counter() - start, traceback.format_exc())
    return Outcome(batch.cells, results, time.perf_counter() - start)


@dataclass(frozen=True)
class Summary:
    """What a sweep did."""

    done: int
    """cells that ran now"""
    there: int
    """cells that were already in the ledger"""
    errors: list[str]
    """one text for each batch that failed"""


def sweep(
    experiment: Experiment[Any], cells: list[Any], ledger: Ledger, executor: Executor, *, silent: bool = False
) -> Summary:
    """Run the cells that are missing.

    This process writes each batch as soon as it is finished, so a sweep that is killed at any time can be resumed by
    calling it again.

    Args:
        experiment: what to run.
        cells: its runs; repeated ones count once.
        ledger: where the results are written.
        executor: where the cells run.
        silent: whether to show no progress.
    """
    cells = unique(cells)
    keys = ledger.keys()
    missing = [cell for cell in cells if key_of(experiment.name, cell) not in keys]
    batches = _batches(experiment, missing)
    version, commit = _version(), _commit()
    done, errors = 0, []
    there = len(cells) - len(missing)
    shown = "silent" if silent else "auto"
    with WorkProgress(experiment.name, len(cells), shown, unit="cells", known=there) as progress:
        progress.print_line(f"{experiment.name}: {len(cells)} cells, {there} of them already in the ledger", last=True)
        for outcome in executor.run(run_batch, [Batch(experiment, batch) for batch in batches]) if batches else ():
            if isinstance(outcome, BaseException):  # the worker died repeatedly
                errors.append(f"{type(outcome).__name__}: {outcome}")
                continue
            if outcome.error is not None:
                errors.append(f"{outcome.cells[0]}: {outcome.error}")
                progress.advance(0, text="failed")
                continue
            ledger.append(
                [
                    Run(
                        experiment=experiment.name,
                        key=key_of(experiment.name, cell),
                        settings=settings(cell),
                        results=results,
                        seconds=outcome.seconds / len(outcome.cells),
                        version=version,
                        commit=commit,
                    )
                    for cell, results in zip(outcome.cells, outcome.results, strict=True)
                ]
            )
            done += len(outcome.cells)
            progress.advance(len(outcome.cells))
    return Summary(done, there, errors)


def _batches(experiment: Experiment[Any], cells: list[Cell]) -> list[list[Cell]]:
    batches = [batch for batch in experiment.batches(cells) if batch]
    if sorted(map(repr, cells)) != sorted(repr(cell) for batch in batches for cell in batch):
        raise ValueError(f"{experiment.name}.batches: expected each of the {len(cells)} cells in exactly one batch")
    return batches


def _version() -> str:
    import trimetric

    return trimetric.__version__


def _commit() -> str:
    """The commit of this code, with a + if files were modified; empty outside a repository."""

    def git(*command: str) -> str:
        call = ["git", "-C", str(Path(__file__).parent), *command]
        return subprocess.run(call, check=True, capture_output=True, text=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ":(top)*.py")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return ""
