"""The training loop: it learns, it calibrates, it loses nothing."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import trimetric as tm
from trimetric._support.tensor_files import CheckpointError, previous, read_checkpoint
from trimetric.training.losses import LOSSES, make_loss
from trimetric.training.schedules import make_schedule

QUICK = tm.TrainingConfig(epochs=4, batch_size=32, learning_rate=1e-2)


def problem(n: int = 40) -> tuple[Tensor, Tensor, Tensor]:
    """Objects in the plane, all pairs of them, and an asymmetric distance (uphill costs three times as much)."""
    generator = torch.Generator().manual_seed(0)
    objects = torch.rand(n, 2, generator=generator)
    pairs = torch.cartesian_prod(torch.arange(n), torch.arange(n))
    difference = objects[pairs[:, 1]] - objects[pairs[:, 0]]
    return objects, pairs, 50 * (difference[:, 0].abs() + 3 * difference[:, 1].relu() + (-difference[:, 1]).relu())


def model(seed: int = 0, head: tm.Distance | None = None) -> tm.Siamese:
    torch.manual_seed(seed)
    encoder = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 4))
    return tm.Siamese(encoder, tm.Calibrated(head or tm.WideNorm(4, components=4, width=4)))


def weights(trained: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in trained.state_dict().items()}


def assert_same(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


def test_it_learns() -> None:
    objects, pairs, targets = problem()
    trained = model()
    history = tm.fit(
        trained,
        pairs,
        targets,
        objects=objects,
        validation=(pairs[::7], targets[::7]),
        config=tm.TrainingConfig(epochs=40, batch_size=64, learning_rate=1e-2),
        progress="silent",
    )
    last = history.epochs[-1].validation_mse
    assert last is not None
    assert last < 0.02 * targets.var().item()
    assert tm.audit(trained, objects).holds


def test_calibration_matches_the_mean_before_the_first_step() -> None:
    objects, pairs, targets = problem()
    trained = model()
    tm.fit(trained, pairs, targets, objects=objects, config=tm.TrainingConfig(epochs=1, learning_rate=1e-12))
    predicted = trained(objects[pairs[:, 0]], objects[pairs[:, 1]])
    assert predicted.mean().item() == pytest.approx(targets.mean().item(), rel=0.05)
    free = model(head=tm.MLPDistance(4))
    tm.fit(free, pairs, targets, objects=objects, config=tm.TrainingConfig(epochs=1, learning_rate=1e-12))
    predicted = free(objects[pairs[:, 0]], objects[pairs[:, 1]])
    assert predicted.mean().item() == pytest.approx(targets.mean().item(), rel=0.05)
    assert predicted.std().item() == pytest.approx(targets.std().item(), rel=0.05)


def test_indices_and_ends_train_the_same() -> None:
    objects, pairs, targets = problem(12)
    by_index, by_ends = model().double(), model().double()
    objects, targets = objects.double(), targets.double()
    one = tm.fit(by_index, pairs, targets, objects=objects, config=QUICK, progress="silent")
    ends = objects[pairs[:, 0]], objects[pairs[:, 1]]
    other = tm.fit(by_ends, ends, targets, config=QUICK, progress="silent")
    assert [e.loss for e in one.epochs] == pytest.approx([e.loss for e in other.epochs], rel=1e-9)


def test_one_embedding_row_an_object() -> None:
    _, pairs, targets = problem(12)
    torch.manual_seed(0)
    trained = tm.Siamese(nn.Embedding(12, 4), tm.Calibrated(tm.WideNorm(4)))
    history = tm.fit(trained, pairs, targets, config=tm.TrainingConfig(epochs=60, batch_size=36, learning_rate=2e-2))
    assert history.epochs[-1].loss < 0.05 * history.epochs[0].loss


@pytest.mark.parametrize("stop_after", [1, 7, 50, 99, 137])
@pytest.mark.parametrize("options", [{}, {"average": 0.9, "clip_norm": 1.0, "weight_decay": 0.1}, {"patience": 2}])
def test_resuming_is_bit_identical(tmp_path: Path, stop_after: int, options: dict[str, float]) -> None:
    objects, pairs, targets = problem(30)
    config = tm.TrainingConfig(epochs=5, batch_size=32, learning_rate=1e-2, checkpoint_seconds=0, **options)  # type: ignore[arg-type]
    data = {"objects": objects, "validation": (pairs[:50], targets[:50]), "config": config, "progress": "silent"}

    class Dropping(nn.Dropout):
        """Ends the run in the middle of an epoch, and needs the state of the global generator."""

        left = stop_after

        def forward(self, input: Tensor) -> Tensor:
            if self.training and torch.is_grad_enabled():
                self.left -= 1
                if self.left < 0:
                    raise KeyboardInterrupt
            return super().forward(input)

    def with_dropout(left: int) -> tm.Siamese:
        trained = model()
        dropping = Dropping(0.3)
        dropping.left = left
        trained.encoder.insert(1, dropping)  # type: ignore[operator]
        return trained

    undisturbed = with_dropout(10**9)
    expected = tm.fit(undisturbed, pairs, targets, **data)  # type: ignore[arg-type]
    file = tmp_path / "run.safetensors"
    torch.manual_seed(0)
    with contextlib.suppress(KeyboardInterrupt):
        tm.fit(with_dropout(stop_after), pairs, targets, checkpoint=file, **data)  # type: ignore[arg-type]
    torch.manual_seed(12345)
    resumed = with_dropout(10**9)
    history = tm.fit(resumed, pairs, targets, checkpoint=file, **data)  # type: ignore[arg-type]
    assert_same(weights(undisturbed), weights(resumed))
    assert [e.loss for e in history.epochs] == [e.loss for e in expected.epochs]
    # A finished run is not run again.
    again = with_dropout(0)
    assert tm.fit(again, pairs, targets, checkpoint=file, **data).epochs == history.epochs  # type: ignore[arg-type]
    assert_same(weights(undisturbed), weights(again))


def finished_run(tmp_path: Path) -> Path:
    objects, pairs, targets = problem(10)
    file = tmp_path / "run.safetensors"
    config = tm.TrainingConfig(epochs=2, batch_size=32, checkpoint_seconds=0)
    tm.fit(model(), pairs, targets, objects=objects, config=config, checkpoint=file, progress="silent")
    return file


@pytest.mark.parametrize("damage", ["truncated", "changed", "foreign", "text", "empty"])
def test_a_damaged_checkpoint_is_refused_and_the_previous_one_is_there(tmp_path: Path, damage: str) -> None:
    file = finished_run(tmp_path)
    content = file.read_bytes()
    if damage == "truncated":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "changed":
        middle = len(content) - 40
        file.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    elif damage == "foreign":
        from safetensors.torch import save_file

        save_file({"a": torch.zeros(3)}, file)
    else:
        file.write_bytes(b"" if damage == "empty" else b"hello")
    objects, pairs, targets = problem(10)
    with pytest.raises(CheckpointError, match=r"run\.safetensors: "):
        tm.fit(model(), pairs, targets, objects=objects, checkpoint=file, progress="silent")
    read_checkpoint(previous(file))


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    file = finished_run(tmp_path)
    objects, pairs, targets = problem(10)
    config = tm.TrainingConfig(epochs=3, batch_size=32)
    with pytest.raises(CheckpointError, match=r"another run: epochs: 2 there, 3 here\. Resume"):
        tm.fit(model(), pairs, targets, objects=objects, config=config, checkpoint=file, progress="silent")
    config = tm.TrainingConfig(epochs=2, batch_size=32)
    with pytest.raises(CheckpointError, match="another run: the training pairs, their distances or the objects differ"):
        tm.fit(model(), pairs, targets + 1, objects=objects, config=config, checkpoint=file, progress="silent")
    with pytest.raises(CheckpointError, match="another run: the training pairs, their distances or the objects differ"):
        tm.fit(model(), pairs, targets, objects=objects + 1, config=config, checkpoint=file, progress="silent")
    with pytest.raises(CheckpointError, match="another run: the validation pairs differ"):
        tm.fit(
            model(),
            pairs,
            targets,
            objects=objects,
            validation=(pairs, targets),
            config=config,
            checkpoint=file,
            progress="silent",
        )


def test_early_stopping_keeps_the_best_weights() -> None:
    objects, pairs, targets = problem(12)
    held_out = (pairs[::3], targets[::3])
    trained = model()
    config = tm.TrainingConfig(epochs=300, batch_size=16, learning_rate=0.1, patience=3, schedule="constant")
    history = tm.fit(trained, pairs, targets, objects=objects, validation=held_out, config=config, progress="silent")
    assert history.stopped_early
    assert len(history.epochs) < 300
    with torch.no_grad():
        predicted = trained(objects[held_out[0][:, 0]], objects[held_out[0][:, 1]])
    assert (predicted - held_out[1]).square().mean().item() == pytest.approx(history.best_validation_mse, rel=1e-4)


def test_averaging_ends_with_the_average() -> None:
    objects, pairs, targets = problem(12)
    plain, averaged = model(), model()
    tm.fit(plain, pairs, targets, objects=objects, config=QUICK, progress="silent")
    config = tm.TrainingConfig(epochs=4, batch_size=32, learning_rate=1e-2, average=0.99)
    tm.fit(averaged, pairs, targets, objects=objects, config=config, progress="silent")
    assert not torch.equal(plain.encoder[0].weight, averaged.encoder[0].weight)  # type: ignore[index]
    assert tm.audit(averaged, objects).holds


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_zero_at_the_target_and_have_finite_gradients(name: str) -> None:
    loss = make_loss(name)  # type: ignore[arg-type]
    target = torch.tensor([0.5, 2.0, 7.0])
    assert loss(target, target).abs().max() < 1e-12
    predicted = torch.tensor([1.0, 1.0, 9.0], requires_grad=True)
    loss(predicted, target).sum().backward()
    assert torch.isfinite(predicted.grad).all()  # type: ignore[arg-type]


def test_the_discounted_loss_takes_unreachable_pairs() -> None:
    loss = make_loss("discounted", gamma=0.5)
    assert loss(torch.tensor([1.0]), torch.tensor([torch.inf])).item() == pytest.approx(0.25)


def test_bounds() -> None:
    predicted, bound = torch.tensor([1.0, 3.0]), torch.tensor([2.0, 2.0])
    assert make_loss("lower_bound")(predicted, bound).tolist() == [1, 0]
    assert make_loss("upper_bound")(predicted, bound).tolist() == [0, 1]


def test_schedules() -> None:
    assert [make_schedule("step")(t) for t in (0, 0.24, 0.25, 0.5, 0.99, 1)] == pytest.approx(
        [1, 1, 1 / 5, 1 / 25, 1 / 125, 1 / 125]
    )
    assert [make_schedule("cosine")(t) for t in (0, 0.5, 1)] == pytest.approx([1, 0.5, 0])
    assert [make_schedule("one_cycle")(t) for t in (0, 0.3, 1)] == pytest.approx([0.04, 1, 0])
    assert make_schedule("constant")(0.7) == 1


def test_plain_lines_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    objects, pairs, targets = problem(10)
    tm.fit(model(), pairs, targets, objects=objects, config=QUICK)
    assert "epoch 4  loss" in capfd.readouterr().err
    tm.fit(model(), pairs, targets, objects=objects, config=QUICK, progress="silent")
    assert capfd.readouterr().err == ""


BAD = {
    "pairs: expected indices of shape (n, 2)": lambda p, t: (p.float(), t, {}),
    "pairs: expected indices from 0 to 9, the last of objects, got 10": lambda p, t: (p + 1, t, {}),
    "targets: expected distances >= 0": lambda p, t: (p, -t, {}),
    "targets: expected a vector of at least one": lambda p, t: (p[:0], t[:0], {}),
    "patience: expected validation pairs": lambda p, t: (p, t, {"config": tm.TrainingConfig(patience=3)}),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_arguments(message: str) -> None:
    objects, pairs, targets = problem(10)
    pairs, targets, options = BAD[message](pairs, targets)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        tm.fit(model(), pairs, targets, objects=objects, progress="silent", **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [("epochs", 0), ("batch_size", -1), ("learning_rate", 0.0), ("schedule", "warm"), ("loss", "l3"), ("average", 1.0)],
)
def test_bad_settings(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"{field}: expected"):
        tm.TrainingConfig(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_finishes_the_step_saves_and_ends(tmp_path: Path, number: signal.Signals) -> None:
    objects, pairs, targets = problem(20)
    file = tmp_path / "run.safetensors"
    config = tm.TrainingConfig(epochs=6, batch_size=50, learning_rate=1e-2)
    data = {"objects": objects, "config": config, "checkpoint": file, "progress": "silent"}
    stopped, undisturbed = model(), model()
    handler = signal.getsignal(number)

    def stop(epoch: tm.Epoch) -> None:
        if epoch.epoch == 2:
            signal.raise_signal(number)

    with pytest.raises(KeyboardInterrupt if number == signal.SIGINT else SystemExit):
        tm.fit(stopped, pairs, targets, callbacks=[stop], **data)  # type: ignore[arg-type]
    assert signal.getsignal(number) is handler
    assert read_checkpoint(file)[1]["position"] == 3 * 8
    tm.fit(stopped, pairs, targets, **data)  # type: ignore[arg-type]
    tm.fit(undisturbed, pairs, targets, objects=objects, config=config, progress="silent")
    assert_same(weights(stopped), weights(undisturbed))


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # torch hides it, but not from a filter that raises
def test_compiled_training_is_the_same_training() -> None:
    objects, pairs, targets = problem(12)
    eager, compiled = model().double(), model().double()
    settings = {"epochs": 3, "batch_size": 36, "learning_rate": 1e-2}
    ends = objects[pairs[:, 0]].double(), objects[pairs[:, 1]].double()
    config = tm.TrainingConfig(**settings, compile=True)  # type: ignore[arg-type]
    one = tm.fit(eager, ends, targets.double(), config=tm.TrainingConfig(**settings), progress="silent")  # type: ignore[arg-type]
    other = tm.fit(compiled, ends, targets.double(), config=config, progress="silent")
    assert [e.loss for e in one.epochs] == pytest.approx([e.loss for e in other.epochs], rel=1e-5)


def test_without_a_compiler_training_goes_on_with_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no C++ compiler")

    monkeypatch.setattr(torch, "compile", lambda *_, **__: broken)
    objects, pairs, targets = problem(12)
    config = tm.TrainingConfig(epochs=2, batch_size=36, compile=True)
    with pytest.warns(RuntimeWarning, match=r"compile: the compiler failed, so training goes on without it") as caught:
        history = tm.fit(model(), pairs, targets, objects=objects, config=config, progress="silent")
    assert len(history.epochs) == 2
    assert len({str(warning.message) for warning in caught}) == 1


def test_bfloat16_trains_nearly_as_well() -> None:
    objects, pairs, targets = problem(20)
    full, half = model(), model()
    settings = {"epochs": 20, "batch_size": 64, "learning_rate": 1e-2}
    config = tm.TrainingConfig(**settings, precision="bfloat16")  # type: ignore[arg-type]
    one = tm.fit(full, pairs, targets, objects=objects, config=tm.TrainingConfig(**settings), progress="silent")  # type: ignore[arg-type]
    other = tm.fit(half, pairs, targets, objects=objects, config=config, progress="silent")
    assert all(p.dtype == torch.float32 for p in half.parameters())
    assert other.epochs[-1].loss == pytest.approx(one.epochs[-1].loss, rel=0.5)
    assert other.epochs[-1].loss < 0.1 * other.epochs[0].loss
