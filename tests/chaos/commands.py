"""The processes of a scenario: how they are started and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from chaos import runner
from chaos.scenarios import Scenario

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 600.0
"""seconds after which a run counts as blocked"""
RUNNING: set[subprocess.Popen[bytes]] = set()
INTERRUPTED = threading.Event()
LOCK = threading.Lock()
"""held while a process is started, so that an interruption misses none"""


class Commands:
    """Starts and kills the processes of one scenario."""

    def __init__(self, scenario: Scenario, scratch: Path) -> None:
        self.scenario = scenario
        self.scratch = scratch
        (scratch / "tmp").mkdir(parents=True)
        self.log = scratch / "log.txt"
        path = os.pathsep.join(str(folder) for folder in (ROOT / "src", ROOT, ROOT / "tests"))
        places = {name: str(scratch / "tmp") for name in ("TMPDIR", "JOBLIB_TEMP_FOLDER")}
        # Bit-identical weights are promised for the same number of threads.
        self.environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **places}

    def start(self, folder: Path, *, plain: bool = False, **variables: object) -> subprocess.Popen[bytes]:
        """The command of the scenario, as a user gives it or by the runner that can be killed at a change."""
        scenario = self.scenario
        launcher = ["-m"] if plain else [runner.__file__]
        if scenario.checkpoint_seconds is not None and not plain:
            variables = {runner.CHECKPOINT_SECONDS: scenario.checkpoint_seconds, **variables}
        with self.log.open("wb") as log, LOCK:
            if INTERRUPTED.is_set():
                raise RuntimeError("interrupted")
            process = subprocess.Popen(
                [sys.executable, *launcher, scenario.module, *scenario.arguments],
                cwd=folder,
                env={**self.environment, **{name: str(value) for name, value in variables.items()}},
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
            RUNNING.add(process)
        return process

    def finish(self, process: subprocess.Popen[bytes]) -> str:
        """Wait for its end; what went wrong, if anything."""
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill(process)
            return f"blocked for {PATIENCE:.0f} s"
        return self.problem(self.kill(process))

    def kill(self, process: subprocess.Popen[bytes]) -> int:
        """Kill the whole group, and wait for its end; the exit code, -SIGKILL unless it had ended before."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        RUNNING.discard(process)
        for file in Path("/dev/shm").glob(f"sem.loky-{process.pid}-*"):
            file.unlink(missing_ok=True)  # of joblib, whose own cleaner is killed with the group
        return code

    def problem(self, code: int) -> str:
        """What an exit code other than 0 means."""
        return "" if code == 0 else f"exit code {code}: {self.log.read_text(errors='replace').strip()[-500:]}"


def kill_all() -> None:
    """Kill every process that runs, and let none be started any more."""
    with LOCK:
        INTERRUPTED.set()
        for process in RUNNING:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
