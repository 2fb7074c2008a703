"""The one training loop."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric.checkpoint import CheckpointError, read_checkpoint, write_checkpoint
from trimetric.distances import Calibrated, Distance
from trimetric.losses import make_loss
from trimetric.pair_data import PairData, Pairs
from trimetric.progress import TrainingProgress
from trimetric.schedules import make_schedule
from trimetric.siamese import Siamese
from trimetric.training_config import Epoch, History, TrainingConfig

CALIBRATION_BATCHES = 8
EVALUATION_BATCH = 4096


class _Run:
    """All state of a training run: what a checkpoint holds is what this holds."""

    def __init__(
        self, model: nn.Module, data: PairData, validation: tuple[Pairs, Tensor] | None, config: TrainingConfig
    ) -> None:
        self.model, self.data, self.config = model, data, config
        self.validation = None if validation is None else PairData(*validation, data.objects)
        if config.patience is not None and validation is None:
            raise ValueError("patience: expected validation pairs to watch, got none")
        self.loss = make_loss(config.loss, huber_delta=config.huber_delta, gamma=config.gamma)
        self.schedule = make_schedule(config.schedule)
        self.parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
        adam = torch.optim.AdamW if config.weight_decay else torch.optim.Adam
        self.optimiser = adam(
            self.parameters.values(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
        )
        self.average = {k: p.detach().clone() for k, p in self.parameters.items()} if config.average else {}
        self.best: dict[str, Tensor] = {}
        self.history = History()
        self.position = 0  # steps done
        self.loss_sum = 0.0
        self.seconds = 0.0
        self.order = torch.empty(0, dtype=torch.long)

    @property
    def steps_an_epoch(self) -> int:
        return -(-len(self.data) // self.config.batch_size)

    @property
    def steps(self) -> int:
        return self.config.epochs * self.steps_an_epoch

    @property
    def finished(self) -> bool:
        return self.history.stopped_early or self.position >= self.steps

    def calibrate(self) -> None:
        """Set the output scale from the first batches."""
        scaled = [module for module in self.model.modules() if isinstance(module, Calibrated)]
        if len(scaled) != 1:
            return
        first = self._order_of(0)[: CALIBRATION_BATCHES * self.config.batch_size]
        first = first[torch.isfinite(self.data.targets[first])]
        self.model.eval()
        with torch.no_grad():
            predicted = self.data.predict(self.model, first)
        scaled[0].calibrate(predicted, self.data.targets[first])

    def step(self) -> Epoch | None:
        """One step; the epoch's record where it was the last of an epoch."""
        start = time.perf_counter()
        epoch, i = divmod(self.position, self.steps_an_epoch)
        if i == 0 or not len(self.order):
            self.order = self._order_of(epoch)
        batch = self.order[i * self.config.batch_size : (i + 1) * self.config.batch_size]
        rate = self.config.learning_rate * self.schedule(self.position / self.steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.model.train()
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.loss(self.data.predict(self.model, batch), self.data.targets[batch]).mean()
        loss.backward()
        if self.config.clip_norm is not None:
            nn.utils.clip_grad_norm_(self.parameters.values(), self.config.clip_norm)
        self.optimiser.step()
        if self.config.average:
            for name, average in self.average.items():
                average.lerp_(self.parameters[name].detach(), 1 - self.config.average)
        self.loss_sum += loss.item() * len(batch)
        self.position += 1
        self.seconds += time.perf_counter() - start
        return self._finish_epoch(epoch, rate) if i + 1 == self.steps_an_epoch else None

    def _order_of(self, epoch: int) -> Tensor:
        generator = torch.Generator().manual_seed(self.config.seed * 1_000_003 + epoch)
        return torch.randperm(len(self.data), generator=generator)

    def _finish_epoch(self, epoch: int, rate: float) -> Epoch:
        record = Epoch(
            epoch=epoch,
            loss=self.loss_sum / len(self.data),
            validation_mse=self._validation_mse(),
            learning_rate=rate,
            seconds=self.seconds,
        )
        self.history.epochs.append(record)
        self.loss_sum = self.seconds = 0.0
        best = self.history.best_validation_mse
        if record.validation_mse is not None and (best is None or record.validation_mse < best):
            self.history.best_epoch = epoch
            if self.config.patience is not None:
                self.best = {k: v.detach().clone() for k, v in self._evaluated().items()}
        if self.config.patience is not None and self.history.best_epoch is not None:
            self.history.stopped_early = epoch - self.history.best_epoch >= self.config.patience
        return record

    def _evaluated(self) -> dict[str, Tensor]:
        """The weights that the model would end with now."""
        return self.average or {k: p.detach() for k, p in self.parameters.items()}

    @torch.no_grad()
    def _validation_mse(self) -> float | None:
        if self.validation is None:
            return None
        self.model.eval()
        with _weights(self.parameters, self._evaluated()):
            total = 0.0
            for start in range(0, len(self.validation), EVALUATION_BATCH):
                batch = slice(start, start + EVALUATION_BATCH)
                error = self.validation.predict(self.model, batch) - self.validation.targets[batch]
                total += error.double().square().sum().item()
        return total / len(self.validation)

    @torch.no_grad()
    def load_final_weights(self) -> None:
        self.model.eval()
        for name, value in (self.best or self._evaluated()).items():
            self.parameters[name].copy_(value)

    def save(self, path: Path) -> None:
        moments = {
            f"optimiser.{name}.{key}": value
            for name, parameter in self.parameters.items()
            for key, value in self.optimiser.state[parameter].items()
        }
        tensors = {
            **{f"model.{name}": value for name, value in self.model.state_dict().items()},
            **moments,
            **{f"average.{name}": value for name, value in self.average.items()},
            **{f"best.{name}": value for name, value in self.best.items()},
            "generator": torch.get_rng_state(),
        }
        state = {
            "identity": self._identity(),
            "position": self.position,
            "loss_sum": self.loss_sum,
            "seconds": self.seconds,
            "history": asdict(self.history),
        }
        write_checkpoint(path, tensors, state)

    def restore(self, path: Path) -> None:
        tensors, state = read_checkpoint(path)
        if state["identity"] != self._identity():
            changed = [key for key, value in self._identity().items() if state["identity"].get(key) != value]
            raise CheckpointError(
                f"{path}: belongs to another run: {', '.join(changed)} differ. Resume with the same arguments, or give "
                "another checkpoint file."
            )

        def part(prefix: str) -> dict[str, Tensor]:
            return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}

        self.model.load_state_dict(part("model."))
        moments = part("optimiser.")
        for name, parameter in self.parameters.items():
            self.optimiser.state[parameter] = {
                key: moments[f"{name}.{key}"].to(parameter.device)
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"{name}.{key}" in moments
            }
        self.average, self.best = part("average."), part("best.")
        torch.set_rng_state(tensors["generator"])
        self.position, self.loss_sum, self.seconds = state["position"], state["loss_sum"], state["seconds"]
        epochs = [Epoch(**epoch) for epoch in state["history"].pop("epochs")]
        self.history = History(epochs=epochs, **state["history"])
        self.order = self._order_of(self.position // self.steps_an_epoch)

    def _identity(self) -> dict[str, str]:
        """What must be the same for a checkpoint to fit."""
        settings = {k: v for k, v in asdict(self.config).items() if k != "checkpoint_seconds"}
        shapes = {name: list(value.shape) for name, value in self.model.state_dict().items()}
        return {
            "config": json.dumps(settings, sort_keys=True),
            "data": self.data.fingerprint(),
            "validation": "" if self.validation is None else self.validation.fingerprint(),
            "model": hashlib.sha256(json.dumps(shapes, sort_keys=True).encode()).hexdigest(),
        }


@contextmanager
def _weights(parameters: dict[str, nn.Parameter], values: dict[str, Tensor]) -> Iterator[None]:
    """Other values for the parameters, for a while."""
    own = {name: parameter.data for name, parameter in parameters.items()}
    for name, value in values.items():
        parameters[name].data = value
    try:
        yield
    finally:
        for name, value in own.items():
            parameters[name].data = value


def fit(
    model: Siamese | Distance,
    pairs: Pairs,
    targets: Float[Tensor, " n"],
    *,
    objects: Tensor | None = None,
    validation: tuple[Pairs, Tensor] | None = None,
    config: TrainingConfig | None = None,
    callbacks: Iterable[Callable[[Epoch], object]] = (),
    checkpoint: Path | str | None = None,
    progress: Literal["auto", "silent"] = "auto",
) -> History:
    """Train a model on pairs of objects and their distances.

    A run that was killed goes on from its checkpoint when called again with the same arguments, and ends with the
    same weights, bit for bit, as an undisturbed one (on a CPU, with the same number of threads).

    Args:
        model: a `Siamese`, or a distance between vectors.  It is trained in place, and left in evaluation mode.
        pairs: either indices `(n, 2)` into `objects`, or the two ends themselves, a tuple of two tensors of n rows.
            With indices each distinct object of a batch is encoded once.
        targets: the n distances.
        objects: what the indices point at, one row each; by default the indices themselves, for an encoder
            such as `torch.nn.Embedding`.
        validation: pairs and targets that are not trained on; their mean squared error is reported.
        config: the settings.
        callbacks: called with each finished `Epoch`.
        checkpoint: a file to keep the state of the run in.
        progress: "silent" prints nothing.
    """
    run = _Run(model, PairData(pairs, targets, objects), validation, config or TrainingConfig())
    file = None if checkpoint is None else Path(checkpoint)
    if file is not None and file.exists():
        run.restore(file)
    elif run.config.calibrate:
        run.calibrate()
    saved = time.monotonic()
    with TrainingProgress(run.steps, silent=progress == "silent") as shown:
        while not run.finished:
            epoch = run.step()
            shown.advance(run.position)
            if epoch is not None:
                shown.finished(str(epoch), last=run.finished)
                for callback in callbacks:
                    callback(epoch)
            if file is not None and time.monotonic() - saved >= run.config.checkpoint_seconds:
                run.save(file)
                saved = time.monotonic()
    if file is not None:
        run.save(file)
    run.load_final_weights()
    return run.history
