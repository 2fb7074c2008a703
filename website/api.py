"""The pages of the API reference: every public name of the packages, found in their source."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import griffe

SOURCE = Path(__file__).parent.parent / "src"
PACKAGES = (
    "trimetric",
    "trimetric.nearness",
    "trimetric.graphs",
    "trimetric.rl",
    "trimetric.routing",
    "trimetric.search",
    "trimetric.labels",
    "trimetric.integrations.sklearn",
    "trimetric.integrations.pytorch_metric_learning",
    "trimetric.integrations.torchqmet",
    "trimetric.integrations.jax",
    "trimetric.integrations.huggingface",
)
GROUPS = {
    "trimetric": {
        "norms": "Norms",
        "distances": "Distances",
        "training": "Training",
        "metrizing": "Functions made metrics",
        "models": "Models",
        "": "All pairs, audit, axioms",
    },
    "trimetric.graphs": {
        "": "Graphs",
        "files": "Graphs: files",
        "generators": "Graphs: generators",
        "paths": "Graphs: shortest paths",
        "heuristics": "Graphs: heuristics",
        "learning": "Graphs: learning",
    },
    "trimetric.rl": {
        "worlds": "Planning: worlds",
        "trajectories": "Planning: logged episodes",
        "objectives": "Planning: objectives",
        "policies": "Planning: policies",
        "evaluation": "Planning: evaluation",
        "transitions": "Planning: transitions",
        "learning": "Planning: learning",
        "planning": "Planning: walks and scores",
    },
}
"""Packages whose names are spread over several pages, by the sub-package that defines a name; `""` for all others."""
FORMULA = re.compile(r"\$.+?\$")
OVERVIEW = "api/index.md"
TITLES = {
    "trimetric.nearness": "Nearness",
    "trimetric.routing": "Travel matrices",
    "trimetric.search": "Search",
    "trimetric.labels": "Labels",
    "trimetric.integrations.sklearn": "scikit-learn",
    "trimetric.integrations.pytorch_metric_learning": "pytorch-metric-learning",
    "trimetric.integrations.torchqmet": "torchqmet",
    "trimetric.integrations.jax": "JAX",
    "trimetric.integrations.huggingface": "Hugging Face Hub",
}


def public_names(package: str) -> dict[str, str]:
    """The public names of a package, and the module that each is imported from.

    A name is public that `__init__.pyi`, or else `__init__.py`, imports as itself (`from .x import Name as Name`); in a
    plain module, a class or function that it defines.

    Args:
        package: its dotted name.

    Examples:
        >>> public_names("trimetric")["WideNorm"]
        'trimetric.norms'
    """
    folder = SOURCE.joinpath(*package.split("."))
    if not folder.is_dir():
        tree = ast.parse(folder.with_suffix(".py").read_text())
        defined = [node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
        return {name: package for name in defined if not name.startswith("_")}
    stub = folder / "__init__.pyi"
    tree = ast.parse((stub if stub.exists() else folder / "__init__.py").read_text())
    return dict(_reexports(package, tree))


def _reexports(package: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not (node.level and node.module is None):
            module = f"{package}.{node.module}" if node.level else str(node.module)
            for alias in node.names:
                if alias.name == alias.asname:
                    yield alias.name, module


@cache
def pages() -> dict[str, str | bytes]:
    """The pages of the reference, by their place in the site; of the first one, what is appended to it."""
    tree = griffe.load("trimetric", search_paths=[str(SOURCE)], resolve_aliases=True)
    made: dict[str, str | bytes] = {}
    overview: list[str] = []
    for package in PACKAGES:
        for title, names in _grouped(package).items():
            file = f"{title.lower().replace(': ', '-').replace(', ', '-').replace(' ', '-')}.md"
            blocks = "\n\n".join(f"::: {package}.{name}" for name in names)
            made[f"api/{file}"] = f"# {title}\n\nImport these names from `{package}`.\n\n{blocks}\n"
            rows = (f"| [`{n}`][{package}.{n}] | {_summary(tree[f'{package}.{n}'.partition('.')[2]])} |" for n in names)
            overview += ["", f"## [{title}]({file})", "", "| name | what it is |", "|---|---|", *rows]
    return {OVERVIEW: "\n".join(overview) + "\n", **made}


def with_names(page: str, text: str) -> str:
    """Append the list of all names to the first page of the reference; leave other pages as they are.

    Args:
        page: its place below `docs/`.
        text: its Markdown.
    """
    return f"{text.rstrip()}\n{pages()[OVERVIEW]}" if page == OVERVIEW else text


def _grouped(package: str) -> dict[str, list[str]]:
    """The names of a package by the title of their page, in the order of `GROUPS`."""
    groups = GROUPS.get(package, {"": TITLES.get(package, package)})
    found: dict[str, list[str]] = defaultdict(list)
    for name, module in public_names(package).items():
        part = module.removeprefix(f"{package}.").partition(".")[0] if module.startswith(f"{package}.") else ""
        found[groups.get(part, groups.get("", package))].append(name)
    return {
        title: sorted(found[title], key=str.lower)
        for title in dict.fromkeys([*groups.values(), *found])
        if found[title]
    }


def _summary(item: griffe.Object | griffe.Alias) -> str:
    """The first paragraph of the docstring, in one line of a table, where a bar would end the cell."""
    text = item.docstring.value if item.docstring else ""
    line = " ".join(text.partition("\n\n")[0].split())
    line = FORMULA.sub(lambda found: found[0].replace(r"\|", r"\Vert{}").replace("|", r"\vert{}"), line)
    return line.replace("|", r"\|")
