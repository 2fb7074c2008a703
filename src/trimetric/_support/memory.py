"""How much memory there is, so that what cannot fit is refused before it is allocated."""

from __future__ import annotations

import os
from pathlib import Path

_UNKNOWN = 1 << 62


def available_memory() -> int:
    """Bytes that this process can still allocate: what the machine, its control group and its limits leave.

    Returns:
        The least of them; a very large number where nothing is known.

    Examples:
        >>> available_memory() > 1 << 20
        True
    """
    return max(0, min(_of_machine(), _of_group(), _of_limit()))


def resident_memory() -> int:
    """Bytes of memory that this process holds now; 0 where the system does not tell.

    Examples:
        >>> resident_memory() >= 0
        True
    """
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def as_gib(count: int) -> str:
    """Bytes for a message.

    Examples:
        >>> as_gib(3 << 29)
        '1.5 GiB'
    """
    return f"{count / (1 << 30):,.3g} GiB" if count < 1 << 60 else "more than a billion GiB"


def keep_freed_memory() -> None:
    """Let the C library keep freed memory for the next step of a long computation, up to 64 MiB.

    The GNU C library gives freed memory back to the system unless a program has freed a large block before; the next
    step then waits for fresh pages, which takes a quarter of a training step with a large batch.  To allocate and free
    one such block without touching it is all that is needed, and has no effect with other C libraries.

    Examples:
        >>> keep_freed_memory()
    """
    import torch  # here, because this module loads without it

    torch.empty((32 << 20) - (1 << 13), dtype=torch.uint8)  # the most that the library adapts to, with its own header


def _of_machine() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError, AttributeError):
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (OSError, ValueError, AttributeError):
            return _UNKNOWN


def _of_group() -> int:
    """What a container may still use."""
    try:
        folder = Path("/sys/fs/cgroup")
        limit = (folder / "memory.max").read_text().strip()
        return _UNKNOWN if limit == "max" else int(limit) - int((folder / "memory.current").read_text())
    except (OSError, ValueError):
        return _UNKNOWN


def _of_limit() -> int:
    """What `ulimit -v` leaves."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return _UNKNOWN
        return limit - int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return _UNKNOWN
