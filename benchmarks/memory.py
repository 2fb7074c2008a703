"""The largest memory that a call needs beyond what was there before."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path


def peak_bytes(call: Callable[[], object]) -> int:
    """Growth of the resident memory at its peak during `call` (Linux).

    Memory that was freed before but not given back to the system would be used again unseen, so it is given
    back first.
    """
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = _status("VmRSS")
    call()
    return _status("VmHWM") - before


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no field {field} in /proc/self/status")
