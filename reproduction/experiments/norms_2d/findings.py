"""What the paper says of each table and figure of norms of the plane, checked with our rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping

from reproduction.data.plane_norms import KINDS, SIZES
from reproduction.experiments.norms_2d.claims import WIDE, Error, corner_winners
from reproduction.frame.findings import Finding, check, find

Balls = Callable[[str, int, str], Mapping[str, list[float | None]] | None]
"""the balls by kind of norm, number of training vectors and model; None without runs"""
RANDOM, CORNERED = ("sym", "asym"), ("square", "diamond")
OURS = ("DN", "WN")


def findings(error: Error, balls: Balls) -> dict[str, Finding]:
    """Judge what the paper says of each table and figure, by label.

    Args:
        error: of the paper's recipe.
        balls: of the same.
    """
    small, large = SIZES
    deep = [
        below
        for kind, size in itertools.product(RANDOM, SIZES)
        for other in ("Maha", "WN")
        if (below := _below(error, kind, size, "DN", other)) is not None
    ]
    wide = [best in WIDE for best in corner_winners(error).values()]
    found = {
        "table_2d_norm_results": find(
            check("Deep Norms lower", deep),
            check("Wide Norms best", wide),
        ),
        "table_2d_norm_results_2": _beyond(error, "2"),
        "table_2d_norm_results_0.5": _beyond(error, "0.5"),
        "figure_2d_norm_balls": find(
            check("norms below the MLP", _against_mlp(error, RANDOM, (small,), "1")),
            check("no MLP ball", _mlp_misses(balls, RANDOM, (large,))),
        ),
        "figure_2d_norm_balls_appendix_squares": find(
            check("Wide Norms best", wide),
            check("no MLP ball", _mlp_misses(balls, CORNERED, SIZES)),
        ),
        "figure_2d_norm_balls_appendix_hull": find(
            check("all balls of norms", _reached(balls, RANDOM)),
            check("no MLP ball", _mlp_misses(balls, RANDOM, SIZES)),
        ),
    }
    return {label: finding for label, finding in found.items() if finding is not None}


def _below(error: Error, kind: str, size: int, model: str, other: str, value: str = "1") -> bool | None:
    ours, theirs = error(kind, size, model, value), error(kind, size, other, value)
    return None if ours is None or theirs is None else ours < theirs


def _against_mlp(error: Error, kinds: Iterable[str], sizes: Iterable[int], value: str) -> list[bool]:
    cases = itertools.product(kinds, sizes, OURS)
    found = (_below(error, kind, size, model, "MLP", value) for kind, size, model in cases)
    return [below for below in found if below is not None]


def _beyond(error: Error, value: str) -> Finding | None:
    return find(check("norms below the MLP", _against_mlp(error, KINDS, SIZES, value)))


def _mlp_misses(balls: Balls, kinds: Iterable[str], sizes: Iterable[int]) -> list[bool]:
    """Whether the MLP has the value 0.5 in no direction."""
    found = (balls(kind, size, "MLP") for kind, size in itertools.product(kinds, sizes))
    return [all(length is None for length in ball["0.5"]) for ball in found if ball is not None]


def _reached(balls: Balls, kinds: Iterable[str]) -> list[bool]:
    """Whether Deep and Wide Norms have every value in every direction."""
    found = (balls(kind, size, model) for kind, size, model in itertools.product(kinds, SIZES, OURS))
    return [None not in itertools.chain(*ball.values()) for ball in found if ball is not None]
