"""Names of version 0.1 that were renamed: each works for one release, warns, and names its successor.

Modules that moved are in `trimetric._support.moved`.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def old_names(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Make a module's `__getattr__` that finds classes and functions by their old names.

    Args:
        module: `__name__` of the module.
        names: for each old name the new one in this module, or the full path of one elsewhere.

    Returns:
        The function to be called `__getattr__` in the module.
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, new = names[name].rpartition(".")
        home = home or module
        _warn(f"{module}.{name}", f"{home}.{new}", stacklevel=3)
        return getattr(import_module(home), new)

    return find


def old_keywords(**names: str) -> Callable[[F], F]:
    """Decorate a function that accepts keyword arguments by their old names, too.

    Args:
        **names: for each old name the new one.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            for old, new in names.items():
                if old in kwargs:
                    _warn(f"{function.__name__}({old}=...)", f"{function.__name__}({new}=...)", stacklevel=3)
                    kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


class OldAttribute:
    """A property or method of a class by its old name.

    Args:
        new: the name it has now.
    """

    def __init__(self, new: str) -> None:
        self.new = new

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.old = owner.__name__, name

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        _warn(f"{self.owner}.{self.old}", f"{self.owner}.{self.new}", stacklevel=3)
        return getattr(instance, self.new)


def _warn(old: str, new: str, *, stacklevel: int) -> None:
    warnings.warn(f"{old} is now {new}; the old name works for one release", DeprecationWarning, stacklevel=stacklevel)
