"""A campaign of kills: run, kill, check, run again, and in the end compare with the undisturbed run."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from chaos import runner
from chaos.commands import PATIENCE, Commands, kill_all
from chaos.scenarios import Aim, Scenario
from chaos.state import damage, differences, digests, fell, saved_versions

POLL = 0.0005
"""seconds between two looks for a file that is being written"""


@dataclass
class Tally:
    """What came of the kills of one scenario."""

    scenario: str
    kills: int = 0
    aimed: int = 0
    """at a file that is being written, or just before a file is changed"""
    resumed: int = 0
    """runs after a kill that had something to build on"""
    identical: int = 0
    """kills that broke nothing, and whose folder ended as the undisturbed one"""
    seconds: float = 0.0
    """of the undisturbed run"""
    problems: list[str] = field(default_factory=list)


@dataclass
class Undisturbed:
    """A scenario's folder before and after a run that nothing disturbed."""

    template: Path
    before: dict[str, str]
    after: dict[str, str]
    seconds: float
    changes: int
    versions: frozenset[str]


def undisturbed(scenario: Scenario, commands: Commands, *, plain: bool) -> Undisturbed:
    """Prepare a folder and run the command in a copy of it; where `plain`, also as a user would, to the same end."""
    template, folder, count = (commands.scratch / name for name in ("template", "undisturbed", "count.txt"))
    template.mkdir()
    scenario.prepare(template)
    before = digests(template)
    seconds = _run(commands, folder, template, **{runner.COUNT_FILE: count})
    after = digests(folder)
    if plain:
        seconds = _run(commands, commands.scratch / "plain", template, plain=True)
        if problems := differences(digests(commands.scratch / "plain"), after):
            raise RuntimeError(f"{scenario.name}: two undisturbed runs differ: {'; '.join(problems)}")
    versions = saved_versions(commands.scratch) if scenario.module == "chaos.saving" else frozenset()
    return Undisturbed(template, before, after, seconds, int(count.read_text()), versions)


def _run(commands: Commands, folder: Path, template: Path, *, plain: bool = False, **variables: object) -> float:
    shutil.copytree(template, folder)
    start = time.monotonic()
    if problem := commands.finish(commands.start(folder, plain=plain, **variables)):
        raise RuntimeError(f"{commands.scenario.name}: the undisturbed run failed: {problem}")
    return time.monotonic() - start


def kill_once(commands: Commands, folder: Path, aim: Aim, expected: Undisturbed, generator: random.Random) -> int:
    """Run the command and kill it; the exit code, other than -SIGKILL where it ended before."""
    if aim == "change":
        process = commands.start(folder, **{runner.KILL_AT: generator.randint(1, expected.changes)})
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
        return commands.kill(process)
    known = expected.before.keys() | expected.after.keys()
    left = _unfinished(folder, known)  # by the kill before: it does not tell that anything is being written now
    process = commands.start(folder)
    moment = time.monotonic() + generator.uniform(0, expected.seconds)
    with suppress(subprocess.TimeoutExpired):
        process.wait(max(moment - time.monotonic(), 0))
    if aim == "write":
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < deadline and _unfinished(folder, known) <= left:
            time.sleep(POLL)
    return commands.kill(process)


def _unfinished(folder: Path, known: set[str]) -> set[tuple[str, int, int]]:
    """The files that are neither an input, an output nor a checkpoint in its place, with size and time of change."""
    found = set()
    for path in _files(folder):
        if path.suffix != ".checkpoint" and str(path.relative_to(folder)) not in known:
            with suppress(FileNotFoundError):  # it has its name by now
                status = path.stat()
                found.add((str(path), status.st_size, status.st_mtime_ns))
    return found


def _files(folder: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError), os.scandir(folder) as entries:  # it may be renamed meanwhile
        found = list(entries)
        yield from (Path(entry.path) for entry in found if not entry.is_dir())
        for inner in (entry for entry in found if entry.is_dir()):
            yield from _files(Path(inner.path))


def episode(
    commands: Commands, folder: Path, expected: Undisturbed, kills: int, generator: random.Random, tally: Tally
) -> None:
    """Kill a command several times in a row, let it finish, and compare."""
    scenario, killed, problems = commands.scenario, 0, []
    shutil.copytree(expected.template, folder)
    progress, ended = scenario.progress(folder), False
    for _ in range(kills):
        aim = generator.choice(scenario.aims)
        tally.resumed += killed > 0 and any(progress)
        code = kill_once(commands, folder, aim, expected, generator)
        if code != -signal.SIGKILL:
            ended, problems = True, list(filter(None, [commands.problem(code)]))
            break
        killed += 1
        tally.aimed += aim != "moment"
        problems = damage(folder, expected.before, expected.after, versions=expected.versions)
        if problems:
            break
        progress, is_less = fell(scenario, folder, progress)
        if is_less and not expected.after.items() <= digests(folder).items():
            problems = ["what an earlier kill had left is lost"]
            break
    if not problems and not ended:
        tally.resumed += any(progress)
        problems = list(filter(None, [commands.finish(commands.start(folder))]))
    problems = problems or differences(digests(folder), expected.after)
    tally.kills += killed
    if problems:
        tally.problems += [f"{scenario.name}, {folder}: {problem}" for problem in problems]
    else:
        tally.identical += killed
        shutil.rmtree(folder)


def run_scenario(
    scenario: Scenario,
    kills: int,
    *,
    seed: int,
    scratch: Path,
    in_a_row: int = 4,
    plain: bool = True,
    tell: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """Kill one command again and again.

    Args:
        scenario: the command.
        kills: in all.
        seed: of the moments.
        scratch: a folder for all files; those that came out wrong stay there.
        in_a_row: kills before the command is left to finish; fewer where it ends before one.
        plain: whether to compare with a run as a user starts it, too.
        tell: called after each time that it was left to finish.
    """
    generator = random.Random(f"{seed} {scenario.name}")
    commands = Commands(scenario, scratch)
    tally = Tally(scenario.name)
    try:
        expected = undisturbed(scenario, commands, plain=plain)
    except RuntimeError as error:  # the others go on
        tally.problems.append(str(error))
        tell(tally)
        return tally
    tally.seconds = expected.seconds
    tell(tally)
    number = 0
    while tally.kills < kills and not tally.problems:
        planned = min(in_a_row, kills - tally.kills)
        episode(commands, scratch / f"killed {number}", expected, planned, generator, tally)
        number += 1
        tell(tally)
    return tally


def campaign(
    scenarios: Sequence[Scenario],
    *,
    kills: int,
    seed: int,
    scratch: Path,
    processes: int = 2,
    tell: Callable[[Tally], None] = lambda _: None,
) -> list[Tally]:
    """Share out kills to scenarios, and run these in parallel.

    Args:
        scenarios: the commands.
        kills: of all of them together.
        seed: of the moments.
        scratch: a folder for all their files; those that came out wrong stay there.
        processes: commands that run at a time.
        tell: called after each episode, by one thread at a time.
    """
    each, more = divmod(kills, len(scenarios))
    lock = threading.Lock()

    def told(tally: Tally) -> None:
        with lock:
            tell(tally)

    def run(job: tuple[int, Scenario]) -> Tally:
        number, scenario = job
        return run_scenario(
            scenario, each + (number < more), seed=seed, scratch=scratch / f"scenario {number}", tell=told
        )

    with ThreadPoolExecutor(processes) as threads:
        try:
            return list(threads.map(run, enumerate(scenarios)))
        except KeyboardInterrupt:
            kill_all()
            raise
