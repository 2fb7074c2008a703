"""`make chaos`: kills, and a table of what came of them."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from chaos.campaign import Tally, campaign
from chaos.scenarios import SCENARIOS


def main() -> int:
    names = [scenario.name for scenario in SCENARIOS]
    parser = argparse.ArgumentParser(prog="python -m chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="of all scenarios together (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default: 0)")
    parser.add_argument("--processes", type=int, default=2, help="commands at a time (default: 2)")
    parser.add_argument("--only", nargs="*", choices=names, default=names, metavar="NAME", help=", ".join(names))
    options = parser.parse_args()
    scratch, start = Path(tempfile.mkdtemp(prefix="trimetric-chaos-")), time.monotonic()
    chosen = [scenario for scenario in SCENARIOS if scenario.name in options.only]

    def tell(tally: Tally) -> None:
        print(f"{time.monotonic() - start:6.0f} s  {tally.scenario:14} {tally.kills:3} kills", flush=True)
        for problem in tally.problems:
            print(f"          {problem}", flush=True)

    try:
        tallies = campaign(
            chosen, kills=options.kills, seed=options.seed, scratch=scratch, processes=options.processes, tell=tell
        )
    except KeyboardInterrupt:
        shutil.rmtree(scratch, ignore_errors=True)
        print("interrupted")
        return 130
    print(f"\n{table(tallies)}\n")
    kills, identical = (sum(getattr(tally, name) for tally in tallies) for name in ("kills", "identical"))
    print(f"{identical} of {kills} kills: the final state is bit-identical, nothing corrupted, nothing left behind")
    if identical == kills >= options.kills:
        shutil.rmtree(scratch)
        return 0
    print(f"What came out wrong is in {scratch}")
    return 1


def table(tallies: list[Tally]) -> str:
    header = f"{'scenario':14}  {'seconds':>7}  {'kills':>5}  {'aimed at writes':>15}  {'resumed':>7}  {'identical':>9}"
    rows = [
        f"{one.scenario:14}  {one.seconds:7.1f}  {one.kills:5}  {one.aimed:15}  {one.resumed:7}  {one.identical:9}"
        for one in tallies
    ]
    return "\n".join([header, *rows])


if __name__ == "__main__":
    sys.exit(main())
