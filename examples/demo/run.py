"""The demo from start to end: each part computed, printed, and put on the page."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid

from examples.demo import four_nodes, pictures, tables
from examples.demo.city_data import make_city
from examples.demo.city_models import HEADS, learn_city
from examples.demo.costs import compare_costs
from examples.demo.page import Content, write_page
from examples.demo.repair import repair_times
from trimetric.nearness import write_matrix


@dataclass(frozen=True, kw_only=True)
class Demo:
    """Fit four nodes, learn a one-way city from its CSV, repair a matrix, and write a page about it."""

    out: Path = Path("out/demo")
    """folder for the page and the files that it mentions"""
    steps: int = 700
    """Adam steps of each fit of the four nodes"""
    starts: int = 3
    """random starts of each of these fits"""
    epochs: int = 100
    """passes over the pairs of the city"""
    rates: tuple[float, ...] = (0.02, 0.006, 0.002)
    """learning rates to try for each model of the city"""
    held_out: float = 0.1
    """share of the pairs of the city that no model sees"""
    places: int = 20
    """places of the matrix to repair"""
    noise: float = 0.2
    """standard deviation of the logarithm of its measurements"""
    seed: int = 0
    """seed of data and training"""

    def run(self) -> Path:
        """Run the demo.

        Returns:
            The page.
        """
        console, start = Console(highlight=False), time.perf_counter()
        self.out.mkdir(parents=True, exist_ok=True)

        console.print("\n[bold]1. Four nodes that no Euclidean space can hold[/bold]")
        fits = {}
        for name in four_nodes.MODELS:
            console.print(f"   fitting {name}, {self.starts} x {self.steps:,} steps")
            fits[name] = four_nodes.fit_plane(name, steps=self.steps, starts=self.starts)
        plane_tables = tables.plane_tables(fits)
        _print(console, plane_tables)

        console.print("\n[bold]2. A one-way city, learned from a CSV[/bold]")
        city = make_city(self.out / "city", held_out=self.held_out, seed=self.seed)
        console.print(
            f"   {city.file}: {len(city.names)} crossings, {len(city.minutes):,} pairs; "
            f"{int(city.tested.sum())} of them are set aside"
        )
        models = {}
        for name, head in HEADS.items():
            console.print(f"   training {name}, {len(self.rates)} x {self.epochs} epochs")
            models[name] = learn_city(city, head, epochs=self.epochs, rates=self.rates, seed=self.seed)
        saved = models["Wide Norm"].learned.model.save(self.out / "city" / "model.safetensors")
        city_tables, audits = tables.city_tables(city, models), tables.audit_table(models)
        _print(console, [*city_tables, audits])

        console.print("\n[bold]3. Measured travel times, repaired[/bold]")
        repair = repair_times(city, places=self.places, noise=self.noise, seed=self.seed)
        measured = self.out / "times.csv"
        write_matrix(measured, repair.measured.matrix)
        repair_tables = tables.repair_tables(repair)
        _print(console, repair_tables)
        console.print(
            f"   certificate: squared change {repair.result.objective:.4f}; no metric has less than "
            f"{repair.result.lower_bound:.4f}"
        )

        page = write_page(
            self.out / "index.html",
            Content(
                fits=fits,
                plane_tables=plane_tables,
                plane_pictures=pictures.plane_pictures(fits),
                city=city,
                models=models,
                city_tables=city_tables,
                audits=audits,
                city_map=pictures.city_map(city),
                city_pictures=pictures.city_pictures(city, models),
                cost=compare_costs(city, models["Wide Norm"]),
                model_file=saved,
                repair=repair,
                repair_tables=repair_tables,
                repair_pictures=pictures.repair_pictures(repair),
                matrix_file=measured,
                settings={name: str(value) for name, value in vars(self).items() if name != "out"},
                seconds=time.perf_counter() - start,
            ),
        )
        console.print(f"\nAll of it, with pictures, took {time.perf_counter() - start:.0f} s.  Open this page:")
        print(page.resolve(), flush=True)  # by itself, so that no console wraps it
        return page


def _print(console: Console, parts: list[tables.Table]) -> None:
    for table in parts:
        grid = Grid(title=table.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
        for place, column in enumerate(table.columns):
            label = place < table.labels
            grid.add_column(column, justify="left" if label else "right", no_wrap=label)
        for row in table.rows:
            grid.add_row(*row)
        console.print(grid)
