"""The tables of the value functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from reproduction.experiments.values.heads import HEADS, JUDGED
from reproduction.frame.rows import Row, longest_trained, pick
from reproduction.frame.tables import Column, Measured, Table, summarize

Cells = dict[tuple[str, str], Measured | str | None]
WORLDS = {
    "4-Room asym": {"world": "FourRoom", "asymmetric": True},
    "Maze asym": {"world": "Maze", "asymmetric": True},
    "4-Room sym": {"world": "FourRoom", "asymmetric": False},
    "Maze sym": {"world": "Maze", "asymmetric": False},
}
FRACTIONS = (0.25, 0.5, 0.75, 1.0)


def comparable(
    rows: list[Row],
    metric: str,
    world: str,
    fraction: float,
    head: str,
    *,
    split: str = "goal",
    among: Collection[str] = HEADS,
) -> list[Row]:
    """Select the rows of a head in a world, with the seeds that all of several heads have, as costs depend on the seed.

    Args:
        rows: of the ledger.
        metric: which one.
        world: one of `WORLDS`.
        fraction: of the goals seen.
        head: whose rows.
        split: of the pairs.
        among: the heads with which it is compared.
    """
    found: dict[str, list[Row]] = defaultdict(list)
    for row in pick(rows, metric, {**WORLDS[world], "fraction": fraction, "split": split}):
        if row.settings["head"] in among:
            found[row.settings["head"]].append(row)
    seeds = [{row.seed for row in longest_trained(of_head)} for of_head in found.values()]
    own = longest_trained(found[head])
    return [row for row in own if all(row.seed in others for others in seeds)] or own


def tables(rows: list[Row]) -> list[Table]:
    """Make all tables except that of the claims."""
    return [
        _table(rows, "figure_value_it_sparsity", "test spl", "Test SPL on all held-out pairs", _SPL, heads=JUDGED),
        _table(rows, "table_value_heads", "test spl", "Test SPL of every head", _SPL),
        _table(
            rows,
            "table_value_learned",
            "test spl learned",
            "Test SPL with V(g, g) from the network",
            "As above, but the greedy policy reads V(g, g) from the network. A metric has 0 there by construction.",
        ),
        _table(
            rows,
            "table_value_sampled",
            "test spl sampled",
            "Test SPL the paper's way: 100 random held-out pairs, V(g, g) from the network",
            "A sample of 100 pairs has an error of up to .05.",
        ),
        _table(rows, "table_value_success", "test success", "Test success on all held-out pairs", ""),
        _table(rows, "table_value_state", "test spl", "Test SPL, split by states", _STATES, split="state"),
        architectures(),
        _table(rows, "figure_value_it_sparsity_app", "train spl", "Training SPL", ""),
        _table(rows, "table_value_mse", "test mse", "Test MSE to the exact values", "", better="lower"),
        _table(rows, "table_value_train_mse", "train mse", "Training MSE to the exact values", "", better="lower"),
    ]


_SPL = (
    "Goals in the lower part of the map are held out; at 1 the training pairs are tested. V(g, g) = 0 in the greedy "
    "policy, at most 121 steps, last epoch. The paper shows these numbers as curves only. Each seed is a different "
    "start and, in asymmetric worlds, has different costs; a row has the seeds that all its heads have. "
    "See deviations D21, D23, D25, D26, D27 and D28."
)
_STATES = "The agent is never in the lower part of the map during training, so that moves there are unknown."


def _table(
    rows: list[Row],
    label: str,
    metric: str,
    title: str,
    note: str,
    *,
    heads: Collection[str] = HEADS,
    split: str = "goal",
    better: str = "higher",
) -> Table:
    cells: Cells = {}
    for world in WORLDS:
        for fraction in FRACTIONS:
            for head in heads:
                cell = summarize(comparable(rows, metric, world, fraction, head, split=split, among=heads))
                if cell is not None:
                    cells[f"{world} {fraction:g}", head] = cell
    ran = [head for head in heads if any(column == head for _, column in cells)]
    lines = [f"{world} {fraction:g}" for world in WORLDS for fraction in FRACTIONS]
    return Table(
        label=label,
        title=title,
        corner="world, fraction",
        columns=[Column(head, better=better, format=".3f" if better == "higher" else ".3g") for head in ran],  # type: ignore[arg-type]
        rows=[line for line in lines if any(row == line for row, _ in cells)],
        cells=cells,
        note=note,
    )


def architectures() -> Table:
    """Show the settings that are used: the paper's."""
    ours = {
        "MLP": (64, 3, None),
        "ICNN": (64, 3, None),
        "DeepNorm": (64, 3, 5),
        "WideNorm": (64, 32, 5),
    }
    names = ("hidden units / component size", "layers / components", "concave units")
    cells: Cells = {
        (head, name): "none" if number is None else str(number)
        for head, numbers in ours.items()
        for name, number in zip(names, numbers, strict=True)
    }
    return Table(
        label="table_vi_arches",
        title="The architectures on top of the convolutional encoder",
        corner="head",
        columns=[Column(name, better=None) for name in names],
        rows=list(ours),
        cells=cells,
        note="The others: " + "; ".join(f"{name}, {head.about}" for name, head in HEADS.items()) + ".",
    )
