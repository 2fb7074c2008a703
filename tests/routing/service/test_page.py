"""The map page in a real browser: no error, no request elsewhere, and the way there and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from running_service import Running

from website.check import FLAGS, find_browser

pytest.importorskip("playwright")

A, B = (0.62, 0.55), (0.8, 0.3)
"""of the window"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = find_browser()
    if program is None:
        pytest.skip("needs Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield found
        found.close()


def opened(browser: Any, town: Running, path: str = "/", **settings: Any) -> tuple[Any, list[str]]:
    page = browser.new_page(**settings)
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(town.url) else wrong.append(f"asks {asked.url}"))
    page.goto(town.url + path)
    page.wait_for_selector("html[data-ready]", timeout=15_000)
    return page, wrong


def click(page: Any, place: tuple[float, float]) -> None:
    size = page.viewport_size
    page.mouse.click(place[0] * size["width"], place[1] * size["height"])


def colors(page: Any) -> int:
    """How many different colors the roads have."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate("""() => {
      const copy = document.createElement('canvas'), roads = document.getElementById('roads');
      [copy.width, copy.height] = [roads.width, roads.height];
      const context = copy.getContext('2d');
      context.drawImage(roads, 0, 0);
      const data = context.getImageData(0, 0, copy.width, copy.height).data, found = new Map();
      for (let i = 0; i < data.length; i += 4) {
        const color = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
        found.set(color, (found.get(color) || 0) + 1);
      }
      return [...found.values()].filter((count) => count > 40).length;
    }""")


@pytest.mark.parametrize("renderer", ["canvas", "webgl"])
def test_isochrones_and_the_way_there_and_back(browser: Any, town: Running, renderer: str) -> None:
    window = {"width": 1000, "height": 640}
    page, wrong = opened(browser, town, f"/?renderer={renderer}", viewport=window)
    drawn = page.evaluate("document.documentElement.dataset.renderer")
    if renderer == "webgl" and drawn != "webgl":
        page.close()
        pytest.skip("this browser has no WebGL")
    plain = colors(page)
    click(page, A)
    page.wait_for_selector("#legend:not([hidden])")
    assert "minutes" in page.inner_text("#legend-title")
    assert colors(page) > plain + 2
    click(page, B)
    page.wait_for_selector("#result:not([hidden])")
    ways = page.locator("#routes dt").all_inner_texts()
    assert ways == ["A to B", "learned", "B to A", "learned"]
    times = page.locator("#routes dd").all_inner_texts()
    assert times[0] != times[2], "one-way streets make them differ"
    for show in ("learned", "error", "exact"):
        page.locator(f"input[value={show}]").check()
        assert ("percent" in page.inner_text("#legend-title")) == (show == "error")
    page.locator("#reverse").check()
    page.locator("#legend-title", has_text="to A").wait_for()
    page.locator("#clear").click()
    assert page.locator("#legend").is_hidden()
    # To look at the colors here, pixels are read back, which some drivers find slow.
    assert [line for line in wrong if "ReadPixels" not in line] == []
    page.close()


def test_the_keyboard_is_enough(browser: Any, town: Running) -> None:
    page, wrong = opened(browser, town, viewport={"width": 1000, "height": 640}, color_scheme="dark")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "stage"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.wait_for_selector("#legend:not([hidden])")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("#result:not([hidden])")
    assert "A to B" in page.inner_text("#status")
    page.keyboard.press("Escape")
    assert page.locator("#result").is_hidden()
    assert wrong == []
    page.close()


def test_a_phone_has_room_and_large_targets(browser: Any, town: Running) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
    page, wrong = opened(browser, town, **phone)
    page.touchscreen.tap(200, 200)
    page.wait_for_selector("#legend:not([hidden])")
    page.touchscreen.tap(260, 260)
    page.wait_for_selector("#result:not([hidden])")
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1")
    small = page.evaluate("""() => [...document.querySelectorAll('button, a, label')]
      .filter((item) => item.offsetParent && item.getBoundingClientRect().height < 43.5)
      .map((item) => item.textContent)""")
    assert small == []
    before = page.evaluate("document.getElementById('roads').width")
    assert before == 780
    assert wrong == []
    page.close()


def test_a_place_off_the_map_is_told(browser: Any, town: Running) -> None:
    page, wrong = opened(browser, town, viewport={"width": 1000, "height": 640})
    for _ in range(4):
        page.locator("#out").click()
    click(page, (0.97, 0.5))
    page.wait_for_selector("#hint.wrong")
    assert "road within" in page.inner_text("#hint")
    assert all("400" in line for line in wrong), "the browser itself tells of refused requests"
    page.close()


def test_the_documentation_asks_nobody_else(browser: Any, town: Running) -> None:
    page, wrong = opened(browser, town, "/docs", viewport={"width": 1000, "height": 640})
    assert "/table/v1/{profile}/{coordinates}" in page.inner_text("#list")
    assert wrong == []
    page.close()
