"""Where the rows come from: runs, compute, versions, commits and their dates, by experiment."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reproduction.frame.rows import Row

HASH = 12
"""hexadecimal digits of a commit in a ledger"""


@dataclass(frozen=True)
class Origin:
    """The origin of the rows of an experiment."""

    experiment: str
    runs: int
    hours: float
    """seconds of all runs together, on one core"""
    versions: list[str]
    commits: list[str]
    """a + marks modified files"""
    dates: str
    """of the first and the last commit, if they are in this repository"""


def origin_of(experiment: str, rows: list[Row]) -> Origin:
    """Collect the origin of the rows of an experiment.

    Args:
        experiment: its name.
        rows: of its ledger.
    """
    seconds = {row.run: row.seconds for row in rows}
    commits = sorted({row.commit for row in rows} - {""})
    known = sorted(date for commit in commits if (date := _dates().get(commit.rstrip("+")[:HASH])))
    return Origin(
        experiment=experiment,
        runs=len(seconds),
        hours=sum(seconds.values()) / 3600,
        versions=sorted({row.version for row in rows}),
        commits=commits,
        dates=" to ".join(dict.fromkeys((known[0], known[-1]))) if known else "",
    )


@cache
def _dates() -> dict[str, str]:
    """The dates of the commits of this repository, by hash; empty outside of one."""
    command = ["git", "log", "--all", f"--abbrev={HASH}", "--format=%h %cs"]
    try:
        found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {}
    return dict(line.split() for line in found.stdout.splitlines())
