"""A fast experiment for the tests of the frame; other processes import it by this name."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from reproduction.frame.experiment import Experiment, Result, Scale
from reproduction.frame.rows import Row, pick
from reproduction.frame.tables import Column, Table, summarize


@dataclass(frozen=True)
class Cell:
    size: int
    seed: int
    sizes: tuple[int, ...] = (1, 2)
    delay: float = 0.0


def results(cell: Cell) -> list[Result]:
    if cell.delay:
        time.sleep(cell.delay)
    if cell.size < 0:
        raise RuntimeError("a negative size")
    return [Result("mse", cell.size + cell.seed / 10, 5), Result("curve", [0.5, cell.size], 5)]


class Tiny(Experiment[Cell]):
    """Cells of three sizes; `--paper` has ten seeds, which take a twentieth of a second each."""

    name: ClassVar[str] = "tiny"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        delay = 0.05 if scale == "paper" else 0.0
        return [
            Cell(size, seed, delay=delay)
            for size in (1, 2, 3)
            for seed in seeds or range(10 if scale == "paper" else 2)
        ]

    def run(self, cell: Cell) -> list[Result]:
        return results(cell)

    def tables(self, rows: list[Row]) -> list[Table]:
        return [
            Table(
                label="tiny",
                title="Tiny",
                columns=[Column("MSE")],
                rows=["1", "2", "3"],
                cells={(str(size), "MSE"): summarize(pick(rows, "mse", {"size": size})) for size in (1, 2, 3)},
            )
        ]


class Slow(Tiny):
    """Takes a minute per cell, and creates a file when it starts."""

    name: ClassVar[str] = "slow"

    def run(self, cell: Cell) -> list[Result]:
        (Path(os.environ["TINY_LOG"]) / str(os.getpid())).touch()
        time.sleep(60)
        return results(cell)


class Batched(Tiny):
    """Runs all cells of a seed at once, and logs each call in the file that an environment variable names."""

    name: ClassVar[str] = "batched"

    def batches(self, cells: list[Cell]) -> list[list[Cell]]:
        seeds = dict.fromkeys(cell.seed for cell in cells)
        return [[cell for cell in cells if cell.seed == seed] for seed in seeds]

    def run_batch(self, cells: list[Cell]) -> list[list[Result]]:
        with Path(os.environ["TINY_LOG"]).open("a") as file:
            file.write(f"{len(cells)}\n")
        return [results(cell) for cell in cells]


class Deadly(Tiny):
    """The cell of size 3 kills the process that runs it."""

    name: ClassVar[str] = "deadly"

    def run(self, cell: Cell) -> list[Result]:
        if cell.size == 3:
            os._exit(1)
        return results(cell)


class Failing(Tiny):
    """One of its cells raises."""

    name: ClassVar[str] = "failing"

    def cells(self, scale: Scale, seeds: tuple[int, ...] | None) -> list[Cell]:
        return [*super().cells(scale, seeds), Cell(-1, 0)]
