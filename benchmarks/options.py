"""The options of `python -m benchmarks`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

RESULTS = Path(__file__).parent / "results.json"


class Listed(Protocol):
    """What the help and the choice of benchmarks need to know of one."""

    @property
    def about(self) -> str: ...
    @property
    def by_default(self) -> bool: ...
    @property
    def quick_by_default(self) -> bool: ...


def parse_options(benchmarks: Mapping[str, Listed], about: str | None) -> argparse.Namespace:
    """Read the options of the command line.

    Args:
        benchmarks: by the name that chooses one.
        about: the first lines of the help.
    """
    width = max(map(len, benchmarks))
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=f"{about}\n\nbenchmarks:\n"
        + "\n".join(f"  {name:{width}}  {benchmark.about}" for name, benchmark in benchmarks.items()),
        epilog="examples:\n  python -m benchmarks step\n  python -m benchmarks pairwise --quick",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "what", nargs="*", help="benchmarks to run; by default all but those that are only run if named"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="small sizes, one seed, short measurements; by default only the hot paths, which takes about two minutes",
    )
    parser.add_argument(
        "--budget",
        type=float,
        help="seconds for each cell of pairwise, interval and torchqmet (default 3, quick 0.5); slow cells need 45",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        help='rows of pairwise, data of nearness, or graphs of large to measure, such as "DN 3x600"',
    )
    parser.add_argument("--batches", nargs="+", type=int, metavar="N", help="mini-batch sizes of pairwise")
    parser.add_argument(
        "--map",
        type=Path,
        metavar="FILE",
        help="an .osm.pbf file to add to the graphs; for search also a model of one",
    )
    parser.add_argument("--picture", type=Path, metavar="FILE", help="where nearness or search draws its growth")
    parser.add_argument(
        "--sizes", nargs="+", type=int, metavar="N", help="numbers of objects of nearness, or of points of search"
    )
    parser.add_argument("--minutes", type=float, metavar="M", help="length of serve (default 10, quick 0.2)")
    parser.add_argument(
        "--save",
        action="store_true",
        help=f"write the numbers to {RESULTS.name}; those of benchmarks that were not run are kept",
    )
    options = parser.parse_args()
    options.what = options.what or [
        name
        for name, benchmark in benchmarks.items()
        if benchmark.by_default and (benchmark.quick_by_default or not options.quick)
    ]
    if unknown := sorted(set(options.what) - set(benchmarks)):
        parser.error(f"what: expected some of {', '.join(benchmarks)}, got {', '.join(unknown)}")
    return options


def budget(options: argparse.Namespace) -> float:
    """Seconds for each cell of a table."""
    if options.budget is not None:
        return options.budget
    return 0.5 if options.quick else 3.0
