"""The tables of the value functions, and whether the paper's claims hold."""

from __future__ import annotations

import math

from reproduction.rows import Row, pick
from reproduction.tables import Column, Measured, Table, measured
from reproduction.values_heads import CHOSEN, HEADS

Cells = dict[tuple[str, str], Measured | str | None]
WORLDS = {
    "4-Room asym": {"world": "FourRoom", "asymmetric": True},
    "Maze asym": {"world": "Maze", "asymmetric": True},
    "4-Room sym": {"world": "FourRoom", "asymmetric": False},
    "Maze sym": {"world": "Maze", "asymmetric": False},
}
FRACTIONS = (0.25, 0.5, 0.75, 1.0)
OURS = f"{CHOSEN} - best of DN, WN"
CLEAR = 2.0
"""standard errors by which a difference is more than the spread of the seeds"""


def mean(rows: list[Row], metric: str, world: str, fraction: float, head: str, split: str = "goal") -> Measured | None:
    """A metric of a head in a world, over the seeds."""
    where = {**WORLDS[world], "fraction": fraction, "head": head, "split": split}
    return measured(pick(rows, metric, where))


def tables(rows: list[Row]) -> list[Table]:
    return [
        _table(rows, "figure_value_it_sparsity", "test spl", "Test SPL on all held-out pairs", _SPL),
        _claims(rows),
        _table(
            rows,
            "table_value_learned",
            "test spl learned",
            "Test SPL with V(g, g) as the network has it",
            "As above, but the greedy policy reads V(g, g) from the network. A metric has 0 there by construction.",
        ),
        _table(
            rows,
            "table_value_sampled",
            "test spl sampled",
            "Test SPL in the paper's way: 100 random held-out pairs, V(g, g) as the network has it",
            "100 pairs have a sampling error of their own, up to .05.",
        ),
        _table(rows, "table_value_success", "test success", "Test success on all held-out pairs", ""),
        _table(rows, "table_value_state", "test spl", "Test SPL, split by states", _STATES, split="state"),
        _architectures(),
        _table(rows, "figure_value_it_sparsity_app", "train spl", "Training SPL", ""),
        _table(rows, "table_value_mse", "test mse", "Test MSE to the exact values", "", better="lower"),
        _table(rows, "table_value_train_mse", "train mse", "Training MSE to the exact values", "", better="lower"),
    ]


_SPL = (
    "Goals in the lower part of the map are held out; at 1 the training pairs are judged. V(g, g) = 0 in the greedy "
    "policy, at most 121 steps, last epoch. The paper shows these numbers as curves only. Another seed is another "
    "start and, in asymmetric worlds, other costs. See deviations D21, D23, D25, D26, D27 and D28."
)
_STATES = "The agent is never in the lower part of the map while training, so that moves there are unknown."


def _table(
    rows: list[Row], label: str, metric: str, title: str, note: str, *, split: str = "goal", better: str = "higher"
) -> Table:
    cells: Cells = {}
    for world in WORLDS:
        for fraction in FRACTIONS:
            for head in HEADS:
                cell = mean(rows, metric, world, fraction, head, split)
                if cell is not None:
                    cells[f"{world} {fraction:g}", head] = cell
    heads = [head for head in HEADS if any(column == head for _, column in cells)]
    lines = [f"{world} {fraction:g}" for world in WORLDS for fraction in FRACTIONS]
    return Table(
        label=label,
        title=title,
        corner="world, fraction",
        columns=[Column(head, better=better, format=".3f" if better == "higher" else ".3g") for head in heads],  # type: ignore[arg-type]
        rows=[line for line in lines if any(row == line for row, _ in cells)],
        cells=cells,
        note=note,
    )


def _architectures() -> Table:
    """The paper's settings, as used."""
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


def sign(one: Measured, other: Measured) -> str:
    """Whether one mean is above another: ">" or "<" by more than the spread, "~" within it or unknown."""
    error = math.hypot(*((cell.spread or 0) / math.sqrt(cell.seeds) for cell in (one, other)))
    if min(one.seeds, other.seeds) < 2 or abs(one.value - other.value) <= CLEAR * error:
        return "~"
    return ">" if one.value > other.value else "<"


