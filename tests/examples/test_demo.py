"""`make demo`, at a small size: what it prints, and the page that it writes."""

from __future__ import annotations

import errno
import itertools
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

pytest.importorskip("jinja2")

from examples.demo.city_data import make_city
from examples.demo.page import Content, write_page
from examples.demo.run import Demo
from trimetric.graphs import all_distances

TINY: dict[str, Any] = {"steps": 30, "starts": 1, "epochs": 4, "rates": (0.01,), "places": 8}


class Tables(HTMLParser):
    """The tables of a page by caption, each a list of rows of cells; the ids of all elements, and what links name."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.ids: list[str] = []
        self.loads: list[str] = []
        self.rows: list[list[str]] = []
        self.cell: list[str] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.loads += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "srcset", "data")]
        if tag == "table":
            self.rows = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th", "caption"):
            self.cell = []

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "caption":
            self.tables["".join(self.cell or [])] = self.rows
        elif tag in ("td", "th"):
            self.rows[-1].append("".join(self.cell or []))
        if tag in ("td", "th", "caption"):
            self.cell = None


@dataclass
class Ran:
    """A run of the demo."""

    folder: Path
    page: str
    printed: str
    parsed: Tables

    def table(self, title: str) -> list[list[str]]:
        """The table whose title starts like this."""
        return next(rows for caption, rows in self.parsed.tables.items() if caption.startswith(title))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("demo") / "out" / "demo"
    with pytest.MonkeyPatch.context() as patch:
        lines: list[str] = []
        patch.setattr("builtins.print", lambda *parts, **_: lines.append(" ".join(map(str, parts))))
        Demo(out=folder, **TINY).run()
    page = (folder / "index.html").read_text()
    return Ran(folder, page, "\n".join(lines), Tables(page))


def test_the_last_line_names_the_page(ran: Ran) -> None:
    last = Path(ran.printed.splitlines()[-1])
    assert last == (ran.folder / "index.html").resolve()
    assert last.is_file()


def test_the_page_needs_nothing_else(ran: Ran) -> None:
    assert ran.page.startswith("<!doctype html>")
    assert not re.search(r"https?:", ran.page), "an address of another page"
    assert not re.search(r"@import|url\((?!#)|<script|<iframe|<link(?! rel=\"icon\" href=\"data:)", ran.page)
    assert all(load.startswith(("#", "data:")) for load in ran.parsed.loads)
    assert "<img" not in ran.page
    assert ran.page.count('<svg role="img" aria-label=') == ran.page.count("<figure") == 10
    assert len(set(ran.parsed.ids)) == len(ran.parsed.ids), "an id is there twice"
    assert all(load[1:] in ran.parsed.ids for load in ran.parsed.loads if load.startswith("#"))
    assert not re.search(r"#0102[0-9a-f]{2}", ran.page), "a color that was not replaced by one of the page"
    assert "prefers-color-scheme: dark" in ran.page


def test_truth_stands_beside_prediction(ran: Ran) -> None:
    plane = ran.table("Distances in the graph")
    assert plane[0] == ["pair", "truth", "Euclidean", "Deep Norm", "Wide Norm"]
    assert [row[1] for row in plane[1:]] == ["1.00", "1.00", "2.00", "2.00", "1.00", "1.00"]
    city = ran.table("Minutes, truth beside prediction")
    assert city[0] == ["from", "to", "truth", "Wide Norm", "Euclidean", "MLP"]
    csv = (ran.folder / "city/pairs.csv").read_text()
    file = {tuple(line.split(",")[:2]): line.split(",")[2] for line in csv.splitlines()}
    for there, back in zip(city[1::2], city[2::2], strict=True):
        assert there[:2] == back[1::-1]
        assert float(there[2]) == pytest.approx(float(file[there[0], there[1]]), abs=0.006)
        assert there[4] == back[4], "a Euclidean distance is the same in both directions"
    errors = ran.table("Errors on the pairs")
    assert [row[0] for row in errors[1:]] == ["Wide Norm", "Euclidean", "MLP", "shortest paths"]
    assert all(0 < float(row[1].rstrip("%")) < 1000 for row in errors[1:])


def test_metrics_pass_their_audit(ran: Ran) -> None:
    for row in ran.table("Error and audit")[1:]:
        assert row[2] == "0"
    audits = {row[0]: row[1:] for row in ran.table("Audit of all 262,144 triples")[1:]}
    for name in ("Wide Norm", "Euclidean"):
        assert audits[name][:3] == ["0", "0", "0"]
        assert audits[name][-1] == "kept"
    assert audits["MLP"][-1] == "none"


def test_the_repair_breaks_no_triple(ran: Ran) -> None:
    measured, nearest, paths = ran.table("Two repairs")[1:]
    assert int(measured[1]) > 0
    assert nearest[1] == paths[1] == "0"
    assert float(nearest[2]) <= float(paths[2]), "the nearest metric is not farther than another one"
    assert float(nearest[3]) <= float(measured[3]), "the truth is a metric, so its projection is no worse"
    assert np.loadtxt(ran.folder / "times.csv", delimiter=",").shape == (8, 8)


def test_nothing_is_left_half_written(ran: Ran) -> None:
    files = {path.relative_to(ran.folder).as_posix() for path in ran.folder.rglob("*") if path.is_file()}
    assert files == {"index.html", "times.csv", "city/pairs.csv", "city/objects.csv", "city/model.safetensors"}


def test_an_error_leaves_the_page_of_the_run_before(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("jinja2.Template.render", lambda *_, **__: "half a page")
    monkeypatch.setattr("trimetric._support.atomic.sync", full)
    with pytest.raises(OSError, match=r"index.html: cannot be written, no space"):
        write_page(ran.folder / "index.html", cast("Content", SimpleNamespace()))
    assert (ran.folder / "index.html").read_text() == ran.page
    test_nothing_is_left_half_written(ran)


def test_streets_explain_all_distances(tmp_path: Path) -> None:
    city = make_city(tmp_path / "city", held_out=0.1, seed=0)
    assert np.abs(all_distances(city.graph()) - city.matrix).max() < 0.01
    for source, target in city.telling_pairs():
        way = city.route(source, target)
        minutes = sum(city.matrix[here, there] for here, there in itertools.pairwise(way))
        assert minutes == pytest.approx(city.matrix[source, target], abs=0.01)


def test_both_directions_are_set_aside_together(tmp_path: Path) -> None:
    city = make_city(tmp_path / "city", held_out=0.1, seed=3)
    tested = {tuple(pair) for pair in city.ends[city.tested].tolist()}
    assert tested == {(b, a) for a, b in tested}
    assert len(tested) == round(0.1 * len(city.ends) / 2) * 2
