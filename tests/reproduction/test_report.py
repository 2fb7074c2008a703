"""The report, from made-up rows: what it says, and that a browser shows it without a request or an error."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from reproduction.experiments import EXPERIMENTS
from reproduction.experiments.figure1.experiment import Cell, Figure1
from reproduction.frame.experiment import Result, key_of, settings
from reproduction.frame.ledger import Ledger, Run
from reproduction.frame.paper import LABELS, PRINTED_AS
from reproduction.frame.registry import Entry
from reproduction.report.page import _command, _deviations, write_page

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
MSE = {"Euclidean": 0.0572, "Mahalanobis": 0.0572, "Deep Norm": 1e-5, "Wide Norm": 0.0123, "MLP (no metric)": 0.0}


def made_up(cell: Cell) -> Run:
    results = [Result("mse", MSE[cell.model] + 1e-4 * cell.seed, cell.steps)]
    if cell.dim == 2:
        results += [
            Result("embedding", [[0, 1], [-1, 0], [1, 0], [0, -1]], cell.steps),
            Result("norm of each direction", [1 + 0.1 * math.cos(i) for i in range(12)], cell.steps),
            Result("triangle_defect", 0.0, cell.steps),
            Result("promises", "yes", cell.steps),
            Result("audit", f"audit of <{cell.model}>", cell.steps),
        ]
    return Run("figure1", key_of("figure1", cell), settings(cell), results, 1.0, "0.1.0", "c0ffee")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    Ledger(folder / "figure1.jsonl").append([made_up(cell) for cell in Figure1().cells("default", None)])
    write_page(EXPERIMENTS, folder, folder / "sub" / "report.html")
    return folder / "sub" / "report.html"


def test_every_table_and_figure_of_the_paper_has_its_place(report: Path) -> None:
    text = report.read_text()
    entries = EXPERIMENTS.values()
    beyond = [label for entry in entries for label in entry.titles if label not in LABELS]
    assert {"table_graph_astar", "table_leaderboard_ranks", "table_value_search"} <= set(beyond)
    assert re.findall(r'<h2 id="([^"]+)"', text) == [*LABELS, *beyond, "deviations", "provenance"]
    for entry in EXPERIMENTS.values():
        for label, title in entry.sections.items():
            assert f'<h2 id="{label}">{title}</h2>' in text
    assert "paper 211.8" in text  # without runs, the paper's numbers stand alone
    assert "no run" in text
    assert "No experiment makes this yet." not in text
    assert "python -m benchmarks pairwise --save" in text


def test_a_table_without_an_experiment_has_its_place_too(tmp_path: Path) -> None:
    write_page({"figure1": EXPERIMENTS["figure1"]}, tmp_path, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert re.findall(r'<h2 id="([^"]+)"', text) == [*LABELS, "deviations", "provenance"]
    assert "paper 211.8" in text
    assert "No experiment makes this yet." in text


@pytest.mark.parametrize(("about", "title"), [("", "tiny"), ("An experiment of mine", "An experiment of mine")])
def test_an_experiment_without_titles_has_a_section_of_its_own(tmp_path: Path, about: str, title: str) -> None:
    tiny = Entry("tiny", "tiny_experiment:Tiny", about)
    write_page({"tiny": tiny}, tmp_path, tmp_path / "report.html")
    empty = (tmp_path / "report.html").read_text()
    assert re.findall(r'<h2 id="([^"]+)"', empty) == [*LABELS, "tiny", "deviations", "provenance"]
    assert f'<h2 id="tiny">{title}</h2>' in empty
    assert "No runs yet: python -m reproduction tiny makes it." in empty

    experiment = tiny.load()
    runs = [
        Run("tiny", key_of("tiny", cell), settings(cell), experiment.run(cell), 1.0, "0.1.0", "c0ffee")
        for cell in experiment.cells("quick", (1,))
    ]
    Ledger(tmp_path / "tiny.jsonl").append(runs)
    write_page({"tiny": tiny}, tmp_path, tmp_path / "report.html")
    full = (tmp_path / "report.html").read_text()
    assert "No runs yet: python -m reproduction tiny makes it." not in full
    assert "<b>2.10</b>" in full
    claim, verdict, found = overview(full)["tiny"][1:]
    assert (claim, verdict) == (title, "")  # it declares no claim and finds nothing
    assert "not judged" in found


def overview(text: str) -> dict[str, list[str]]:
    """The cells of the overview, by the label to which a row links."""
    (table,) = re.findall(r'<table class="overview".*?</table>', text, flags=re.DOTALL)
    rows = re.findall(r'<tr><th scope="row"><a href="#([^"]+)">(.*?)</a></th>(.*?)</tr>', table)
    return {label: [name, *re.findall(r"<td[^>]*>(.*?)</td>", cells)] for label, name, cells in rows}


def test_the_overview_has_a_row_for_each_table_and_figure(report: Path) -> None:
    text = report.read_text()
    rows = overview(text)
    assert list(rows)[: len(LABELS)] == list(LABELS)
    assert {label: row[0] for label, row in rows.items() if label in LABELS} == PRINTED_AS
    assert rows.keys() <= set(re.findall(r'id="([^"]+)"', text))  # every link has a target
    assert all(row[1] for row in rows.values())
    assert rows["table_mn_1"][3] == "no runs yet"
    # The made-up errors are the paper's, but for the Wide Norm.
    assert rows["figure_motivation"][2:] == [
        "◐ holds in part",
        "the paper&#39;s MSE in 2 of 3 models; Mahalanobis 0.057, Deep Norm 0.000, Wide Norm 0.012",
    ]
    assert "◐ 1 hold in part" in text
    assert text.index('id="overview"') < text.index("<details") < text.index("c0ffee")


def test_every_claim_belongs_to_a_section() -> None:
    for entry in EXPERIMENTS.values():
        assert entry.claims.keys() == entry.titles.keys()
        assert entry.load().findings([]).keys() <= entry.titles.keys()


def test_cells_say_what_stands_behind_them(report: Path) -> None:
    text = re.sub(r"\s+", " ", report.read_text())
    for name, verdict in {"Mahalanobis": "matches", "Deep Norm": "matches", "Wide Norm": "misses"}.items():
        (line,) = re.findall(rf'<tr><th scope="row" data-sort="{name}">.*?</tr>', text)[:1]
        assert f'<span class="{verdict}">{verdict}</span>' in line
        assert re.search(r"<span>worst [.\d]+</span></td>", line)
    assert "Each cell: best of 3 seeds, 1,500 epochs." in text
    assert '2 match</span> it, <span class="misses">1 miss</span>' in text
    assert "figure1: runs made at commit <code>c0ffee</code>" in text
    assert "Made by <code>python -m reproduction figure1</code>" in text
    assert "audit of &lt;Deep Norm&gt;" in text
    assert 'alt="A graph of four nodes' in text


def test_it_asks_for_nothing(report: Path) -> None:
    addresses = re.findall(r'(?:src|href)="([^"]*)"', report.read_text())
    assert addresses
    assert [a for a in addresses if not a.startswith(("#", "data:"))] == []
    anchors = set(re.findall(r'id="([^"]+)"', report.read_text()))
    assert {a[1:] for a in addresses if a.startswith("#")} <= anchors


@pytest.mark.parametrize(
    ("cells", "command"),
    [
        (Figure1().cells("quick", None), "figure1 --quick"),
        (Figure1().cells("paper", None), "figure1 --paper"),
        (Figure1().cells("default", (77,)), "figure1 --seeds 77"),
        ([*Figure1().cells("quick", None), *Figure1().cells("default", None)], "figure1"),
    ],
    ids=["quick", "paper", "seeds", "quick and default"],
)
def test_the_command_is_the_one_that_made_it(cells: list[Cell], command: str) -> None:
    plane, _ = Figure1().tables([row for cell in cells for row in made_up(cell).rows()])
    assert _command(Figure1(), plane.runs) == f"python -m reproduction {command}"


def test_the_same_rows_make_the_same_page(report: Path, tmp_path: Path) -> None:
    write_page(EXPERIMENTS, report.parents[1], tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == report.read_bytes()


def test_deviations_have_anchors_and_no_markup_of_their_own() -> None:
    html = str(_deviations("# Title\n\n**D1. One.**\nText <script>x</script>.\n\n## Part\n\n**D2. Two.** `code`\n"))
    assert re.findall(r'<p id="(D\d+)"', html) == ["D1", "D2"]
    assert "<script>" not in html
    assert "<h3>Part</h3>" in html
    assert "Title" not in html


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium on this machine; as root on Debian, `make browser` installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


def opened(browser: Any, report: Path, width: int, height: int) -> tuple[Page, list[str]]:
    """The page, and a list that collects its errors and requests."""
    page, wrong = browser.new_page(viewport={"width": width, "height": height}), []
    page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url[:100]}"))
    page.on("request", lambda r: wrong.append(r.url) if not r.url.startswith(("file:", "data:")) else None)
    page.goto(report.as_uri())
    return page, wrong


def section(page: Page, label: str) -> Any:
    return page.locator(f"details.section:has(#{label})")


def column(page: Page) -> list[str]:
    return section(page, "figure_motivation").locator(".wide table").first.locator("tbody th").all_inner_texts()


def test_tables_sort_in_a_browser(browser: Any, report: Path, tmp_path: Path) -> None:
    page, wrong = opened(browser, report, 1280, 900)
    page.locator("#overview a").first.click()
    part = section(page, "figure_motivation")
    assert column(page) == ["Mahalanobis", "Deep Norm", "Wide Norm", "MLP (no metric)"]
    head = part.locator(".wide thead th").nth(1)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page) == ["MLP (no metric)", "Deep Norm", "Wide Norm", "Mahalanobis"]
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page) == ["Mahalanobis", "Wide Norm", "Deep Norm", "MLP (no metric)"]
    part.locator(".wide thead th").first.get_by_role("button").click()
    assert column(page) == ["Deep Norm", "Mahalanobis", "MLP (no metric)", "Wide Norm"]
    assert head.get_attribute("aria-sort") is None

    # Empty cells come last in both directions: our norms have no runs in R^10 here.
    dims = part.locator(".wide table").nth(1)
    for _ in range(2):
        dims.locator("thead button").last.click()
        assert set(dims.locator("tbody th").all_inner_texts()[2:]) == {"Deep Norm", "Wide Norm"}
    page.screenshot(path=tmp_path / "report.png", full_page=True)
    assert (tmp_path / "report.png").stat().st_size > 50_000
    assert wrong == []


def test_it_fits_a_phone(browser: Any, report: Path) -> None:
    page, wrong = opened(browser, report, 390, 844)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("button", name="open all").click()
    assert page.evaluate("[...document.querySelectorAll('details')].every(part => part.open)")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    for image in page.locator("figure img").all():
        image.scroll_into_view_if_needed()  # they are loaded when they are seen
    page.wait_for_function("[...document.images].every(image => image.naturalWidth > 0)", timeout=20_000)
    widths = page.evaluate("[...document.images].map(image => image.naturalWidth)")
    assert len(widths) == 2
    assert all(widths)  # the figures were decoded
    assert wrong == []


@pytest.mark.parametrize("label", ["table_mn_1", "D17", "provenance"])
def test_a_fragment_opens_what_it_points_at(browser: Any, report: Path, label: str) -> None:
    page, wrong = opened(browser, report, 1280, 900)
    assert page.locator("details[open]").count() == 0
    page.goto(f"{report.as_uri()}#{label}")
    page.reload()
    assert page.locator("details[open]").count() == 1
    assert page.locator(f"#{label}").is_visible()
    assert wrong == []


def test_it_has_a_dark_style(browser: Any, report: Path) -> None:
    colors = set()
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(report.as_uri())
        colors.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.close()
    assert len(colors) == 2
