"""The state of a training run: what a checkpoint holds is what this holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from trimetric.training.adam import AdamStep, make_adam
from trimetric.training.config import History, TrainingConfig
from trimetric.training.pairs import PairData, TrainingData
from trimetric.training.processes import Processes
from trimetric.training.schedules import make_schedule
from trimetric.training.teachers import Probe, Teacher
from trimetric.training.trainee import PairTrainee, Trainee


class TrainingRun:
    """A trainee, its data, its optimizer and its progress.

    Args:
        trainee: one model, or several members of one architecture.
        data: the pairs of each member, or what else its trainee learns from.
        validation: the pairs of each member to measure on, or none.
        watch: more of them by name, whose errors are only recorded.
        seeds: of the order of each member's pairs.
        config: the settings of all members, except for the seed.
        processes: those that share this run.
        teachers: where the targets of each member come from, if not from the data.
        probes: of each member, or none.
        loss: the identity of a custom loss.
    """

    def __init__(
        self,
        trainee: Trainee,
        data: Sequence[TrainingData],
        validation: Sequence[PairData],
        watch: Mapping[str, Sequence[PairData]],
        seeds: Sequence[int],
        config: TrainingConfig,
        processes: Processes,
        *,
        teachers: Sequence[Teacher] = (),
        probes: Sequence[Probe] = (),
        loss: str = "",
    ) -> None:
        if config.patience is not None and not validation:
            raise ValueError("patience: expected validation pairs to watch, got none")
        self.trainee, self.data, self.validation, self.watch = trainee, data, validation, watch
        self.seeds, self.config, self.processes = seeds, config, processes
        self.teachers, self.probes, self.loss = teachers, probes, loss
        self.schedule = make_schedule(config.schedule)
        self.optimizer = make_adam(trainee.parameters.values(), config)
        self.optimizer_step = AdamStep(self.optimizer)
        self.teacher_weights = self._copy_of_weights() if teachers else {}
        self.average = self._copy_of_weights() if config.average else {}
        self.best: dict[str, Tensor] = {}
        self.histories = [History() for _ in seeds]
        self.position = 0
        """steps done"""
        self.loss_sums = torch.zeros(len(seeds), dtype=torch.float64)
        """of each member in this epoch so far"""
        self.seconds = 0.0
        """spent on this epoch so far"""
        self.orders: list[Tensor] = []
        """of the pairs of each member in this epoch"""

    @property
    def steps_per_epoch(self) -> int:
        return -(-len(self.data[0]) // self.config.batch_size)

    @property
    def steps(self) -> int:
        """The number of steps of the whole run."""
        return self.config.epochs * self.steps_per_epoch

    @property
    def progress(self) -> float:
        """The part of the run that is done."""
        return self.position / self.steps

    @property
    def finished(self) -> bool:
        return self.position >= self.steps or all(history.stopped_early for history in self.histories)

    @property
    def pair_trainee(self) -> PairTrainee:
        """The trainee, if it can be asked for the distances of pairs."""
        if not isinstance(self.trainee, PairTrainee):
            kind = type(self.trainee).__name__
            raise TypeError(f"trainee: expected one that learns distances of pairs, got {kind}")
        return self.trainee

    def evaluated_weights(self) -> dict[str, Tensor]:
        """The weights that the trainee would end with now."""
        return self.average or {name: weight.detach() for name, weight in self.trainee.parameters.items()}

    def keep_as_best(self, member: int) -> None:
        """Keep the weights of a member as its best so far.

        Args:
            member: its number.
        """
        current = self.evaluated_weights()
        self.best = self.best or {name: value.detach().clone() for name, value in current.items()}
        for name, value in current.items():
            self.trainee.of_member(self.best[name], member).copy_(self.trainee.of_member(value, member))

    def load_final_weights(self) -> None:
        """Leave the trainee with its final weights, ready for use."""
        self.trainee.set_training(False)
        self.trainee.load(self.best or self.evaluated_weights())

    @property
    def diverged(self) -> list[int]:
        """The numbers of the members whose weights, at the end, would not be finite."""
        weights = self.best or self.evaluated_weights()
        return [
            member
            for member in range(len(self.seeds))
            if not all(bool(self.trainee.of_member(own, member).isfinite().all()) for own in weights.values())
        ]

    def questions(self, pairs: Sequence[Tensor]) -> list[PairData]:
        """Make pairs without targets, to ask the members for.

        Args:
            pairs: indices `(m, 2)` for each member.

        Returns:
            The pairs of each member; one object where all members have the same.
        """
        first = self.data[0]
        if not isinstance(first, PairData):
            raise TypeError(f"teachers, probes: expected pairs to train on, got {type(first).__name__}")
        if all(torch.equal(own, pairs[0]) for own in pairs):
            pairs = pairs[:1]
        data = [PairData(own, first.targets.new_zeros(len(own)), first.objects) for own in pairs]
        return data if len(data) == len(self.seeds) else data * len(self.seeds)

    def _copy_of_weights(self) -> dict[str, Tensor]:
        return {name: weight.detach().clone() for name, weight in self.trainee.parameters.items()}
