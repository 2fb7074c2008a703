"""Libraries that not every installation has: imported on first use, with a message that says how to get them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Literal

Extra = Literal[
    "solvers",
    "tables",
    "sklearn",
    "metric-learning",
    "onnx",
    "jax",
    "hub",
    "graphs",
    "values",
    "rl",
    "cluster",
    "serve",
]


class MissingExtraError(ImportError):
    """A library is not installed; the message names the extra that has it."""


class needing:  # noqa: N801
    """Says of a failed import which extra it takes.

    >>> with needing("teleporting", "graphs"):
    ...     import teleport
    Traceback (most recent call last):
    trimetric._support.optional.MissingExtraError: teleporting needs teleport: pip install "trimetric[graphs]"

    Args:
        feature: what the library is imported for.
        extra: the one that has the library.
    """

    def __init__(self, feature: str, extra: Extra) -> None:
        self.feature = feature
        self.extra: Extra = extra

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, ImportError):
            raise MissingExtraError(missing(self.feature, error.name, self.extra), name=error.name) from None


def missing(feature: str, module: str | None, extra: Extra) -> str:
    """The message about a library that is not there."""
    return f'{feature} needs {(module or "a library").split(".")[0]}: pip install "trimetric[{extra}]"'


def optional(module: str, *, needed_for: str, extra: Extra = "graphs") -> Any:
    """The module, or an error that names the extra."""
    with needing(needed_for, extra):
        return import_module(module)


def installed(module: str) -> bool:
    return find_spec(module) is not None
