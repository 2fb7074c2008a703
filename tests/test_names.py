"""The names of the package: imported on first use, the same for people, type checkers and pickles."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Literal, get_origin

import pytest

import trimetric as tm


def test_type_checkers_see_the_names_of_the_table() -> None:
    tree = ast.parse(Path(tm.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname: node.module for node in imports for alias in node.names if node.module != "trimetric"}
    assert seen == tm._MODULE_OF


def test_every_name_is_there() -> None:
    for name in tm._MODULE_OF:
        assert isinstance(getattr(tm, name), (type, FunctionType)), name
        assert name in dir(tm)
        value = getattr(tm, name)
        assert pickle.loads(pickle.dumps(value)) is value
    with pytest.raises(AttributeError, match="module 'trimetric' has no attribute 'Nothing'"):
        _ = tm.Nothing  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        from trimetric import Nothing  # type: ignore[attr-defined]  # noqa: F401


def test_the_package_shows_public_names_only() -> None:
    shown = {name for name in dir(tm) if not name.startswith("_")}
    assert shown == {*tm._MODULE_OF, "adapters", "estimators", "graphs", "nearness", "values"}


@pytest.mark.parametrize("name", ["distances", "graphs", "nearness", "norms", "values"])
def test_packages_show_what_is_theirs(name: str) -> None:
    package = getattr(tm, name)
    for shown in dir(package):
        value = getattr(package, shown)
        home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "trimetric")
        if not shown.startswith("_"):
            assert str(home).startswith("trimetric") or get_origin(value) is Literal, shown
            assert shown != "TYPE_CHECKING"


FRESH = {
    "importing is light": "import trimetric, sys; assert 'torch' not in sys.modules and 'numpy' not in sys.modules",
    "a function wins over its module": (
        "import trimetric.model, trimetric.audit, trimetric.export; import trimetric as tm;"
        "assert all(callable(f) for f in (tm.all_pairs, tm.audit, tm.export))"
    ),
    "sub-modules come when asked for": "import trimetric as tm; tm.losses.make_loss('squared'); tm.norms.WideNorm",
    "a star means the table": "from trimetric import *; assert all_pairs and WideNorm and fit",
    "a model file names any class": (
        "import trimetric.model; from trimetric.architecture import build;"
        "build({'class': 'MLP', 'arguments': {'in_features': 2, 'out_features': 3}})"
    ),
}


@pytest.mark.parametrize("case", FRESH)
def test_in_a_fresh_interpreter(case: str) -> None:
    subprocess.run([sys.executable, "-c", FRESH[case]], check=True)
