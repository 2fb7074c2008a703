"""One spelling, the American one, and none of the project's old dialect in code, messages and docs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from places import ROOT

FOLDERS = ("src", "reproduction", "benchmarks", "examples", "docs")
PAGES = ("README.md", "CONTRIBUTING.md")
SUFFIXES = {".py", ".pyi", ".md", ".jinja", ".toml"}

STEMS = (
    "symmetri|normali|optimi|standardi|generali|initiali|vectori|memori|recogni|minimi|maximi|penali|summari|organi"
    "|reali|utili|regulari|discreti|parametri|speciali|visuali|factori|quanti|lineari|randomi|synchroni|seriali"
)
RATES = (
    "node|query|pair|point|step|run|seed|process|row|file|second|epoch|object|component|state|landmark|cell|head|batch"
)
PATTERNS = {
    "British spelling": re.compile(
        rf"(?:{STEMS})s(?:e|ed|es|ing|ation|er|able)(?![a-z])"
        r"|neighbour|colour|behaviour|favour|labelled|labelling|modelling|modelled|travell|cancelled|cancelling"
        r"|licence|artefact|catalogue|analyse|(?<![a-z])grey|whilst|amongst|(?<![a-z])centr(?:e|es|ed|ing)(?![a-z])",
        re.IGNORECASE,
    ),
    "dialect": re.compile(
        r"\b(?:goes|go|going|went) on\b|\bin the place of\b|\bby heart\b|\bone's own\b|\bmend(?:s|ed|ing)?\b"
        r"|\bnot to be had\b|\bso many more\b"
        rf"|\b(?:bytes|us|seconds|microseconds|minutes|pairs|steps|numbers?|once|points|rows?|lines?) an? (?:{RATES})\b"
        r"|_an?_(?:node|query|pair|point|step|row|second)\b",
        re.IGNORECASE,
    ),
}

ALLOWED: dict[str, dict[str, str]] = {
    "src/trimetric/graphs/files/dimacs.py": {"symmetrise": "the old name of an argument, for one release"},
    "src/trimetric/graphs/files/osm.py": {"symmetrise": "the old name of an argument, for one release"},
    "src/trimetric/graphs/files/reading.py": {"symmetrise": "the old name of an argument, for one release"},
    "src/trimetric/graphs/graph.py": {"symmetrised": "the old name of a method, for one release"},
    "src/trimetric/graphs/heuristics/potentials.py": {"_a_node": "the old name of a property, for one release"},
    "src/trimetric/graphs/learning/comparison.py": {"_a_node": "the old name of a property, for one release"},
    "src/trimetric/graphs/learning/features.py": {"normalise": "the old name of an argument, for one release"},
    "src/trimetric/graphs/paths/landmarks.py": {"_a_node": "the old name of a property, for one release"},
    "src/trimetric/training/identity.py": {"optimiser": "a key in checkpoints of earlier versions"},
    "src/trimetric/rl/worlds/maps.py": {"neighbour": "the old name of a method, for one release"},
}
"""Words that stay, by file: each with the reason."""

MOST: dict[tuple[str, str], int] = {}
"""How many are still there, by folder and kind.  A number may be lowered here, never raised."""


def files() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SUFFIXES)
    yield from (ROOT / page for page in PAGES if (ROOT / page).exists())


def findings() -> Iterator[tuple[str, str, str]]:
    """The folder, the kind and the place of each word that should be another."""
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        folder = "/".join(name.split("/")[:3]) if name.startswith("src/") else name.split("/")[0]
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            for kind, pattern in PATTERNS.items():
                for word in pattern.findall(line):
                    if word not in ALLOWED.get(name, {}):
                        yield folder, kind, f"{name}:{number}: {word}"


def test_spelling_and_words() -> None:
    found: dict[tuple[str, str], list[str]] = {}
    for folder, kind, place in findings():
        found.setdefault((folder, kind), []).append(place)
    counts = {key: len(places) for key, places in sorted(found.items())}
    print(sum(counts.values()), "words to change:", counts)
    for key, places in found.items():
        assert len(places) <= MOST.get(key, 0), f"{key[1]}: write it otherwise\n" + "\n".join(places)


def test_what_is_allowed_is_there() -> None:
    for name, words in ALLOWED.items():
        for word in words:
            assert word in (ROOT / name).read_text(), f"{name} no longer has {word!r}: delete it from ALLOWED"
