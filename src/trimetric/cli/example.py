"""`trimetric example`"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from trimetric.cli.general import Seeded
from trimetric.files.errors import InputError

SIDE = 8
FILES = ("pairs.csv", "objects.csv")


@dataclass(frozen=True, kw_only=True)
class Example:
    """Write a small city with one-way streets, to try the other commands on.

    64 crossings, A1 to H8.  Streets are one-way, in alternating directions, except for the ring around the city;
    going uphill (to the north) takes longer.  So the way there is seldom as long as the way back.

      trimetric example
      trimetric example -o elsewhere --seed 1

    pairs.csv has the minutes between all ordered pairs (from, to, distance), objects.csv has the coordinates of the
    crossings (id, x, y).
    """

    output: Annotated[Path, arg(aliases=["-o"], metavar="FOLDER")] = Path("city")
    """the folder to create"""
    force: bool = False
    """replace existing files"""
    general: Seeded = field(default_factory=Seeded)

    def run(self) -> int:
        folder = self.output
        if folder.exists() and not folder.is_dir():
            raise InputError(f"--output: expected a folder, got the file {folder}")
        for file in (folder / name for name in FILES):
            if file.exists() and not self.force:
                raise InputError(f"--output: {file} already exists; give another folder, or --force")
        if not folder.parent.is_dir():
            raise InputError(f"--output: {folder}: there is no folder {folder.parent}")

        from trimetric.files.writing import write_rows

        names, pairs = city(self.general.seed)
        folder.mkdir(exist_ok=True)
        places = [(name, i % SIDE, i // SIDE) for i, name in enumerate(names)]
        write_rows(folder / "pairs.csv", ("from", "to", "distance"), [pairs])
        write_rows(folder / "objects.csv", ("id", "x", "y"), [places])
        model = folder / "model.safetensors"
        commands = [
            f"trimetric fit {folder / 'pairs.csv'} -o {model}",
            f"trimetric predict {model} --from {names[0]} --to {names[-1]}",
            f"trimetric audit {model}",
        ]
        self.general.say(f"{len(names)} crossings and the minutes between {len(pairs):,} pairs of them.  Try next:\n")
        for command in commands:
            self.general.say(f"  {command}")
        self.general.say(f"\nwritten: {', '.join(str(folder / name) for name in FILES)}")
        self.general.answer(written=[str(folder / name) for name in FILES], commands=commands)
        return 0


def city(seed: int) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Return the names of the crossings, and from, to and minutes of all pairs.

    Args:
        seed: of the time that each street takes.
    """
    import numpy as np

    from trimetric.graphs import Graph, all_distances

    random = np.random.default_rng(seed)
    names = [f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[i % SIDE]}{i // SIDE + 1}" for i in range(SIDE**2)]
    ends, minutes = [], []
    for y in range(SIDE):
        for x in range(SIDE):
            for across, line, (x2, y2) in ((True, y, (x + 1, y)), (False, x, (x, y + 1))):
                if max(x2, y2) == SIDE:
                    continue
                here, there, pace = x + SIDE * y, x2 + SIDE * y2, random.uniform(0.8, 1.6)
                both, onward = line in (0, SIDE - 1), line % 2 == 0
                if both or onward:
                    ends.append((here, there))
                    minutes.append(pace * (1 if across else 1.5))
                if both or not onward:
                    ends.append((there, here))
                    minutes.append(pace)
    tails, heads = np.array(ends).T
    matrix = all_distances(Graph.from_arcs(len(names), tails, heads, minutes, directed=True))
    rows = [
        (source, target, f"{matrix[i, j]:.3f}")
        for i, source in enumerate(names)
        for j, target in enumerate(names)
        if i != j
    ]
    return names, rows
