"""What an experiment says about itself before its code is imported.

Each folder `experiments/<name>/` declares its experiments in its `__init__.py`.  A declaration imports neither torch
nor matplotlib, so that `--help`, `list` and error messages appear at once.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reproduction.frame.paper import LABELS

if TYPE_CHECKING:
    from reproduction.frame.experiment import Experiment


@dataclass(frozen=True)
class Entry:
    """The declaration of one experiment.

    Only the name and the target are required: an experiment without `sections` is shown in one section of the report,
    under its `about` or else its name.
    """

    name: str
    """name of the command and of the ledger; the same as the `name` of the class"""
    target: str
    """where the class is, as `module:Class`"""
    about: str = ""
    """what it is, in a line of `python -m reproduction list`"""
    sections: Mapping[str, str] = field(default_factory=dict)
    """titles of the report's sections, by label: a table or figure of the paper (`paper.LABELS`) or a new label.

    A table or figure of the experiment is shown in the section with its label; if there is none, in the section of the
    table or figure before it, or in the first one.
    """

    claims: Mapping[str, str] = field(default_factory=dict)
    """what the paper claims with a table or figure (or what a new one asks), by label: a line of the overview.

    What we found is `Experiment.findings`.
    """

    @property
    def titles(self) -> Mapping[str, str]:
        """The sections; where none are declared, one for the whole experiment."""
        return self.sections or {self.name: self.about or self.name}

    def load(self) -> Experiment[Any]:
        """Import the experiment and create it."""
        module, _, name = self.target.partition(":")
        return getattr(importlib.import_module(module), name)()


def discover(package: str) -> dict[str, Entry]:
    """Collect the declarations of all experiments in a package.

    Args:
        package: full name of a package whose sub-packages have a tuple `EXPERIMENTS` of entries; others are ignored.

    Returns:
        The entries by name: first those that make parts of the paper, in its order, then the others.
    """
    folder = importlib.import_module(package)
    modules = [importlib.import_module(f"{package}.{found.name}") for found in pkgutil.iter_modules(folder.__path__)]
    entries = [entry for module in modules for entry in getattr(module, "EXPERIMENTS", ())]
    return {entry.name: entry for entry in sorted(entries, key=_place)}


def _place(entry: Entry) -> int:
    return min((LABELS.index(label) for label in entry.sections if label in LABELS), default=len(LABELS))
