"""`torch.compile` where it works, the plain function with one warning where it does not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch


class CompiledOrEager:
    """Calls the compiled function; after the first failure to compile, the plain one."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.eager = function
        self.compiled: Callable[..., Any] | None = torch.compile(function, dynamic=True)

    def __call__(self, *arguments: Any) -> Any:
        if self.compiled is None:
            return self.eager(*arguments)
        try:
            return self.compiled(*arguments)
        except (RuntimeError, OSError) as error:
            result = self.eager(*arguments)  # raises again what is not the compiler's fault
            reason = str(error).strip().partition("\n")[0]
            warnings.warn(
                f"compile: the compiler failed, so training continues without it ({reason})",
                RuntimeWarning,
                stacklevel=2,
            )
            self.compiled = None
            return result
