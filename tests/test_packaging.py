"""What is published and how: versions agree, the files that pyproject.toml names exist, and workflows call what exists.

`make dist` builds the wheel and looks into it, which takes too long here.
"""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from places import ROOT

import trimetric

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))


def test_files_of_the_source_archive_exist() -> None:
    for name in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / name).exists(), f"pyproject.toml includes {name}, which does not exist"


def test_the_package_has_its_types() -> None:
    (package,) = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    for name in ("py.typed", "__init__.pyi", "graphs/__init__.pyi", "models/__init__.pyi"):
        assert (ROOT / package / name).is_file()


def test_one_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == trimetric.__version__
    newest = re.search(r"^## (\S+) \((\S+)\)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert newest is not None
    assert newest.groups() == (trimetric.__version__, str(citation["date-released"]))


def test_python_versions_are_those_that_are_tested() -> None:
    stated = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    tested = load(ROOT / ".github" / "workflows" / "test.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert stated == tested
    assert PROJECT["project"]["requires-python"] == f">={stated[0]}"
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{stated[0].replace('.', '')}"


def test_what_the_dev_extra_needs_is_pinned() -> None:
    pinned = {line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    for needed in PROJECT["project"]["optional-dependencies"]["dev"]:
        name = re.split(r"[\[>=<]", needed)[0]
        assert name == "trimetric" or name.lower() in pinned, f"constraints.txt does not pin {name}"


def test_pinned_packages_install_on_the_oldest_python() -> None:
    """Its first release too: Debian 12 has 3.11.2."""
    oldest = f"{PROJECT['project']['requires-python'].removeprefix('>=')}.0"
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        try:
            needed = metadata.metadata(line.partition("==")[0]).get("Requires-Python") or ""
        except metadata.PackageNotFoundError:  # not in this set-up
            continue
        assert SpecifierSet(needed).contains(oldest), f"{line} needs Python {needed}, but {oldest} is supported"


def load(file: Path) -> dict[Any, Any]:
    return yaml.safe_load(file.read_text())


def test_there_are_workflows() -> None:
    assert [file.stem for file in WORKFLOWS] == ["docs", "release", "test"]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_is_sound(file: Path) -> None:
    workflow = load(file)
    assert workflow[True], "YAML reads the key `on` as true"
    assert workflow["permissions"] == {"contents": "read"}
    assert "cancel-in-progress" in workflow["concurrency"]
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 60
        assert set(job.get("permissions", {})) <= {"id-token", "pages"}
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert "@" in step.get("uses", "@"), f"{step['uses']} has no version"


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_targets_of_make_exist(file: Path) -> None:
    called = re.findall(r"\bmake ([\w-]+)", file.read_text())
    assert set(called) <= TARGETS, f"{file.name} calls make {set(called) - TARGETS}, which the Makefile does not have"
