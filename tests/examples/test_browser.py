"""The page that answers distances in a browser, opened from disk in Chromium: no request leaves it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from places import ROOT

import trimetric as tm
from examples.browser.build import RUNTIME, write_page
from website.check import find_browser, opened

for library in ("onnx", "onnxscript", "playwright"):
    pytest.importorskip(library, reason=f"needs {library}: pip install 'trimetric[dev]'")

FOLDERS = [Path(os.environ.get("ONNXRUNTIME_WEB", "")), ROOT / "build/node_modules/onnxruntime-web/dist"]


@pytest.fixture(scope="module")
def runtime() -> Path:
    found = next((folder for folder in FOLDERS if (folder / RUNTIME).is_file()), None)
    if found is None:
        pytest.skip("no npm package onnxruntime-web: `make browser-runtime`, or its dist in ONNXRUNTIME_WEB")
    return found


@pytest.fixture(scope="module")
def browser() -> str:
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium on this machine; as root on Debian, `make browser` installs it")
    return program


def models() -> dict[str, tm.Model]:
    torch.manual_seed(0)
    ids = ["home", "</script>", "work & play", "school", "\u00e9cole", "shop", "far"]
    vectors = tm.Siamese(tm.MLP(3, 8, widths=(16,)), tm.recommended(8, symmetric=False))
    table = tm.Siamese(torch.nn.Embedding(7, 8), tm.NeuralMetric(tm.IntervalQuasimetric(8, components=2)))
    return {
        "features": tm.Model(vectors, ids, torch.randn(7, 3), {"unit": "minutes"}),
        "numbers": tm.Model(table, ids),
    }


@pytest.mark.parametrize("name", ["features", "numbers"])
def test_a_browser_answers_offline(name: str, runtime: Path, browser: str, tmp_path: Path) -> None:
    model = models()[name]
    expected = model.all_pairs()
    file = write_page(model, runtime, tmp_path / "page.html")
    with opened(browser) as (page, wrong):
        page.goto(file.as_uri())
        page.locator("body[data-ready=yes]").wait_for(timeout=60_000)
        rows = [(i, j) for i in range(7) for j in range(7)]
        found = page.evaluate("([a, b]) => window.distances(a, b)", [[i for i, _ in rows], [j for _, j in rows]])
        assert torch.allclose(torch.tensor(found).view(7, 7), expected, rtol=1e-5, atol=1e-6)
        page.locator("#from").select_option(label="</script>")
        page.locator("#to").select_option(label="far")
        shown = f"{expected[1, 6]:.3f}"[:4]
        page.locator(f"#distance:text('{shown}')").wait_for(timeout=10_000)
        unit = page.locator("#distance").inner_text().partition(" ")[2]
        assert unit == (model.notes.get("unit") or "")
        nearest = int(expected[1].index_fill(0, torch.tensor([1]), torch.inf).argmin())
        assert page.locator("#nearest tr td").first.inner_text() == model.ids[nearest]  # type: ignore[index]
        assert wrong == []


def test_what_cannot_be_a_page_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="model: expected one whose objects have names"):
        write_page(tm.Model(tm.NormInduced(tm.Euclidean(2))), tmp_path, tmp_path / "page.html")
    with pytest.raises(FileNotFoundError, match="runtime: expected the dist of onnxruntime-web"):
        write_page(models()["numbers"], tmp_path, tmp_path / "page.html")
