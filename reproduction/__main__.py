"""Reproduce the results of the paper, one experiment at a time.

Every result is written to a ledger (reproduction/results/EXPERIMENT.jsonl) as soon as it is available.  You can kill a
sweep at any time: the same command resumes it, and does nothing if all runs are there.

examples:
  python -m reproduction list                      the experiments, and how many runs each has
  python -m reproduction figure1                   run one: print its tables, save its figures in out/
  python -m reproduction all --quick               everything on a small budget, to check that it works
  python -m reproduction figure1 --paper           with as many epochs and seeds as the paper
  python -m reproduction figure1 --seeds 7 8 9     with these seeds
  python -m reproduction graphs --only graph=3d head=MLP,WN depth=3   some of its runs, chosen by their settings
  python -m reproduction graphs                    the default is our fast protocol: 2 % of the paper's steps
  python -m reproduction all --dask tcp://HOST:8786   on the workers of a Dask cluster
  python -m reproduction report                    write reproduction/report.html from the ledgers
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from reproduction.experiments import EXPERIMENTS, find_experiment

HERE = Path(__file__).parent
SCALE = tyro.conf.create_mutex_group(required=False)
OFF = tyro.conf.FlagCreatePairsOff
COMMANDS = ("all", "list", "report")


@dataclass(frozen=True)
class Options:
    """The arguments of the command."""

    what: tyro.conf.Positional[Annotated[tuple[str, ...], tyro.conf.arg(metavar="EXPERIMENT")]]
    """experiments by name (`list` shows them), `all` of them, `list`, or `report`; or your own as module:Class"""
    quick: Annotated[bool, SCALE, OFF, tyro.conf.arg(help="small budget: minutes for everything")] = False
    paper: Annotated[bool, SCALE, OFF, tyro.conf.arg(help="the paper's budget: its epochs and at least its seeds")] = (
        False
    )
    seeds: tuple[int, ...] = ()
    """seeds to run, instead of those of the budget"""
    only: tuple[str, ...] = ()
    """run only cells with these settings, NAME=VALUE[,VALUE]; a wrong name or value shows the right ones"""
    resume: bool = True
    """skip runs that are in the ledger (--no-resume renames the ledger to .old and runs everything again)"""
    jobs: int | None = None
    """processes on this machine; one per core by default"""
    dask: str | None = None
    """address of a Dask scheduler, to run on its workers instead; they must be able to import this project"""
    results: Path = HERE / "results"
    """folder of the ledgers"""
    out: Path = Path("out")
    """folder for the figures of a run"""
    page: Path = HERE / "report.html"
    """where `report` writes its page"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: of the command line; those of this process by default.

    Returns:
        The exit code.
    """
    options = tyro.cli(Options, prog="python -m reproduction", description=__doc__, args=arguments)
    if message := _mistake(options):
        print(f"python -m reproduction: {message}", file=sys.stderr)
        return 2
    from reproduction import commands

    names = [name for name in options.what if name not in COMMANDS]
    if "all" in options.what:
        names = list(dict.fromkeys([*EXPERIMENTS, *names]))
    code = 0
    if names:
        code = commands.run(
            names,
            scale="quick" if options.quick else "paper" if options.paper else "default",
            seeds=options.seeds or None,
            only=options.only,
            resume=options.resume,
            jobs=options.jobs,
            dask=options.dask,
            results=options.results,
            out=options.out,
        )
    if "list" in options.what:
        commands.show_list(options.results)
    if "report" in options.what:
        commands.write_report(options.results, options.page)
    return code


def _mistake(options: Options) -> str:
    if not options.what:
        return f"what: expected some of {', '.join((*EXPERIMENTS, *COMMANDS))}, got nothing; --help shows examples"
    for name in options.what:
        if name not in COMMANDS:
            try:
                find_experiment(name)
            except KeyError:
                return f"what: expected some of {', '.join((*EXPERIMENTS, *COMMANDS))}, got {name!r}"
    if options.jobs is not None and options.jobs < 1:
        return f"--jobs: expected at least 1, got {options.jobs}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
