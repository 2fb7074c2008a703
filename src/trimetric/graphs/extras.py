"""Libraries that not every installation has: imported on first use, with a message that says how to get them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def optional(module: str, *, needed_for: str, extra: str = "graphs") -> Any:
    """The module, or an error that names the extra."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{needed_for} needs {module}: pip install 'trimetric[{extra}]' ({error})") from None


def installed(module: str) -> bool:
    return find_spec(module) is not None
