"""The message of a call that is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def refusal(call: Callable[[], Any]) -> str:
    """The message of the `ValueError` or `TypeError` that `call` raises, which must be one line."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    return message
