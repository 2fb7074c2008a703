"""Functions that `torch.compile` leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import torch

F = TypeVar("F", bound=Callable[..., Any])


def uncompiled(function: F) -> F:
    """Exempt a function from `torch.compile`, as `torch.compiler.disable` does, at no cost to those who do not compile.

    `torch.compiler.disable` imports the whole compiler, which takes as long as the rest of torch.  Here it is imported
    already when it is first needed, because somebody is compiling.

    Args:
        function: a function of positional arguments.

    Returns:
        The function, to be called as before.

    Examples:
        >>> @uncompiled
        ... def double(x):
        ...     return 2 * x
        >>> double(torch.tensor(3.0))
        tensor(6.)
    """
    disabled: list[Callable[..., Any]] = []

    @wraps(function)
    def call(*arguments: Any) -> Any:
        if not torch.compiler.is_compiling():
            return function(*arguments)
        if not disabled:
            disabled.append(torch.compiler.disable(function))
        return disabled[0](*arguments)

    return cast("F", call)
