"""Figures: how heads look, which panels are drawn, and the images of the report."""

from __future__ import annotations

import base64
import io
import itertools

import pytest
from matplotlib.figure import Figure as Plot
from PIL import Image as Pillow

from reproduction.experiments.figure1.experiment import DIMENSIONS
from reproduction.experiments.figure1.plots import dimensions
from reproduction.experiments.graphs.heads import HEADS as GRAPH_HEADS
from reproduction.experiments.leaderboard.heads import HEADS as LEADERBOARD_HEADS
from reproduction.experiments.leaderboard.plots import figures as leaderboard_figures
from reproduction.experiments.nearness.plots import METHODS
from reproduction.experiments.values.heads import HEADS as VALUE_HEADS
from reproduction.experiments.values.plots import figures as value_figures
from reproduction.frame.figures import Figure, has_line
from reproduction.frame.findings import check, find, judge
from reproduction.frame.rows import Row, Rows, pick
from reproduction.frame.styles import COLORS, SAME, STYLES, styles_of

FIGURES = {
    "figure1": tuple(DIMENSIONS),
    "graphs": tuple(GRAPH_HEADS),
    "leaderboard": tuple(LEADERBOARD_HEADS),
    "nearness": METHODS,
    "values": tuple(VALUE_HEADS),
    "new heads": ("DN", *(f"new {i}" for i in range(20))),
}


@pytest.mark.parametrize("name", FIGURES)
def test_no_two_heads_of_a_figure_share_color_and_marker(name: str) -> None:
    styles = styles_of(FIGURES[name])
    assert list(styles) == list(FIGURES[name])
    looks = [(style.color, style.marker) for style in styles.values()]
    assert len(set(looks)) == len(looks)
    assert {style.color for style in styles.values()} <= set(COLORS)


def test_a_head_looks_the_same_everywhere() -> None:
    known = STYLES.keys() | SAME.keys()
    assert all(set(heads) <= known for name, heads in FIGURES.items() if name != "new heads")
    assert styles_of(["Eucl."])["Eucl."] == styles_of(["Euclidean", "DN"])["Euclidean"]
    for one, other in itertools.combinations(STYLES.values(), 2):
        assert (one.color, one.marker) != (other.color, other.marker)
        assert (one.color, one.dash) != (other.color, other.dash)


def value_row(world: str, fraction: float, metric: str, value: object) -> Row:
    settings = {
        "world": world,
        "asymmetric": True,
        "fraction": fraction,
        "head": "DN",
        "split": "goal",
        "epochs": 10,
    }
    return Row("values", f"{world} {fraction}", 0, metric, value, 10, 1.0, "0.1.0", "c0ffee", settings, "run", (0, 1))


def test_panels_with_single_points_are_left_out() -> None:
    metrics = ("train spl", "test spl", "train mse", "test mse")
    rows = [value_row("FourRoom", fraction, metric, 0.5) for fraction in (0.5, 0.75) for metric in metrics]
    rows += [value_row("Maze", 0.5, metric, 0.5) for metric in metrics]
    rows += [value_row("Maze", 0.5, "curve", [[10, 0.5, 0.5, 1.0, 1.0]])]
    drawn = {figure.stem: figure for figure in value_figures(Rows(rows))}
    assert list(drawn) == ["figure_value_it_sparsity", "figure_value_it_sparsity_app"]  # no curves of one point
    for figure in drawn.values():
        titles = {ax.get_title() for ax in figure.plot.axes if ax.get_visible()}
        assert titles == {"4-Room asym"}

    assert value_figures(Rows(row for row in rows if row.settings["world"] == "Maze")) == []
    assert dimensions({"Euclidean": {2: 0.1}, "Deep Norm": {2: 0.0}}, 0.057) is None
    assert leaderboard_figures([]) == []
    assert not has_line([[1], []])


def test_an_image_says_its_size() -> None:
    plot = Plot(figsize=(4, 2), layout="constrained")
    plot.subplots().plot([0, 1], color="#d55e00")
    figure = Figure("label", "title", "alt", plot, "stem")
    image = figure.image()
    assert (image.width, image.height) == (288, 144)
    kind, _, data = image.uri.partition(",")
    assert kind == "data:image/webp;base64"
    decoded = Pillow.open(io.BytesIO(base64.b64decode(data)))
    assert decoded.size == (480, 240)
    assert figure.image() == image


def test_rows_are_found_as_if_all_were_read() -> None:
    rows = [value_row(world, fraction, "test spl", 0.5) for world in ("a", "b") for fraction in (0.5, 1.0)]
    rows[0].settings["shape"] = rows[1].settings["shape"] = [1, 2]
    rows[2].settings["shape"] = rows[3].settings["shape"] = []
    for where in ({}, {"world": "a"}, {"fraction": 1, "world": "b"}, {"shape": [1, 2]}, {"world": "c"}):
        assert pick(Rows(rows), "test spl", where) == pick(rows, "test spl", where)
    assert pick(Rows(rows), "test mse", {"world": "a"}) == []
    with pytest.raises(KeyError):
        pick(Rows(rows), "test spl", {"strange": 1})


def test_claims_are_judged_over_all_cases() -> None:
    assert [judge(held, 4) for held in range(5)] == ["fails", "fails", "holds in part", "holds in part", "holds"]
    finding = find(check("lower", [True, True, True]), check("never asked", []), note="by far")
    assert finding is not None
    assert (finding.text, finding.verdict) == ("lower in 3 of 3 cells; by far", "holds")
    assert find(check("never asked", [])) is None
