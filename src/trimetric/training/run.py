"""The state of a training run: what a checkpoint holds is what this holds."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from trimetric._support.printable import printable, shown
from trimetric._support.tensor_files import CheckpointError, read_checkpoint, write_checkpoint
from trimetric.training.config import Epoch, History, TrainingConfig
from trimetric.training.identity import check_tensors, differences, history_of, network_identity, settings_identity
from trimetric.training.pairs import PairData
from trimetric.training.processes import Processes
from trimetric.training.schedules import make_schedule
from trimetric.training.teachers import Probe, Teacher
from trimetric.training.trainee import Trainee


class TrainingRun:
    """A trainee, its data, its optimiser and how far it is.

    Args:
        trainee: one model, or several members of one architecture.
        data: the pairs of each member.
        validation: those of each member to measure on, or none.
        watch: more of them by name, whose errors are only recorded.
        seeds: of the order of each member's pairs.
        config: the settings of all members, but for the seed.
        processes: that this run is spread over.
        bootstrap: where the targets of each member come from, if not from the data.
        probes: of each member, or none.
        loss: the identity of a loss of one's own.
    """

    def __init__(
        self,
        trainee: Trainee,
        data: Sequence[PairData],
        validation: Sequence[PairData],
        watch: Mapping[str, Sequence[PairData]],
        seeds: Sequence[int],
        config: TrainingConfig,
        processes: Processes,
        *,
        bootstrap: Sequence[Teacher] = (),
        probes: Sequence[Probe] = (),
        loss: str = "",
    ) -> None:
        if config.patience is not None and not validation:
            raise ValueError("patience: expected validation pairs to watch, got none")
        self.trainee, self.data, self.validation, self.watch = trainee, data, validation, watch
        self.seeds, self.config, self.processes = seeds, config, processes
        self.bootstrap, self.probes, self.loss = bootstrap, probes, loss
        self.teacher = {k: p.detach().clone() for k, p in trainee.parameters.items()} if bootstrap else {}
        self.schedule = make_schedule(config.schedule)
        adam = torch.optim.AdamW if config.weight_decay else torch.optim.Adam
        self.optimiser = adam(
            trainee.parameters.values(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
        )
        self.average = {k: p.detach().clone() for k, p in trainee.parameters.items()} if config.average else {}
        self.best: dict[str, Tensor] = {}
        self.histories = [History() for _ in seeds]
        self.position = 0  # steps done
        self.loss_sums = torch.zeros(len(seeds), dtype=torch.float64)
        self.seconds = 0.0
        self.orders: list[Tensor] = []

    @property
    def steps_an_epoch(self) -> int:
        return -(-len(self.data[0]) // self.config.batch_size)

    @property
    def steps(self) -> int:
        return self.config.epochs * self.steps_an_epoch

    @property
    def finished(self) -> bool:
        return self.position >= self.steps or all(history.stopped_early for history in self.histories)

    def step(self) -> list[Epoch] | None:
        """One step; each member's record of the epoch where it was the last of one."""
        start = time.perf_counter()
        epoch, i = divmod(self.position, self.steps_an_epoch)
        if i == 0 or not self.orders:
            self.orders = [shuffled(len(self.data[0]), seed, epoch) for seed in self.seeds]
            if self.bootstrap:
                self._ask_teacher()
        batches = [order[i * self.config.batch_size : (i + 1) * self.config.batch_size] for order in self.orders]
        rate = self.config.learning_rate * self.schedule(self.position / self.steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.trainee.set_training(True)
        self.trainee.set_progress(self.position / self.steps)
        self.optimiser.zero_grad(set_to_none=True)
        losses = self.trainee.losses(batches)
        losses.sum().backward()
        if self.config.clip_norm is not None:
            self.trainee.clip(self.config.clip_norm)
        self.optimiser.step()
        if self.config.average:
            for name, average in self.average.items():
                average.lerp_(self.trainee.parameters[name].detach(), 1 - self.config.average)
        mean = self.processes.sum(losses.detach().double().cpu()) / self.processes.size
        self.loss_sums += mean * len(batches[0])
        self.position += 1
        self.seconds += time.perf_counter() - start
        return self._finish_epoch(epoch, rate) if i + 1 == self.steps_an_epoch else None

    @torch.no_grad()
    def _ask_teacher(self) -> None:
        """Set the targets of this epoch; the same ones for a run that was stopped in the middle of it."""
        self.trainee.set_training(False)
        with self.trainee.with_parameters(self.teacher):
            answers = self.trainee.predictions(self._questions([one.pairs for one in self.bootstrap]))
        targets = [one.targets(own) for one, own in zip(self.bootstrap, answers, strict=True)]
        self.trainee.set_targets(torch.stack(targets).to(answers.dtype))

    def _questions(self, pairs: Sequence[Tensor]) -> list[PairData]:
        """Pairs without targets; one object where all members have the same."""
        first = self.data[0]
        if all(torch.equal(own, pairs[0]) for own in pairs):
            pairs = pairs[:1]
        data = [PairData(own, first.targets.new_zeros(len(own)), first.objects) for own in pairs]
        return data if len(data) == len(self.seeds) else data * len(self.seeds)

    def _finish_epoch(self, epoch: int, rate: float) -> list[Epoch]:
        for name, teacher in self.teacher.items():
            teacher.lerp_(self.trainee.parameters[name].detach(), 1 - self.bootstrap[0].decay)
        due = (epoch + 1) % self.config.validation_epochs == 0 or epoch + 1 == self.config.epochs
        validation, watched = self._errors() if due else (None, {})
        records = []
        for member, loss_sum in enumerate(self.loss_sums.tolist()):
            record = Epoch(
                epoch=epoch,
                loss=loss_sum / len(self.data[0]),
                validation_mse=None if validation is None else validation[member],
                learning_rate=rate,
                seconds=self.seconds,
                watched={name: errors[member] for name, errors in watched.items()},
            )
            records.append(record)
            if not self.histories[member].stopped_early:
                self._remember(member, record)
        self.loss_sums.zero_()
        self.seconds = 0.0
        return records

    def _remember(self, member: int, record: Epoch) -> None:
        """Add an epoch to a member's history; keep its weights where they are its best and will be asked for."""
        history, patience = self.histories[member], self.config.patience
        history.epochs.append(record)
        best = history.best_validation_mse
        if record.validation_mse is not None and (best is None or record.validation_mse < best):
            history.best_epoch = record.epoch
            if patience is not None:
                current = self._evaluated()
                self.best = self.best or {name: value.detach().clone() for name, value in current.items()}
                for name, value in current.items():
                    self.trainee.of_member(self.best[name], member).copy_(self.trainee.of_member(value, member))
        if patience is not None and history.best_epoch is not None:
            history.stopped_early = record.epoch - history.best_epoch >= patience

    def _evaluated(self) -> dict[str, Tensor]:
        """The weights that the trainee would end with now."""
        return self.average or {k: p.detach() for k, p in self.trainee.parameters.items()}

    @torch.no_grad()
    def _errors(self) -> tuple[list[float] | None, dict[str, list[float]]]:
        """The errors of each member on its validation pairs and on those to watch."""
        self.trainee.set_training(False)
        with self.trainee.with_parameters(self._evaluated()):
            validation = self.trainee.errors(self.validation) if self.validation else None
            watched = {name: self.trainee.errors(data) for name, data in self.watch.items()}
            if self.probes:
                answers = self.trainee.predictions(self._questions([probe.pairs for probe in self.probes]))
                found = [probe.measure(own) for probe, own in zip(self.probes, answers, strict=True)]
                watched |= {name: [numbers[name] for numbers in found] for name in found[0]}
            return validation, watched

    def finish(self) -> list[History]:
        """Leave the trainee with its final weights, ready for use."""
        self.trainee.set_training(False)
        self.trainee.load(self.best or self._evaluated())
        return self.histories

    def save(self, path: Path) -> None:
        moments = {
            f"optimiser.{name}.{key}": value
            for name, parameter in self.trainee.parameters.items()
            for key, value in self.optimiser.state[parameter].items()
        }
        tensors = {
            **{f"parameter.{name}": value for name, value in self.trainee.parameters.items()},
            **{f"buffer.{name}": value for name, value in self.trainee.buffers.items()},
            **moments,
            **{f"average.{name}": value for name, value in self.average.items()},
            **{f"best.{name}": value for name, value in self.best.items()},
            **{f"teacher.{name}": value for name, value in self.teacher.items()},
            "generator": torch.get_rng_state(),
            "loss_sums": self.loss_sums,
        }
        state = {
            "identity": self._identity(),
            "position": self.position,
            "seconds": self.seconds,
            "histories": [asdict(history) for history in self.histories],
        }
        write_checkpoint(path, tensors, state)

    @torch.no_grad()
    def restore(self, path: Path) -> None:
        """Go on where a checkpoint says; one that lacks something, or has it in another shape, is refused."""
        tensors, state = read_checkpoint(path)
        try:
            self._restore(path, tensors, state)
        except CheckpointError:
            raise
        except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
            told = printable(" ".join(str(error).split()), limit=200)
            kind = type(error).__name__
            raise CheckpointError(f"{path}: is no whole checkpoint of this run ({kind}: {told}).") from None

    def _restore(self, path: Path, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        def part(prefix: str) -> dict[str, Tensor]:
            return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}

        if state["identity"] != self._identity():
            network = part("parameter.") | part("buffer.")
            found = differences(state["identity"], self._identity(), network, self._network())
            raise CheckpointError(
                f"{path}: belongs to another run: {found}. Resume with the same arguments, or give another checkpoint "
                "file."
            )

        self._check(tensors, state)
        moments = part("optimiser.")
        for name, parameter in self.trainee.parameters.items():
            parameter.copy_(tensors[f"parameter.{name}"])
            self.optimiser.state[parameter] = {
                key: moments[f"{name}.{key}"].to(parameter.device)
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"{name}.{key}" in moments
            }
        for name, buffer in self.trainee.buffers.items():
            buffer.copy_(tensors[f"buffer.{name}"])
        self.average, self.best = self._on_device(part("average.")), self._on_device(part("best."))
        self.teacher = self._on_device(part("teacher."))
        torch.set_rng_state(tensors["generator"])
        self.position, self.seconds, self.loss_sums = state["position"], state["seconds"], tensors["loss_sums"]
        self.histories = [history_of(record) for record in state["histories"]]

    def _check(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        wholes = {"average": bool(self.config.average), "teacher": bool(self.bootstrap), "best": False}
        check_tensors(tensors, self.trainee.parameters, self.trainee.buffers, self.loss_sums, wholes)
        position, histories = state["position"], state["histories"]
        if type(position) is not int or not 0 <= position <= self.steps:
            raise ValueError(f"position: expected a step from 0 to {self.steps}, got {shown(position)}")
        if not isinstance(state["seconds"], (int, float)) or len(histories) != len(self.seeds):
            raise ValueError(f"histories: expected {len(self.seeds)} and the seconds, got {shown(histories)}")

    def _network(self) -> dict[str, Tensor]:
        return self.trainee.parameters | self.trainee.buffers

    def _on_device(self, values: dict[str, Tensor]) -> dict[str, Tensor]:
        return {name: value.to(self.trainee.parameters[name].device) for name, value in values.items()}

    def _identity(self) -> dict[str, str]:
        """What must be the same for a checkpoint to fit."""
        return {
            "config": settings_identity(self.config, list(self.seeds)),
            "data": _fingerprint(self.data),
            "validation": _fingerprint(self.validation),
            "watch": " ".join(f"{name} {_fingerprint(data)}" for name, data in sorted(self.watch.items())),
            "bootstrap": " ".join(one.fingerprint() for one in self.bootstrap),
            "model": network_identity(self._network()),
            **({"loss": self.loss} if self.loss else {}),
        }


def shuffled(count: int, seed: int, epoch: int) -> Tensor:
    """The order of the pairs in an epoch."""
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed * 1_000_003 + epoch))


def _fingerprint(members: Sequence[PairData]) -> str:
    distinct = {id(data): data for data in members}
    digests = {key: data.fingerprint() for key, data in distinct.items()}
    return " ".join(digests[id(data)] for data in members)
