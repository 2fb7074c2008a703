"""`trimetric rl diagnose`"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from trimetric.cli.general import SeededComputing, keep_inputs, output_file, unless_given
from trimetric.files.errors import InputError, check_inputs

DRAWN_STATES, DRAWN_GOALS = 4000, 3


@dataclass(frozen=True, kw_only=True)
class RlDiagnose:
    """Measure what a learned distance got wrong, on logged episodes that it did not learn from.

      trimetric rl diagnose model.safetensors held_out.npz
      trimetric rl diagnose model.safetensors held_out.npz --train log.npz --picture field.png

    Told are the distances of single steps in units of their costs, those of states that are more steps apart, how
    often steps towards what was seen later bring the distance down, and how far random pairs are.  Warnings name what
    would keep a policy from following the distance.
    """

    model: Annotated[Positional[Path], arg(metavar="MODEL")]
    """a model file whose network reads observations"""
    dataset: Annotated[Positional[Path], arg(metavar="LOG")]
    """logged episodes: an .npz file or a folder, best with episodes that were held out"""
    train: Annotated[Path | None, unless_given("LOG")] = None
    """the episodes that the model learned from, to compare with"""
    samples: int = 2000
    """states or pairs for each number"""
    picture: Annotated[Path | None, unless_given("FILE")] = None
    """a .png with the distance of logged states to three of them, for observations that are vectors"""
    general: SeededComputing = field(default_factory=SeededComputing)

    def run(self) -> int:
        picture = None if self.picture is None else output_file("--picture", self.picture, ".png", ".svg", ".pdf")
        if picture is not None:
            keep_inputs("--picture", picture, self.model, self.dataset, self.train)
        if self.samples < 1:
            raise InputError(f"--samples: expected a positive whole number, got {self.samples}")
        check_inputs(self.model)
        for log in (self.dataset, self.train):
            if log is not None and not log.is_dir():
                check_inputs(log)
        network = self.general.load(self.model).network

        import numpy as np

        from trimetric.distances import Siamese
        from trimetric.rl import diagnose, read_trajectories, save_value_fields

        if not isinstance(network, Siamese):
            raise InputError(f"{self.model}: expected a model with an encoder of observations, got {network}")
        try:
            log = read_trajectories(self.dataset)
            train = None if self.train is None else read_trajectories(self.train)
        except ValueError as error:
            raise InputError(str(error)) from None
        try:
            found = diagnose(network, log, train=train, samples=self.samples, seed=self.general.seed)
        except (TypeError, ValueError, RuntimeError, IndexError) as error:
            raise InputError(f"{self.dataset}: {self.model} cannot read it: {' '.join(str(error).split())}") from None
        self.general.say(str(found))
        if picture is not None:
            generator = np.random.default_rng(self.general.seed)
            rows = generator.choice(len(log), size=min(DRAWN_STATES, len(log)), replace=False)
            seen = log.observations[np.sort(rows)]
            if seen.ndim != 2 or seen.shape[1] < 2:
                raise InputError(f"--picture: expected observations of two numbers or more, got shape {seen.shape[1:]}")
            goals = log.observations[rows[:DRAWN_GOALS]]
            save_value_fields(picture, {"learned": network}, seen, goals)
            self.general.say(f"written: {picture}")
        self.general.answer(
            **asdict(found), warnings=found.warnings(), picture=None if picture is None else str(picture)
        )
        return 0
