"""The names of the package: listed once, imported on first use, the same for people, type checkers and pickles."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Literal, get_origin

import pytest

import trimetric as tm
from trimetric._support.moved import MOVED


def test_every_name_is_there_and_nothing_else() -> None:
    assert dir(tm) == sorted(tm.__all__)
    for name in tm.__all__:
        value = getattr(tm, name)
        if name != "__version__" and not isinstance(value, ModuleType):
            assert isinstance(value, (type, FunctionType)), name
            assert pickle.loads(pickle.dumps(value)) is value
    with pytest.raises(AttributeError, match="module 'trimetric' has no attribute 'Nothing'"):
        _ = tm.Nothing  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        from trimetric import Nothing  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize(
    "name", ["distances", "graphs", "labels", "models", "nearness", "norms", "rl", "routing", "search", "training"]
)
def test_packages_show_what_is_theirs(name: str) -> None:
    package = import_module(f"trimetric.{name}")
    for shown in dir(package):
        value = getattr(package, shown)
        home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "trimetric")
        if not shown.startswith("_"):
            assert str(home).startswith("trimetric") or get_origin(value) is Literal, shown
            assert shown != "TYPE_CHECKING"


FRESH = {
    "importing is light": "import trimetric, sys; assert 'torch' not in sys.modules and 'numpy' not in sys.modules",
    "a function is no module": (
        "import trimetric.models, trimetric._audit; import trimetric as tm;"
        "assert all(callable(f) for f in (tm.all_pairs, tm.audit, tm.export, tm.recommended))"
    ),
    "sub-packages come when asked for": (
        "import trimetric as tm; tm.graphs.Graph; tm.nearness.nearest_metric; tm.rl; tm.search.Index"
    ),
    "a star means the table": "from trimetric import *; assert all_pairs and WideNorm and fit",
    "a model file names any class": (
        "from trimetric.models import Model; from trimetric._support.described import build;"
        "build({'class': 'MLP', 'arguments': {'in_features': 2, 'out_features': 3}})"
    ),
}


@pytest.mark.parametrize("case", FRESH)
def test_in_a_fresh_interpreter(case: str) -> None:
    subprocess.run([sys.executable, "-c", FRESH[case]], check=True)


def test_modules_by_their_old_names_warn_and_are_the_new_ones() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for old, new in MOVED.items():
            assert import_module(old) is import_module(new)
            sys.modules.pop(old)
    told = {str(warning.message).partition(";")[0] for warning in caught}
    assert told >= {f"{old} is now {new}" for old, new in MOVED.items()}


def test_an_attribute_by_its_old_name_warns() -> None:
    vars(tm).pop("values", None)
    with pytest.warns(DeprecationWarning, match=r"trimetric\.values is now trimetric\.rl"):
        assert tm.values is tm.rl  # type: ignore[attr-defined]
