"""What the docstring of a public name must have, and what it lacks: a summary, every argument, an example that runs."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import FunctionType, ModuleType

PACKAGES = {
    "trimetric": None,
    "trimetric.training": None,
    "trimetric.models": None,
    "trimetric.labels": None,
    "trimetric.nearness": None,
    "trimetric.graphs": "numba",
    "trimetric.rl": "gymnasium",
    "trimetric.routing": "routingkit_cch",
    "trimetric.search": None,
    "trimetric.integrations.sklearn": "sklearn",
    "trimetric.integrations.pytorch_metric_learning": "pytorch_metric_learning",
    "trimetric.integrations.torchqmet": None,
    "trimetric.integrations.jax": "jax",
    "trimetric.integrations.huggingface": None,
}
"""The packages that export public names, and the optional library that each needs."""

Method = FunctionType | property | classmethod | staticmethod


@cache
def public_names() -> dict[str, type | FunctionType]:
    """Public classes and functions by name; one that several packages export is listed under the first of them."""
    found: dict[int, tuple[str, type | FunctionType]] = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in getattr(module, "__all__", dir(module)):
            value = getattr(module, name)
            if not name.startswith("_") and isinstance(value, (type, FunctionType)) and _is_ours(value, module):
                found.setdefault(id(value), (f"{package}.{name}".removeprefix("trimetric."), value))
    return dict(found.values())


def _is_ours(value: type | FunctionType, module: ModuleType) -> bool:
    if "." in module.__name__ and not hasattr(module, "__path__"):
        return value.__module__ == module.__name__  # a plain module also holds what it imports
    return value.__module__.startswith("trimetric")


def gaps(name: str, value: type | FunctionType) -> Iterator[str]:
    """What is missing, as lines `name: what`."""
    if isinstance(value, FunctionType):
        yield from _gaps_of_text(name, inspect.getdoc(value) or "", _parameters(value))
        yield from _gap_of_example(name, inspect.getdoc(value) or "")
        return
    text = _class_text(value)
    yield from _gaps_of_text(name, text, _constructor_parameters(value), documented=_documented_fields(value))
    yield from _gap_of_example(name, text)
    for method_name, method in _own_methods(value).items():
        if not method_name.startswith("_") and isinstance(method, Method):
            function = method.__func__ if isinstance(method, (classmethod, staticmethod)) else method
            parameters = [] if isinstance(function, property) else _parameters(function)
            if not isinstance(method, (property, staticmethod)):
                parameters = parameters[1:]
            text, from_public_base = _inherited_text(value, method_name)
            if not from_public_base:  # else the gap is the base's, and counted there
                yield from _gaps_of_text(f"{name}.{method_name}", text, parameters)


def _gaps_of_text(
    name: str, text: str, parameters: list[str], documented: frozenset[str] = frozenset()
) -> Iterator[str]:
    summary = text.partition("\n\n")[0].rstrip()
    if not summary or summary[-1] not in ".:!?":
        yield f"{name}: summary"
    missing = [parameter for parameter in parameters if parameter not in documented | documented_arguments(text)]
    if missing:
        yield f"{name}: Args ({', '.join(missing)})"


def _gap_of_example(name: str, text: str) -> Iterator[str]:
    if ">>> " not in text:
        yield f"{name}: example"


def documented_arguments(text: str) -> frozenset[str]:
    """The names that the sections `Args:` and `Attributes:` of a docstring explain."""
    names: set[str] = set()
    for section in re.findall(r"^(?:Args|Attributes):\n((?:(?:[ \t]+.*)?(?:\n|$))+)", text, flags=re.MULTILINE):
        lines = [line for line in section.splitlines() if line.strip()]
        indent = min((len(line) - len(line.lstrip()) for line in lines), default=0)
        for line in lines:
            entry = re.match(r"((?:`?\*{0,2}\w+`?(?: \([^)]*\))?(?:, | and )?)+): ", line[indent:] + " ")
            if entry:
                names.update(re.findall(r"\w+", re.sub(r"\([^)]*\)| and ", " ", entry[1])))
    return frozenset(names)


def _parameters(function: FunctionType) -> list[str]:
    return [name for name in inspect.signature(function).parameters if not name.startswith("_")]


def _constructor_parameters(value: type) -> list[str]:
    if issubclass(value, tuple) and hasattr(value, "_fields"):
        return list(value._fields)
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value) if field.init and not field.name.startswith("_")]
    constructor = value.__init__
    if not isinstance(constructor, FunctionType) or not constructor.__module__.startswith("trimetric"):
        return []
    return _parameters(constructor)[1:]


def _class_text(value: type) -> str:
    """The docstring of a class, and those of the bases whose constructor it shares."""
    texts = []
    for base in value.__mro__:
        if base.__module__.startswith("trimetric"):
            own = vars(base).get("__doc__") or ""
            if not (dataclasses.is_dataclass(base) and own.startswith(f"{base.__name__}(")):  # as dataclass writes it
                texts.append(inspect.cleandoc(own))
        if "__init__" in vars(base):
            texts.append(inspect.cleandoc(vars(base)["__init__"].__doc__ or ""))
            if not dataclasses.is_dataclass(base):
                break
    return "\n\n".join(texts)


def _inherited_text(value: type, method_name: str) -> tuple[str, bool]:
    """The docstring of a method or of the nearest one that it overrides, and whether that is one of a public base."""
    for base in value.__mro__:
        method = vars(base).get(method_name)
        text = getattr(method, "__doc__", None)
        if text:
            same = base is not value and _same_parameters(method, _own_methods(value)[method_name])
            return inspect.cleandoc(text), same and base in public_names().values()
    return "", False


def _own_methods(value: type) -> dict[str, object]:
    """The attributes of a class, with those that it has from bases which are not public themselves."""
    found: dict[str, object] = {}
    for base in value.__mro__:
        if base is value or (base.__module__.startswith("trimetric") and base not in public_names().values()):
            found = {**vars(base), **found}
    return found


def _same_parameters(one: object, other: object) -> bool:
    if not (isinstance(one, FunctionType) and isinstance(other, FunctionType)):
        return type(one) is type(other)
    return _parameters(one) == _parameters(other)


def _documented_fields(value: type) -> frozenset[str]:
    """The fields that have a string below them in the source."""
    if not (dataclasses.is_dataclass(value) or (issubclass(value, tuple) and hasattr(value, "_fields"))):
        return frozenset()
    names: set[str] = set()
    for base in value.__mro__:
        if base.__module__.startswith("trimetric"):
            names |= _fields_with_strings(base.__module__).get(base.__qualname__, set())
    return frozenset(names)


@cache
def _fields_with_strings(module: str) -> dict[str, set[str]]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for field, below in zip(node.body, node.body[1:], strict=False):
                is_string = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_string:
                    found.setdefault(node.name, set()).add(field.target.id)
    return found
