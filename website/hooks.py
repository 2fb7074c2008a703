"""What MkDocs calls while it builds the site (`hooks` in mkdocs.yml)."""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from trimetric.cli.main import COMMANDS
from website import api, commands, formulas, repository_pages, tutorials


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the parts of the navigation that follow from the code."""
    listed = {"api/*": [*api.pages()], "commands/*": ["commands/index.md", *map(commands.place, COMMANDS)]}
    config.nav = [
        {title: listed.get(part, part) if isinstance(part, str) else part for title, part in entry.items()}
        for entry in config.nav or ()
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from code: API, commands, tutorials, and the pages at the root of the repository."""
    made: dict[str, str | bytes] = {
        **{place: page for place, page in api.pages().items() if place != api.OVERVIEW},
        **commands.pages({file.src_uri for file in files}),
        **repository_pages.pages(),
        **tutorials.pages(execute=bool(config.extra["execute"])),
    }
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Complete the text of a page: links out of `docs/`, the options of a command, all names of the API."""
    uri = page.file.src_uri
    text = repository_pages.with_links_inside(uri, markdown)
    return api.with_names(uri, commands.with_options(uri, text))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Turn formulas into MathML, which browsers show without a script."""
    return formulas.with_mathml(html)
