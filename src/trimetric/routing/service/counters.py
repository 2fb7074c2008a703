"""Counts of requests and times, in memory that all workers share, as Prometheus reads them."""

from __future__ import annotations

import mmap
import os
from bisect import bisect_left
from pathlib import Path

import numpy as np

ENDPOINTS = ("table", "route", "nearest", "distances", "closest", "audit", "field", "map", "page", "health", "metrics")
OTHER = "other"
NAMES = (*ENDPOINTS, OTHER)
STATUSES = ("2xx", "3xx", "4xx", "5xx")
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""upper ends in seconds; one more has the rest"""

PER_NAME = len(STATUSES) + len(BUCKETS) + 1 + 1  # counts by status, counts by duration, sum of durations
OPEN, PID, STARTS = 0, 1, 2
OF_WORKER = 3


class Counters:
    """Numbers that each worker counts for itself, and any worker can add up.

    They lie in anonymous memory that is mapped before the workers are forked: a row per worker, which only that worker
    writes, so there is nothing to lock, and a worker that is started anew continues counting in its row.

    Args:
        workers: how many there are.

    Examples:
        >>> counters = Counters(workers=2)
        >>> counters.started(0)
        >>> counters.add("table", 200, 0.004)
        >>> "trimetric_requests_total{endpoint=\\"table\\",status=\\"2xx\\"} 1" in counters.text().splitlines()
        True
    """

    def __init__(self, workers: int) -> None:
        size = OF_WORKER + PER_NAME * len(NAMES)
        self._memory = mmap.mmap(-1, workers * size * 8)
        self.rows = np.frombuffer(self._memory, np.float64).reshape(workers, size)
        self._mine = self.rows[0]

    def started(self, worker: int) -> None:
        """Say that this process is a worker.

        Args:
            worker: its number.
        """
        self._mine = self.rows[worker]
        self._mine[OPEN] = 0
        self._mine[PID] = os.getpid()
        self._mine[STARTS] += 1

    def opened(self, change: int) -> None:
        """Count a request that has arrived, or that is answered.

        Args:
            change: 1 or -1.
        """
        self._mine[OPEN] += change

    def add(self, name: str, status: int, seconds: float) -> None:
        """Count an answered request.

        Args:
            name: of the endpoint.
            status: of HTTP.
            seconds: from arrival to the end of the answer.
        """
        start = OF_WORKER + PER_NAME * (NAMES.index(name) if name in NAMES else len(ENDPOINTS))
        self._mine[start + min(max(status // 100, 2), 5) - 2] += 1
        self._mine[start + len(STATUSES) + bisect_left(BUCKETS, seconds)] += 1
        self._mine[start + PER_NAME - 1] += seconds

    def text(self) -> str:
        """Return all numbers in the text format of Prometheus."""
        total = self.rows.sum(axis=0)
        lines = _head("trimetric_requests_total", "counter", "Requests answered.")
        times = _head("trimetric_request_seconds", "histogram", "Seconds from arrival to the end of the answer.")
        for i, name in enumerate(NAMES):
            row = total[OF_WORKER + PER_NAME * i :][:PER_NAME]
            for status, count in zip(STATUSES, row, strict=False):
                lines.append(f'trimetric_requests_total{{endpoint="{name}",status="{status}"}} {count:.0f}')
            counts = np.cumsum(row[len(STATUSES) : -1])
            for end, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                times.append(f'trimetric_request_seconds_bucket{{endpoint="{name}",le="{end}"}} {count:.0f}')
            times.append(f'trimetric_request_seconds_sum{{endpoint="{name}"}} {row[-1]:.6f}')
            times.append(f'trimetric_request_seconds_count{{endpoint="{name}"}} {counts[-1]:.0f}')
        lines += times
        lines += _head("trimetric_requests_open", "gauge", "Requests that are being answered.")
        lines.append(f"trimetric_requests_open {total[OPEN]:.0f}")
        lines += _head("trimetric_worker_starts_total", "counter", "Starts of each worker; more than 1 after a crash.")
        lines += [f'trimetric_worker_starts_total{{worker="{i}"}} {row[STARTS]:.0f}' for i, row in enumerate(self.rows)]
        memory = [worker_memory(int(row[PID])) for row in self.rows]
        for kind, about in (
            ("resident", "Resident memory of each worker."),
            ("private", "Memory not shared by others."),
        ):
            lines += _head(f"trimetric_worker_{kind}_bytes", "gauge", about)
            for i, found in enumerate(memory):
                lines += [f'trimetric_worker_{kind}_bytes{{worker="{i}"}} {found[kind]}'] if found else []
        return "\n".join(lines) + "\n"


def worker_memory(pid: int) -> dict[str, int]:
    """Return the memory of a process in bytes, resident and not shared with others; nothing where it is unknown.

    Args:
        pid: of the process.
    """
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:  # no such process, or no such system
        return {}
    parts = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
    return {"resident": parts["Rss"], "private": parts["Private_Clean"] + parts["Private_Dirty"]}


def _head(name: str, kind: str, about: str) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