def _claims(rows: list[Row]) -> Table:
    cells: Cells = {}
    for world in WORLDS:
        for fraction in FRACTIONS:
            line = f"{world} {fraction:g}"
            found = {
                head: cell for head in HEADS if (cell := mean(rows, "test spl", world, fraction, head)) is not None
            }
            for metric in ("DN", "WN"):
                for plain in ("MLP", "ICNN"):
                    if metric in found and plain in found:
                        one, other = found[metric], found[plain]
                        text = f"{one.value - other.value:+.3f} {sign(one, other)}"
                        cells[line, f"{metric} - {plain}"] = text
            theirs = [head for head in ("DN", "WN") if head in found]
            if CHOSEN in found and len(theirs) == 2:
                bar = max(theirs, key=lambda head: found[head].value)
                gap = found[CHOSEN].value - found[bar].value
                cells[line, OURS] = f"{gap:+.3f} {sign(found[CHOSEN], found[bar])}"
    columns = [f"{metric} - {plain}" for metric in ("DN", "WN") for plain in ("MLP", "ICNN")]
    return Table(
        label="table_value_claims",
        title="The paper's claims: differences of test SPL",
        corner="world, fraction",
        columns=[Column(name, better=None) for name in [*columns, OURS]],
        rows=[f"{world} {fraction:g}" for world in WORLDS for fraction in FRACTIONS if _any(cells, world, fraction)],
        cells=cells,
        note=f"> or <: by more than {CLEAR:g} standard errors over the seeds; ~: not. The last column has the head "
        "that was chosen on validation goals (`values-search`), against the better of the two. "
        + " ".join(notes(rows)),
    )


def _any(cells: Cells, world: str, fraction: float) -> bool:
    return any(line == f"{world} {fraction:g}" for line, _ in cells)


def notes(rows: list[Row]) -> list[str]:
    return [note for note in (_first(rows), _second(rows), _third(rows)) if note]


def _comparisons(rows: list[Row]) -> list[tuple[str, float, str, str]]:
    """World, fraction, metric and plain head with partial data and at least two seeds: one is no evidence."""
    return [
        (world, fraction, metric, plain)
        for world in WORLDS
        for fraction in FRACTIONS[:-1]
        for metric in ("DN", "WN")
        for plain in ("MLP", "ICNN")
        if all((cell := mean(rows, "test spl", world, fraction, head)) and cell.seeds > 1 for head in (metric, plain))
    ]


def _first(rows: list[Row]) -> str:
    """Deep and Wide Norm above MLP and ICNN with partial data."""
    signs: list[tuple[str, bool]] = []
    for world, fraction, *heads in _comparisons(rows):
        one, other = (mean(rows, "test spl", world, fraction, head) for head in heads)
        if one is not None and other is not None:
            signs.append((sign(one, other), one.value > other.value))
    if not signs:
        return ""
    clear, against = (sum(mark == wanted for mark, _ in signs) for wanted in "><")
    above = sum(more for _, more in signs)
    verdict = "holds" if above == len(signs) and not against else "fails" if 2 * above < len(signs) else "holds in part"
    return (
        f'"Deep Norm and Wide Norm consistently outperform both MLPs and ICNNs" {verdict}: their mean is higher in '
        f"{above} of {len(signs)} comparisons with partial data, clearly in {clear}, clearly lower in {against}."
    )


def _second(rows: list[Row]) -> str:
    """The Euclidean metric cannot solve asymmetric worlds."""
    found = [
        (f"{world} {fraction:g}", cell, max(others, key=lambda other: other.value))
        for world in ("4-Room asym", "Maze asym")
        for fraction in FRACTIONS
        if (cell := mean(rows, "train spl", world, fraction, "Euclidean")) is not None and cell.seeds > 1
        if (others := [o for h in ("DN", "WN") if (o := mean(rows, "train spl", world, fraction, h)) is not None])
    ]
    if not found:
        return ""
    worse = [sign(cell, best) == "<" for _, cell, best in found]
    verdict = "holds" if all(worse) else "fails" if not any(worse) else "holds in part"
    texts = ", ".join(f"{where}: {cell.value:.2f} against {best.value:.2f}" for where, cell, best in found)
    return f'"The Euclidean metric could not solve the asymmetric environments" {verdict} for training pairs ({texts}).'


def _third(rows: list[Row]) -> str:
    """Deep and Wide Norm have a higher MSE and yet a better SPL."""
    asked, both = _comparisons(rows), 0
    for world, fraction, *heads in asked:
        higher = []
        for name in ("test mse", "test spl"):
            one, other = (mean(rows, name, world, fraction, head) for head in heads)
            higher.append(one is not None and other is not None and one.value > other.value)
        both += all(higher)
    if not asked:
        return ""
    verdict = "holds" if both == len(asked) else "fails" if 2 * both < len(asked) else "holds in part"
    return (
        f'"Higher MSE, yet better success" {verdict}: a Deep or Wide Norm has both a higher test MSE and a higher '
        f"test SPL in {both} of {len(asked)} comparisons."
    )
