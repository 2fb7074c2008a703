"""Each tutorial runs from top to bottom at a small size, shows figures and prints what it claims."""

from __future__ import annotations

import contextlib
import io
import re
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from places import ROOT

FOLDER = ROOT / "docs/tutorials"
NUMBA = ("numba",)
NEEDS: dict[str, tuple[str, ...]] = {
    "first_distance": (),
    "csv_to_distance": (),
    "repair_a_matrix": (),
    "one_way_city": NUMBA,
    "labels_and_triplets": ("sklearn", "pytorch_metric_learning"),
    "asymmetric_search": ("numba", "sklearn"),
    "values_and_planning": (),
    "log_to_policy": (),
    "metrize": ("sklearn",),
    "places_to_routes": ("pyvrp",),
}
"""The tutorials, and what each needs beyond the core."""
EXTRAS = {"numba": "graphs", "pyvrp": "routing", "sklearn": "sklearn", "pytorch_metric_learning": "metric-learning"}
CLAIMS: dict[str, str] = {
    "first_distance": r"Wide Norm +triangle defect: 0 in [\s\S]*after random edits: .* triangle defect: 0$",
    "csv_to_distance": r"wide +triangle defect: 0 minutes",
    "repair_a_matrix": r"is a metric: True, broken triples: 0$",
    "one_way_city": r"triangle defect: 0 in [\s\S]*learned potentials .* admissible on all .*: True",
    "labels_and_triplets": r"Wide Norm: triangle defect: 0$",
    "asymmetric_search": r"same distances as by comparing with all: True[\s\S]*which breaks it for the points",
    "values_and_planning": r"metric +triangle defect: 0 in ",
    "log_to_policy": r"got nan in row 1234, column 1[\s\S]*triangle_defect +0\n[\s\S]*the same policy: True$",
    "places_to_routes": r"up to rounding[\s\S]*have a shorter way[\s\S]*broken triples: 0\n[\s\S]*feasible: True",
    "metrize": r"the metric: triangle defect 0 on [\s\S]*pruned by the metric: .* 0 places missed$",
}
"""What each must print, at any size."""


def cells(name: str) -> list[tuple[str, str]]:
    """The kind and the text of each cell; blank lines before code keep its line numbers."""
    found, line = [], 0
    for part in re.split(r"^(?=# %%)", (FOLDER / f"{name}.py").read_text(), flags=re.MULTILINE):
        kind = "markdown" if part.startswith("# %% [markdown]") else "code"
        found.append(
            (kind, re.sub(r"^# ?", "", part, flags=re.MULTILINE) if kind == "markdown" else "\n" * line + part)
        )
        line += part.count("\n")
    return [(kind, text) for kind, text in found if text.strip()]


def test_every_tutorial_is_listed() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(NEEDS) == set(CLAIMS)


@pytest.mark.parametrize("name", NEEDS)
def test_begins_with_a_title_and_ends_with_links(name: str) -> None:
    parts = cells(name)
    kind, first = parts[0]
    assert kind == "markdown"
    assert re.match(r"%% \[markdown\]\n# \w.*\n\nAfter this tutorial you can ", first)
    extras = sorted(EXTRAS[library] for library in NEEDS[name])
    assert re.findall(r"trimetric\[(.*?)\]", first) == ([",".join(extras)] if extras else [])
    kind, last = parts[-1]
    assert kind == "markdown"
    links = re.findall(r"\]\(([^)]+)\)", last.split("## Next\n")[1])
    assert links
    for link in re.findall(r"\]\(([^)]+)\)", "".join(text for kind, text in parts if kind == "markdown")):
        assert (FOLDER / link).is_file(), link


@pytest.mark.parametrize("name", NEEDS)
def test_runs_and_keeps_its_claim(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for library in NEEDS[name]:
        if find_spec(library) is None:
            pytest.skip(f"needs {library}")
    monkeypatch.setenv("TRIMETRIC_SMALL", "1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    figures = 0

    def show() -> None:
        nonlocal figures
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
            figures += 1
        plt.close("all")

    plt.switch_backend("Agg")
    monkeypatch.setattr(plt, "show", show)
    printed, names = io.StringIO(), {"__name__": "__main__"}
    with contextlib.redirect_stdout(printed):
        for kind, text in cells(name):
            if kind == "code":
                exec(compile(text, str(FOLDER / f"{name}.py"), "exec"), names)
    assert figures >= 1
    assert not plt.get_fignums(), "a figure was made and not shown"
    assert re.search(CLAIMS[name], printed.getvalue(), flags=re.MULTILINE), printed.getvalue()
