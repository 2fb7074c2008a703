"""Measure speed and memory, always as ratios within one run on this machine."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

import torch
from rich.console import Console

from benchmarks import (
    distance_matrices,
    fused,
    graphs,
    interval,
    large_graph,
    limits,
    many_seeds,
    min_plus,
    nearness,
    nonnegative_maps,
    pairwise,
    products,
    query,
    search,
    search_exactness,
    search_libraries,
    serve,
    startup,
    torchqmet_heads,
    training_step,
    travel_matrices,
    values,
    worth,
)
from benchmarks.options import RESULTS, budget, parse_options


@dataclass(frozen=True)
class Benchmark:
    """One part of `python -m benchmarks`."""

    about: str
    """what it measures, for `--help`"""
    key: str
    """where its numbers are in results.json"""
    run: Callable[[argparse.Namespace], Any]
    """measures, as the options say; returns a dataclass, a list of them, or plain values"""
    show: Callable[[Any, Console], None]
    """prints what `run` has returned"""
    merge: Callable[[Any, Any], Any] = lambda before, now: now  # noqa: ARG005
    """what to save, from the numbers saved before (or None) and what `run` has returned"""
    by_default: bool = True
    """whether it runs if no benchmark is named"""
    quick_by_default: bool = True
    """whether it also does with `--quick`, which is for hot paths against definitions, limits and torchqmet"""


BENCHMARKS: dict[str, Benchmark] = {
    "limits": Benchmark(
        "the limits of one core that other benchmarks are compared with: its vector unit and torch.mm",
        "limits",
        lambda options: list(limits.limits()),  # noqa: ARG005
        lambda found, console: limits.show(tuple(found), console),
    ),
    "min-plus": Benchmark(
        "the min-plus product of audits and nearest metrics, against the limit of the vector unit",
        "min_plus",
        lambda options: min_plus.run(sizes=(500,) if options.quick else min_plus.SIZES),
        min_plus.show,
    ),
    "products": Benchmark(
        "matrix products of training steps by MKL and by oneDNN, and which of them the library takes",
        "products",
        lambda options: products.run(turns=20 if options.quick else products.TURNS),
        products.show,
    ),
    "torchqmet": Benchmark(
        "heads and training steps against torchqmet, where it is importable",
        "torchqmet",
        lambda options: torchqmet_heads.run(budget=budget(options)),
        torchqmet_heads.show,
    ),
    "fused": Benchmark(
        "fused kernels of all pairs, against those of torch and against the limits of the machine",
        "fused",
        lambda options: fused.run(
            points=(512,) if options.quick else fused.POINTS, budget=0.4 if options.quick else options.budget
        ),
        fused.show,
    ),
    "pairwise": Benchmark(
        "all pairs of each norm, against the broadcast definition and the matrix products alone",
        "pairwise",
        lambda options: pairwise.run(
            batches=tuple(options.batches or ((32, 128) if options.quick else pairwise.BATCHES)),
            names=tuple(options.only) if options.only else None,
            budget=budget(options),
        ),
        pairwise.show,
        quick_by_default=False,
    ),
    "rectified": Benchmark(
        "all pairs of the rectified Wide Norm, against the paper's asymmetric one by broadcasting",
        "rectified_against_paper",
        lambda options: pairwise.run_rectified(budget=2.0 if options.quick else 40.0),
        pairwise.show_rectified,
        quick_by_default=False,
    ),
    "interval": Benchmark(
        "all pairs of an interval quasimetric, against sorting for each pair",
        "interval",
        lambda options: interval.run(batches=(64, 128) if options.quick else interval.BATCHES, budget=budget(options)),
        interval.show,
    ),
    "step": Benchmark(
        "one training step of every kind of head, against a straightforward one, compiled, and against torchqmet",
        "training_step_seconds",
        lambda options: training_step.run((256,), 10.0) if options.quick else training_step.run(),
        training_step.show,
    ),
    "many": Benchmark(
        "eight seeds trained at once, against one after another",
        "many_seeds_seconds",
        lambda options: many_seeds.run(budget=2.0 if options.quick else 15.0),
        many_seeds.show,
        quick_by_default=False,
    ),
    "maps": Benchmark(
        "test errors of different maps from free parameters to non-negative weights",
        "nonnegative_maps_test_mse",
        lambda options: nonnegative_maps.run(seeds=1 if options.quick else 5),
        nonnegative_maps.show,
        quick_by_default=False,
    ),
    "nearness": Benchmark(
        "the nearest metric, against triangle fixing, and by the number of objects",
        "nearness",
        lambda options: nearness.run(
            quick=options.quick, sizes=options.sizes, names=options.only, picture=options.picture
        ),
        nearness.show,
        nearness.merge,
    ),
    "values": Benchmark(
        "a training step of a value function, against the recipe as written",
        "values_seconds",
        lambda options: values.run(budget=1.0 if options.quick else 20.0),
        values.show,
        quick_by_default=False,
    ),
    "graphs": Benchmark(
        "shortest paths by engine, against SciPy and NetworkX, and nodes that a search expands",
        "graphs",
        lambda options: graphs.run(quick=options.quick, map_file=options.map),
        graphs.show,
        quick_by_default=False,
    ),
    "matrices": Benchmark(
        "matrices of exact distances of a road network, against SciPy's trees and pair by pair",
        "distance_matrices",
        lambda options: distance_matrices.run(quick=options.quick, map_file=options.map),
        distance_matrices.show,
        quick_by_default=False,
    ),
    "travel": Benchmark(
        "travel matrices between places on streets, against SciPy and NetworkX; --map adds a matrix on disk",
        "travel_matrices",
        lambda options: travel_matrices.run(quick=options.quick, map_file=options.map),
        travel_matrices.show,
        quick_by_default=False,
    ),
    "startup": Benchmark(
        "processor time of commands, against importing torch alone",
        "startup",
        lambda options: startup.run(rounds=2 if options.quick else 5),
        startup.show,
    ),
    "query": Benchmark(
        "one pair of names through a model, against the definition on the same points",
        "query",
        lambda options: query.run(calls=2000 if options.quick else 20_000),
        query.show,
    ),
    "worth": Benchmark(
        "exact distances, landmark bounds and models of street grids, by the number of nodes",
        "worth",
        lambda options: worth.run(quick=options.quick),
        worth.show,
        quick_by_default=False,
    ),
    "search": Benchmark(
        "nearest neighbors by an index, against comparing with all points; --map adds a road map",
        "search",
        lambda options: search.run(
            quick=options.quick, map_file=options.map, sizes=options.sizes, picture=options.picture
        ),
        search.show,
        quick_by_default=False,
    ),
    "search-libraries": Benchmark(
        "an index beside scikit-learn and, if it is installed, usearch, with their recall",
        "search_libraries",
        lambda options: search_libraries.run(quick=options.quick),
        search_libraries.show,
        quick_by_default=False,
    ),
    "serve": Benchmark(
        "the service under load for some minutes, with malformed requests and slow clients; only if named",
        "serve",
        lambda options: serve.run(minutes=options.minutes or (0.2 if options.quick else 10.0), map_file=options.map),
        serve.show,
        by_default=False,
    ),
    "search-exactness": Benchmark(
        "ten million neighbors of every head, against the definition; takes minutes, so only if named",
        "search_exactness",
        lambda options: search_exactness.run(neighbors=200_000 if options.quick else 10_000_000),
        search_exactness.show,
        by_default=False,
    ),
    "large": Benchmark(
        "the command line on roads of a million nodes and a torus of two million; takes long, so only if named",
        "large_graph",
        lambda options: large_graph.run(quick=options.quick, names=options.only),
        large_graph.show,
        large_graph.merge,
        by_default=False,
    ),
}


def main() -> None:
    """Run the benchmarks that the command line names."""
    options = parse_options(BENCHMARKS, __doc__)
    console = Console(width=None if sys.stdout.isatty() else 150)
    machine = (
        f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}"
    )
    console.print(f"Machine: {machine}")
    saved = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results = {**saved, "machine": machine}
    for name, benchmark in BENCHMARKS.items():
        if name in options.what:
            found = benchmark.run(options)
            benchmark.show(found, console)
            results[benchmark.key] = _to_json(benchmark.merge(saved.get(benchmark.key), found))
    if options.save:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        console.print(f"Wrote {RESULTS}")


def _to_json(found: Any) -> Any:
    if isinstance(found, list):
        return [_to_json(each) for each in found]
    return asdict(found) if is_dataclass(found) and not isinstance(found, type) else found


if __name__ == "__main__":
    main()
