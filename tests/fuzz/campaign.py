"""Many inputs for one reader.  Inputs that do something new are changed further."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

from .reader import Outcome, Reader, attempt, limited_memory

COMMAND_LINE_EVERY = 500  # refusals; the first of each kind goes through the command line too
FROM_VALID = 0.7
MOST_VALID = 50
LARGEST_INPUT = 1 << 16
MINIMIZING_TRIES = 400


@dataclass
class Campaign:
    """How far the inputs of one reader are.

    Args:
        reader: to be fuzzed.
        seed: the same inputs come with the same seed.
        commands: so many refused inputs may still be given to the command line too, which takes longer.
        tried: inputs so far.
        counts: of outcomes by kind.
        corpus: inputs to change, valid ones first.
        valid: how many of them are valid.
        seen: signatures of outcomes.
        escapes: for each signature the smallest input and what it did.
    """

    reader: Reader
    seed: int = 0
    commands: int = 1 << 30
    tried: int = 0
    counts: dict[str, int] = field(default_factory=lambda: {"accepted": 0, "refused": 0, "escape": 0})
    corpus: list[bytes] = field(default_factory=list)
    valid: int = 0
    seen: set[str] = field(default_factory=set)
    escapes: dict[str, tuple[bytes, Outcome]] = field(default_factory=dict)

    def begin(self, folder: Path) -> None:
        """Check that the seeds are accepted: a fuzzer of a reader that refuses everything finds nothing."""
        if self.reader.prepare is not None:
            self.reader.prepare(folder)
        if not self.corpus:
            self.corpus = self.reader.seeds()
            self.valid = len(self.corpus)
            for data in self.corpus:
                outcome = attempt(self.reader, data, folder)
                if outcome.kind != "accepted":
                    raise RuntimeError(f"{self.reader.name}: a seed is not accepted: {outcome}")

    def next_input(self) -> bytes:
        """The next input; depends on the seed and on what came before."""
        random = Random(f"{self.seed} {self.reader.name} {self.tried}")
        # Mostly from valid files: what a refused one becomes is nearly always refused at the same place.
        valid = random.random() < FROM_VALID
        data = random.choice(self.corpus[: self.valid] if valid else self.corpus)
        for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
            # A mutation may fail on what an earlier one broke; on valid files none does (`tests/test_fuzz.py`).
            with contextlib.suppress(Exception):
                data = random.choice(self.reader.mutations)(data, random)[:LARGEST_INPUT]
        return data

    def run(
        self, folder: Path, *, inputs: int | None = None, seconds: float | None = None, counter: Any = None
    ) -> None:
        """Try so many inputs, or for so long; `counter.value` tells others which one is being tried."""
        end = monotonic() + (float("inf") if seconds is None else seconds)
        last = None if inputs is None else self.tried + inputs
        while monotonic() < end and (last is None or self.tried < last):
            data = self.next_input()
            self.tried += 1
            if counter is not None:
                counter.value = self.tried
            outcome = self._attempt(data, folder)
            new = outcome.signature not in self.seen
            due = new or self.counts["refused"] % COMMAND_LINE_EVERY == 0
            if outcome.kind == "refused" and due and self.commands:
                self.commands -= 1
                outcome = self._attempt(data, folder, command_line=True)
            self.counts[outcome.kind] += 1
            if outcome.kind == "escape":
                self._keep(data, outcome, folder)
            elif outcome.kind == "accepted" and self.valid < MOST_VALID:
                self.corpus.insert(self.valid, data)
                self.valid += 1
            elif new:
                self.corpus.append(data)
            self.seen.add(outcome.signature)

    def _attempt(self, data: bytes, folder: Path, *, command_line: bool = False) -> Outcome:
        with limited_memory():  # for each input anew: what libraries keep for later is no input's fault
            return attempt(self.reader, data, folder, command_line=command_line)

    def _keep(self, data: bytes, outcome: Outcome, folder: Path) -> None:
        before = self.escapes.get(outcome.signature)
        if before is None:
            data = minimized(self.reader, data, outcome, folder)
        if before is None or len(data) < len(before[0]):
            self.escapes[outcome.signature] = data, outcome

    def write_escapes(self, folder: Path) -> list[Path]:
        """Each escaping input, and beside it what happened."""
        files = []
        for signature, (data, outcome) in self.escapes.items():
            name = re.sub(r"\W+", "-", f"{self.reader.name} {signature}")[:100]
            file = folder / f"{name}-{Path(self.reader.file).name}"
            folder.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            file.with_name(file.name + ".txt").write_text(f"{self.reader.name}: {signature}\n{outcome.detail}\n")
            files.append(file)
        return files


def minimized(reader: Reader, data: bytes, outcome: Outcome, folder: Path) -> bytes:
    """A smaller input that does the same: pieces are taken out, large ones first."""
    if outcome.signature == "too slow":
        return data
    size, tries = max(1, len(data) // 2), 0
    command_line = outcome.signature.startswith("command line")
    while size and tries < MINIMIZING_TRIES:
        start = 0
        while start < len(data) and tries < MINIMIZING_TRIES:
            smaller = data[:start] + data[start + size :]
            tries += 1
            with limited_memory():
                found = attempt(reader, smaller, folder, command_line=command_line)
            if found.signature == outcome.signature:
                data = smaller
            else:
                start += size
        size //= 2
    return data
