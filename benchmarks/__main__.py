"""`python -m benchmarks`: speed and memory, always as ratios measured in one run on this machine."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from dataclasses import asdict
from pathlib import Path

import torch
from rich.console import Console

from benchmarks import (
    graphs,
    interval,
    large_graph,
    many_seeds,
    nearness,
    nonnegative_maps,
    pairwise,
    training_step,
    values,
)

RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog="examples: python -m benchmarks | python -m benchmarks pairwise --quick | python -m benchmarks step",
    )
    known = ("pairwise", "rectified", "interval", "step", "many", "maps", "nearness", "graphs", "large", "values")
    parser.add_argument(
        "what", nargs="*", help=f"{', '.join(known)}; all but large, which takes half an hour, by default"
    )
    parser.add_argument("--quick", action="store_true", help="mini-batches up to 128 and one seed")
    parser.add_argument(
        "--budget", type=float, default=3.0, help="seconds for each cell of pairwise; slow ones need 45"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        help='rows of pairwise, or data of nearness, to measure, such as "DN 3x600"',
    )
    parser.add_argument("--batches", nargs="+", type=int, metavar="N", help="mini-batches of pairwise")
    parser.add_argument("--map", type=Path, metavar="FILE", help="an .osm.pbf file, one more of the graphs")
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="numbers of objects of nearness")
    parser.add_argument(
        "--save",
        action="store_true",
        help=f"write the numbers to {RESULTS.name}, beside those of parts that were not run",
    )
    options = parser.parse_args()
    what = options.what or [name for name in known if name != "large"]
    if unknown := sorted(set(what) - set(known)):
        parser.error(f"what: expected some of {', '.join(known)}, got {', '.join(unknown)}")

    console = Console(width=None if sys.stdout.isatty() else 150)
    machine = (
        f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}"
    )
    console.print(f"Machine: {machine}")
    results: dict[str, object] = {"machine": machine}
    if "pairwise" in what:
        batches = tuple(options.batches or ((32, 128) if options.quick else pairwise.BATCHES))
        names = tuple(options.only) if options.only else None
        rows = pairwise.run(batches=batches, names=names, budget=options.budget)
        pairwise.show(rows, console)
        results["pairwise"] = [asdict(row) for row in rows]
    if "rectified" in what:
        ratio = pairwise.rectified_against_paper()
        console.print(
            f"Rectified Wide Norm 32x32, all pairs at 512: {ratio:.1f} x faster than the paper's asymmetric "
            "Wide Norm 32x32 by broadcasting"
        )
        results["rectified_against_paper"] = ratio
    if "interval" in what:
        growth = interval.run(batches=(64, 128) if options.quick else interval.BATCHES, budget=options.budget)
        interval.show(growth, console)
        results["interval"] = [asdict(row) for row in growth]
    if "step" in what:
        seconds = training_step.run()
        training_step.show(seconds, console)
        results["training_step_seconds"] = seconds
    if "many" in what:
        many = many_seeds.run()
        many_seeds.show(many, console)
        results["many_seeds_seconds"] = many
    if "maps" in what:
        maps = nonnegative_maps.run(seeds=1 if options.quick else 5)
        nonnegative_maps.show(maps, console)
        results["nonnegative_maps_test_mse"] = maps
    solved = None
    if "nearness" in what:
        solved = nearness.run(quick=options.quick, sizes=options.sizes, names=options.only)
        nearness.show(solved, console)
        results["nearness"] = asdict(solved)
    if "values" in what:
        steps = values.run(budget=4.0 if options.quick else 20.0)
        values.show(steps, console)
        results["values_seconds"] = steps
    if "graphs" in what:
        measured = graphs.run(quick=options.quick, map_file=options.map)
        graphs.show(measured, console)
        results["graphs"] = asdict(measured)
    if "large" in what:
        large = large_graph.run(quick=options.quick)
        large_graph.show(large, console)
        results["large_graph"] = asdict(large)
    if options.save:
        before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        if solved is not None:
            results["nearness"] = nearness.merged(before.get("nearness"), solved)
        RESULTS.write_text(json.dumps({**before, **results}, indent=1) + "\n")
        console.print(f"Wrote {RESULTS}")


if __name__ == "__main__":
    main()
