"""What `trimetric fit` prints about what it has learned."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from trimetric._audit import Audit
from trimetric.cli.general import General
from trimetric.cli.training import in_unit
from trimetric.graphs import LearnedGraph
from trimetric.graphs.learning.comparison import format_comparison
from trimetric.training import LearnedPairs
from trimetric.training.pair_errors import number_or_dash

AVERAGING = ("squared", "absolute", "huber")
"""losses to which an error of a minute is the same on a short and on a long way"""


def report_pairs(general: General, learned: LearnedPairs, output: Path) -> None:
    """Print the errors and the audit of a model that was learned from pairs.

    Args:
        general: where to print.
        learned: the model.
        output: the file that holds it.
    """
    say, errors, history, notes = general.say, learned.errors, learned.history, learned.model.notes
    if history.stopped_early:
        say(f"stopped after {len(history.epochs)} epochs; the best was {(history.best_epoch or 0) + 1}")
    say(f"on {errors.pairs:,} {learned.errors_on}{in_unit(notes['unit'])}:")
    say(f"  mean squared error   {errors.mse:.4g} (of predicting the mean: {errors.mse_of_mean:.4g})")
    say(f"  mean relative error  {number_or_dash(errors.mean_relative_error, '.2%')}")
    for line in errors.table():
        say(line)
    shortest = next(iter(errors.by_distance), None)
    averaging = notes["settings"]["loss"] in AVERAGING
    if shortest and averaging and shortest.mean_relative_error > 2 * errors.mean_relative_error:
        say("  the shortest distances are off by far more than the others; --loss relative weighs them more")
    say(_audited(learned.audit, "objects"))
    say(f"saved in {output}")
    general.answer(
        model=str(output),
        weights=sum(parameter.numel() for parameter in learned.model.network.parameters()),
        epochs=len(history.epochs),
        stopped_early=history.stopped_early,
        unit=notes["unit"],
        errors=notes["errors"],
        audit=learned.audit.to_dict(),
    )


def report_graph(general: General, learned: LearnedGraph, output: Path) -> None:
    """Print the comparison, the verdict and the audit of a model of a graph.

    Args:
        general: where to print.
        learned: the model.
        output: the file that holds it.
    """
    say, notes, verdict = general.say, learned.model.notes, learned.verdict
    say(f"on {learned.sample.test:,} held-out pairs{in_unit(notes['unit'])}:\n{format_comparison(learned.candidates)}")
    for line in learned.errors.table():
        say(line)
    for name, errors in notes.get("relative_errors", {}).items():
        told = ", ".join(f"{who} {error:.2%}" for who, error in errors.items())
        say(f"mean relative error, {name} trips: {told}")
    say(str(verdict))
    if learned.promise:
        say(f"certain: {learned.promise}")
    say(_audited(learned.audit, "nodes"))
    say(f"saved in {output}")
    told = {**asdict(verdict), "beats_bounds": verdict.beats_bounds, "exact_is_cheaper": verdict.exact_is_cheaper}
    general.answer(model=str(output), **notes, audit=learned.audit.to_dict(), verdict=told)


def _audited(audit: Audit, kind: str) -> str:
    return f"triangle_defect {audit.triangle_defect:.3g} in {audit.triples:,} triples of {kind}: {audit.verdict}"
