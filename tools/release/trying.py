"""Install the wheel into a fresh environment, and use it there as a reader of the README would."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.release.building import ROOT, ReleaseError
from tools.release.features import FEATURES, QUICK, WITH_ALL, Feature, write_inputs

FORGOTTEN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
CORE = {
    "trimetric --help": ("--help",),
    "trimetric --version": ("--version",),
    "trimetric --completion bash": ("--completion", "bash"),
    "trimetric example": ("example", "--quiet"),
    "trimetric fit, from a CSV file": ("fit", "city/pairs.csv", "-o", "city/model.safetensors", *QUICK),
    "trimetric predict": ("predict", "city/model.safetensors", "--from", "A1", "--to", "H8"),
    "trimetric audit": ("audit", "city/model.safetensors"),
    "trimetric info": ("info", "city/model.safetensors"),
    "trimetric export to torch.export": ("export", "city/model.safetensors", "-o", "model.pt2"),
    "trimetric repair": ("repair", "matrix.csv", "-o", "repaired.npy"),
    "trimetric fit --graph, from a table of edges": (
        *("fit", "--graph", "edges.csv", "-o", "edges.safetensors", "--cache", "cache", "--head", "wide"),
        *QUICK,
    ),
}
"""commands that need no extra"""


@dataclass(frozen=True)
class Environment:
    """A fresh virtual environment.

    Attributes:
        folder: of the environment.
        work: the folder in which its processes run, away from the sources.
        say: prints a line for each check.
    """

    folder: Path
    work: Path
    say: Callable[[str], None]

    @classmethod
    def make(cls, python: str, folder: Path, say: Callable[[str], None]) -> Environment:
        """Make the environment, with the files that the checks read.

        Args:
            python: the interpreter.
            folder: a new folder for everything.
            say: prints a line for each check.
        """
        made = cls(folder / "venv", folder / "work", say)
        made.work.mkdir(parents=True)
        made._call(python, "-m", "venv", str(made.folder))
        write_inputs(made.work)
        return made

    def install(self, wheel: Path, extra: str = "") -> None:
        """Install the wheel, with what `constraints.txt` pins.

        Args:
            wheel: the file.
            extra: such as "[all]".
        """
        pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", str(ROOT / "constraints.txt"))
        self._call(self._program("python"), *pip, f"{wheel}{extra}")
        self.say(f"pip install trimetric{extra}")

    def try_core(self, version: str) -> None:
        """Check what works without extras: the import, the README's first Python block and the commands."""
        place = self._python("import trimetric; print(trimetric.__version__, trimetric.__file__)").split()
        if place[0] != version or not Path(place[1]).is_relative_to(self.folder):
            raise ReleaseError(f"import trimetric: expected version {version} in {self.folder}, got {' '.join(place)}")
        self.say("import trimetric")
        block = readme_block()
        expected = re.findall(r"print\(.*\)\s+# (.*)", block)
        printed = self._python(block).splitlines()
        if printed[: len(expected)] != expected:
            raise ReleaseError(f"README.md: expected the first block to print {expected}, got {printed}")
        self.say("the first Python block of README.md prints what it says")
        for about, words in CORE.items():
            self._call(self._program("trimetric"), *words)
            self.say(about)

    def try_missing_extras(self) -> None:
        """Check that each feature without its library says in one line which extra to install."""
        for feature in FEATURES:
            done = self._use(feature)
            wanted = f'pip install "trimetric[{feature.extra}]"'
            lines = done.stderr.strip().splitlines()
            clear = bool(lines) and wanted in lines[-1]
            if feature.words:
                clear = clear and len(lines) == 1 and done.returncode == 2
            if not (clear and done.returncode):
                raise ReleaseError(f"{feature.about}: expected a line with {wanted}, got {done.stderr.strip()!r}")
            self.say(f"names its extra {feature.extra}: {feature.about}")

    def try_all_extras(self) -> None:
        """Check that each feature works."""
        for feature in WITH_ALL:
            done = self._use(feature)
            if done.returncode:
                raise ReleaseError(f"{feature.about}: expected success, got\n{done.stderr.strip()}")
            self.say(f"works with its extra {feature.extra}: {feature.about}")

    def _use(self, feature: Feature) -> subprocess.CompletedProcess[str]:
        if feature.words:
            return self._process(self._program("trimetric"), *feature.words)
        return self._process(self._program("python"), "-c", feature.code)

    def _python(self, code: str) -> str:
        return self._call(self._program("python"), "-c", code)

    def _program(self, name: str) -> str:
        return str(self.folder / "bin" / name)

    def _call(self, *words: str) -> str:
        done = self._process(*words)
        if done.returncode:
            shown = " ".join([Path(words[0]).name, *words[1:]])
            raise ReleaseError(f"{shown}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def _process(self, *words: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if name not in FORGOTTEN}
        return subprocess.run(words, cwd=self.work, env=kept, capture_output=True, text=True)


def readme_block() -> str:
    """Return the first Python block of README.md."""
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    if found is None:
        raise ReleaseError("README.md: expected a Python block, got none")
    return found[1]
