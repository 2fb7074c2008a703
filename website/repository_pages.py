"""Pages of the repository that lie outside of `docs/`, and links to them."""

from __future__ import annotations

import posixpath
import re
import textwrap
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
PAGES = {
    "CHANGELOG.md": "about/changelog.md",
    "CONTRIBUTING.md": "about/contributing.md",
    "reproduction/README.md": "evidence/reproduction.md",
}
"""Files of the repository that become pages of the site."""
OTHERS = {"README.md": "index.md", "CITATION.cff": "about/citation.md"}
"""Files of the repository with a page of the site that serves the same purpose."""
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def pages() -> dict[str, str | bytes]:
    """Pages of the site that are files of the repository, by their place in the site."""
    made: dict[str, str | bytes] = {place: (ROOT / name).read_text() for name, place in PAGES.items()}
    return {**made, "about/citation.md": _citation()}


def with_links_inside(place: str, text: str) -> str:
    """Let links of a page lead to pages of the site.

    Args:
        place: of the page, below `docs/`.
        text: Markdown, whose links are right in the repository.

    Returns:
        The text with links as the site needs them; a link to a file that the site does not have becomes its name.
    """
    source = next((name for name, page in PAGES.items() if page == place), f"docs/{place}")

    def inside(found: re.Match[str]) -> str:
        image, label, target, anchor = found.groups(default="")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        page = (PAGES | OTHERS).get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
        if page is None:
            return f"{label} (`{path}`)" if label.strip("`") != path else f"`{path}`"
        page = re.sub(r"^(tutorials/\w+)\.py$", r"\1.md", page)
        return f"{image}[{label}]({posixpath.relpath(page, posixpath.dirname(place) or '.')}{anchor})"

    return LINK.sub(inside, text)


def _citation() -> str:
    """The page that says how to cite, from CITATION.cff."""
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    paper = cff["preferred-citation"]
    authors = " and ".join(f"{author['family-names']}, {author['given-names']}" for author in paper["authors"])
    key = f"{paper['authors'][0]['family-names'].lower()}{paper['year']}"
    software = " and ".join(f"{{{author['name']}}}" for author in cff["authors"])
    return textwrap.dedent("""\
        # Citation

        {message}

        ```bibtex
        @inproceedings{{{key},
          title     = {{{title}}},
          author    = {{{authors}}},
          booktitle = {{{collection}}},
          year      = {{{year}}},
        }}
        ```

        The software itself:

        ```bibtex
        @software{{trimetric,
          title   = {{{software_title}}},
          author  = {{{software}}},
          version = {{{version}}},
        }}
        ```

        Both are in `CITATION.cff`, at the root of the repository. License: {license}.
        """).format(
        message=cff["message"],
        key=key,
        title=paper["title"],
        authors=authors,
        collection=paper["collection-title"],
        year=paper["year"],
        software_title=cff["title"],
        software=software,
        version=cff["version"],
        license=cff["license"],
    )
