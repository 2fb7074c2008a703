"""All readers in turn, each in a process of its own with limits on memory and time.

python -m tests.fuzz --minutes 30 --seed 0
python -m tests.fuzz --reader "pairs csv" --again out/fuzz/some-input
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import traceback
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from .campaign import Campaign
from .reader import SECONDS, Outcome, attempt, limited_memory
from .registry import READERS, warm_up

KEPT = Path("out/fuzz")
GRACE = 120.0  # seconds beyond a turn before a process that says nothing is ended


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0, help="for all readers together")
    parser.add_argument("--inputs", type=int, help="of each reader, instead of a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", action="append", choices=list(READERS), help="one alone; may be repeated")
    parser.add_argument(
        "--again", type=Path, metavar="FILE", help="try this input of one reader, and tell what it does"
    )
    options = parser.parse_args()
    chosen = options.reader or list(READERS)
    if options.again is not None:
        return _again(options.again, chosen)
    warm_up()
    campaigns = {name: Campaign(READERS[name], options.seed) for name in chosen}
    if options.inputs is not None:
        for name in chosen:
            campaigns[name] = _turn(campaigns[name], inputs=options.inputs)
            _tell(campaigns[name])
    else:
        _round_robin(campaigns, 60 * options.minutes)
    return _summary(list(campaigns.values()))


def _round_robin(campaigns: dict[str, Campaign], seconds: float) -> None:
    """Turns that grow, so that every reader had one early."""
    end, turn = monotonic() + seconds, min(2.0, seconds / len(campaigns))
    while monotonic() < end:
        for name in campaigns:
            left = end - monotonic()
            if left <= 0:
                return
            campaigns[name] = _turn(campaigns[name], seconds=min(turn, left))
            _tell(campaigns[name])
        turn = min(2 * turn, 20.0)


def _turn(campaign: Campaign, *, inputs: int | None = None, seconds: float | None = None) -> Campaign:
    """Go on in a child process; where that dies, its last input is an escape."""
    context = multiprocessing.get_context("fork")  # the libraries are loaded once
    ours, theirs = context.Pipe(duplex=False)
    tried = context.Value("q", campaign.tried)
    with tempfile.TemporaryDirectory(prefix="fuzz") as folder:
        child = context.Process(target=_work, args=(campaign, Path(folder), theirs, tried, inputs, seconds))
        child.start()
        theirs.close()
        before, patience = -1, monotonic() + GRACE + 2 * SECONDS
        while not ours.poll(0.5) and child.is_alive():
            if tried.value != before:
                before, patience = tried.value, monotonic() + GRACE + 2 * SECONDS
            elif monotonic() > patience:
                child.kill()
        result: Any = None
        with contextlib.suppress(EOFError):
            result = ours.recv() if ours.poll() else None
        child.join()
        if isinstance(result, Campaign):
            return replace(result, reader=campaign.reader)
        if isinstance(result, str):
            raise SystemExit(f"{campaign.reader.name}: {result}")
        return _died(campaign, Path(folder) / campaign.reader.file, child.exitcode or 0, tried.value)


def _work(
    campaign: Campaign, folder: Path, pipe: Connection, tried: Any, inputs: int | None, seconds: float | None
) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable()
    try:
        campaign.begin(folder)
        campaign.run(folder, inputs=inputs, seconds=seconds, counter=tried)
    except Exception:  # of the fuzzer itself
        pipe.send(traceback.format_exc())
    else:
        pipe.send(replace(campaign, reader=None))
    pipe.close()


def _died(campaign: Campaign, file: Path, code: int, tried: int) -> Campaign:
    name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    data = file.read_bytes() if file.exists() else b""
    campaign.escapes[f"died {name}"] = data, Outcome("escape", f"died {name}", f"the process ended by {name}")
    campaign.counts["escape"] += 1
    campaign.counts["lost"] = campaign.counts.get("lost", 0) + tried - campaign.tried - 1
    campaign.tried = tried
    return campaign


def _tell(campaign: Campaign) -> None:
    print(f"{campaign.reader.name:<18} {campaign.tried:>9,} inputs, {campaign.counts['escape']:,} escapes", flush=True)
    for file in campaign.write_escapes(KEPT):
        print(f"    {file}", flush=True)


def _summary(campaigns: list[Campaign]) -> int:
    print(f"\n{'reader':<18} {'inputs':>10} {'accepted':>10} {'refused':>10} {'escapes':>8}")
    for campaign in campaigns:
        kinds = (campaign.counts[kind] for kind in ("accepted", "refused", "escape"))
        print(
            f"{campaign.reader.name:<18} {campaign.tried:>10,}",
            *(f"{n:>{w},}" for n, w in zip(kinds, (10, 10, 8), strict=True)),
        )
    total, escapes = sum(c.tried for c in campaigns), sum(c.counts["escape"] for c in campaigns)
    print(f"{'all':<18} {total:>10,} {'':>10} {'':>10} {escapes:>8,}")
    return 1 if escapes else 0


def _again(file: Path, chosen: list[str]) -> int:
    for name in chosen:
        with tempfile.TemporaryDirectory(prefix="fuzz") as folder:
            Campaign(READERS[name]).begin(Path(folder))
            with limited_memory():
                outcome = attempt(READERS[name], file.read_bytes(), Path(folder), command_line=True)
            print(f"{name}: {outcome.kind}: {outcome.signature}\n{outcome.detail}")
    return 1 if outcome.kind == "escape" else 0


if __name__ == "__main__":
    sys.exit(main())
