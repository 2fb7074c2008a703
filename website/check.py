"""Check a built site: every internal link resolves, and browsers open it from disk without errors or requests.

python -m website.check site
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
SEARCHES = ("WideNorm", "audit")
PHONE = {"width": 390, "height": 844}
TOO_WIDE = "document.documentElement.scrollWidth > window.innerWidth + 1"
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
"""What a browser fetches without being asked."""


class _Links(HTMLParser):
    """The links, ids and fetched files of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        for name in ("href", "src"):
            if name in given and (tag, given.get("rel")) != ("link", "canonical"):
                (self.fetched if (tag, name) in LOADED else self.links).append(given[name])


def broken_links(site: Path) -> list[str]:
    """Return the internal links of all pages that lead nowhere, and what pages fetch from elsewhere.

    Args:
        site: the folder of a built site.
    """
    pages: dict[Path, _Links] = {}
    for file in sorted(site.rglob("*.html")):
        pages[file.resolve()] = parser = _Links()
        parser.feed(file.read_text())
    wrong = []
    for file, page in pages.items():
        name = file.relative_to(site.resolve())
        wrong += [f"{name}: fetches {link}" for link in page.fetched if urlsplit(link).scheme not in ("", "data")]
        for link in [*page.links, *page.fetched]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or file.name == "404.html":  # which has links from the root of a server
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.is_file():
                wrong.append(f"{name}: {link} does not exist")
            elif target in pages and not _has(pages[target], unquote(parts.fragment)):
                wrong.append(f"{name}: {link} has no such place")
    return wrong


def _has(page: _Links, place: str) -> bool:
    return not place or place in page.ids or place.startswith("__")  # a switch of the theme's own scripts


def find_browser() -> str | None:
    """Return the Chromium of this machine, if there is one."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def _failed(request: Any) -> bool:
    return request.failure != "net::ERR_ABORTED"  # the icon of a page that was left at once


@contextmanager
def opened(
    program: str, *, width: int = 1280, height: int = 900, dark: bool = False
) -> Iterator[tuple[Any, list[str]]]:
    """Open an empty page of a browser, with a list that collects errors and requests to other machines.

    Args:
        program: the browser.
        width: of the window.
        height: of the window.
        dark: whether the reader prefers dark pages.
    """
    from playwright.sync_api import sync_playwright

    wrong: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        scheme = "dark" if dark else "light"
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.on("console", lambda message: wrong.append(f"{page.url}: {message.type}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
        page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}") if _failed(request) else None)
        local = ("file:", "data:", "blob:", "about:")
        page.on("request", lambda asked: None if asked.url.startswith(local) else wrong.append(f"asks {asked.url}"))
        yield page, wrong
        browser.close()


def search(page: Any, site: Path, words: str) -> list[str]:
    """Return the titles that the search of the site finds.

    Args:
        page: of a browser.
        site: the folder of a built site.
        words: to search for.
    """
    page.goto((site / "index.html").resolve().as_uri())
    page.locator("input.md-search__input").click()
    page.locator("input.md-search__input").fill(words[:-1])  # at once: on a busy machine, it warns of a single letter
    page.locator("input.md-search__input").press_sequentially(words[-1])  # the theme waits for keys
    page.locator(".md-search-result__item").first.wait_for(timeout=10_000)
    return page.locator(".md-search-result__item :is(h1, h2)").all_inner_texts()


def browse(site: Path, program: str, pages: Collection[Path]) -> list[str]:
    """Open pages in a browser, search, and look for pages wider than a phone; return what goes wrong.

    Args:
        site: the folder of a built site.
        program: the browser.
        pages: the files to open.
    """
    with opened(program) as (page, wrong):
        for file in pages:
            page.goto(file.resolve().as_uri())
        for words in SEARCHES:
            found = search(page, site, words)
            if not any(words.lower() in title.lower() for title in found):
                wrong.append(f"search: expected a page about {words}, got {found}")
        page.set_viewport_size(PHONE)
        for file in pages:
            page.goto(file.resolve().as_uri())
            if page.evaluate(TOO_WIDE):
                wrong.append(f"{file.name}: wider than a phone")
    return wrong


def main(folder: str) -> int:
    """Check a site; print what is wrong.

    Args:
        folder: of the built site.

    Returns:
        The exit code: 0 if nothing is wrong, else 1.
    """
    site = Path(folder)
    pages = sorted(site.rglob("*.html"))
    wrong, checked = broken_links(site), "every link resolves"
    program = find_browser()
    if program is None:
        print("No Chromium on this machine: only the links were checked", file=sys.stderr)
    else:
        wrong += browse(site, program, [file for file in pages if file.name != "404.html"])
        checked += ", no errors, no requests to other machines, none wider than a phone"
    print("\n".join(wrong) or f"{len(pages)} pages: {checked}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
