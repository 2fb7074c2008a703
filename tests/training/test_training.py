"""The training loop: it learns, it calibrates, it stops at the best weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from uphill import model, problem

import trimetric as tm
from trimetric.training.adam import AdamStep, make_adam

QUICK = tm.TrainingConfig(epochs=4, batch_size=32, learning_rate=1e-2)


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


def test_one_embedding_row_per_object() -> None:
    _, pairs, targets = problem(12)
    torch.manual_seed(0)
    trained = tm.Siamese(nn.Embedding(12, 4), tm.Calibrated(tm.WideNorm(4)))
    history = tm.fit(trained, pairs, targets, config=tm.TrainingConfig(epochs=60, batch_size=36, learning_rate=2e-2))
    assert history.epochs[-1].loss < 0.05 * history.epochs[0].loss


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


def smooth() -> tm.Siamese:
    """A model with an encoder of somebody else, so that it is compiled."""
    encoder = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
    return tm.Siamese(encoder, tm.WideNorm(4, components=3, width=2))


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # torch hides it, but not from a filter that raises
@pytest.mark.parametrize("head", ["fused", "not fused"])
@pytest.mark.parametrize("ends", [True, False])
def test_compiled_training_is_the_same_training(head: str, ends: bool) -> None:
    torch.compiler.reset()
    objects, pairs, targets = problem(12)
    objects, settings, histories = objects.double(), {"epochs": 3, "batch_size": 36, "learning_rate": 1e-2}, []
    for compiled in (False, True):
        torch.manual_seed(0)
        trained = smooth()
        if head == "not fused":
            trained = tm.Siamese(trained.encoder, tm.RandersMetric(4))
        data = (objects[pairs[:, 0]], objects[pairs[:, 1]]) if ends else pairs
        config = tm.TrainingConfig(**settings, compile=compiled)  # type: ignore[arg-type]
        table = None if ends else objects
        history = tm.fit(trained.double(), data, targets.double(), objects=table, config=config, progress="silent")
        histories.append([epoch.loss for epoch in history.epochs])
    assert histories[0] == pytest.approx(histories[1], rel=1e-5)


def test_without_a_compiler_training_continues_with_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no C++ compiler")

    monkeypatch.setattr(torch, "compile", lambda *_, **__: broken)
    objects, pairs, targets = problem(12)
    config = tm.TrainingConfig(epochs=2, batch_size=36, compile=True)
    with pytest.warns(RuntimeWarning, match="compiler failed, so training continues without it") as caught:
        history = tm.fit(smooth(), pairs, targets, objects=objects, config=config, progress="silent")
    assert len(history.epochs) == 2
    assert len({str(warning.message) for warning in caught}) == 1


@pytest.mark.parametrize(
    ("head", "numba", "reason"),
    [
        (lambda: tm.WideNorm(4), True, "this encoder and head are faster on a CPU"),
        (lambda: tm.recommended(4, symmetric=False), True, "this encoder and head are faster on a CPU"),
        (lambda: tm.Mahalanobis(4), True, "this encoder and head are faster on a CPU"),  # without a fused pass
        (lambda: tm.PoissonQuasimetric(4), True, "this encoder and head are faster on a CPU"),
        (lambda: tm.IntervalQuasimetric(4), False, "an IntervalQuasimetric is slower on a CPU when compiled"),
        (lambda: tm.MLPDistance(4), True, "this encoder and head are faster on a CPU"),
    ],
)
def test_what_would_be_slower_is_not_compiled(
    head: Callable[[], tm.Norm | tm.Distance], numba: bool, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unexpected(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(torch, "compile", unexpected)
    monkeypatch.setattr("trimetric.kernels.products.prefers_onednn", lambda: True)  # which compiled code does not use
    if not numba:
        monkeypatch.setattr("trimetric.kernels.rows.fused._has_numba", lambda: False)
    objects, pairs, targets = problem(12)
    config = tm.TrainingConfig(epochs=1, batch_size=36, compile=True)
    trained = tm.Siamese(tm.MLP(2, 4, widths=(8,)), head())
    with pytest.warns(RuntimeWarning, match=f"compile: training runs uncompiled, because {reason}"):
        tm.fit(trained, pairs, targets, objects=objects, config=config, progress="silent")


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_steps_of_adam_are_those_of_torch(decay: float) -> None:
    torch.manual_seed(0)
    ours = [
        torch.randn(3, 4, requires_grad=True),
        torch.randn(5, requires_grad=True),
        torch.randn(2, requires_grad=True),
    ]
    theirs = [p.detach().clone().requires_grad_() for p in ours]
    config = tm.TrainingConfig(weight_decay=decay)
    step, optimizer = AdamStep(make_adam(ours, config)), make_adam(theirs, config)
    for i in range(6):
        step.clear_gradients()
        optimizer.zero_grad()
        for parameters in (ours, theirs):
            used = parameters[:2] if i in (0, 1, 4) else parameters  # one has no gradient at first, and later again
            sum((i + 1) * p.square().sum() for p in used).backward()  # type: ignore[union-attr]
        step.optimizer.param_groups[0]["lr"] = optimizer.param_groups[0]["lr"] = 0.1 / (i + 1)
        step.take()
        optimizer.step()
        if i == 3:  # as a checkpoint does
            for p in ours:
                step.optimizer.state[p] = {key: value.clone() for key, value in step.optimizer.state[p].items()}
        for one, other in zip(ours, theirs, strict=True):
            assert torch.equal(one, other)


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


def test_old_names_work_with_a_warning() -> None:
    from trimetric.training import losses, teachers

    with pytest.warns(DeprecationWarning, match=r"losses\.OwnLoss is now trimetric\.CustomLoss"):
        assert losses.OwnLoss is tm.CustomLoss  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match=r"teachers\.Bootstrap is now trimetric\.Teacher"):
        assert teachers.Bootstrap is tm.Teacher  # type: ignore[attr-defined]
    objects, pairs, targets = problem(6)
    teacher = tm.Teacher(pairs=pairs, targets=lambda _: targets)
    data = {"objects": objects, "config": tm.TrainingConfig(epochs=2), "progress": "silent"}
    expected = tm.fit(model(), pairs, targets, teacher=teacher, **data)  # type: ignore[arg-type]
    with pytest.warns(DeprecationWarning, match=r"fit\(bootstrap=...\) is now fit\(teacher=...\); "):
        found = tm.fit(model(), pairs, targets, bootstrap=teacher, **data)  # type: ignore[arg-type]
    assert [epoch.loss for epoch in found.epochs] == [epoch.loss for epoch in expected.epochs]
    with pytest.warns(DeprecationWarning, match=r"fit_many\(bootstrap=...\) is now fit_many\(teachers=...\)"):
        tm.fit_many([model(), model(1)], pairs, targets, seeds=[0, 1], bootstrap=[teacher] * 2, **data)  # type: ignore[arg-type]


def test_a_training_that_diverges_raises_and_leaves_no_checkpoint(tmp_path: Path) -> None:
    objects = torch.rand(20, 2)
    pairs = torch.cartesian_prod(torch.arange(20), torch.arange(20))
    targets = (objects[pairs[:, 0]] - objects[pairs[:, 1]]).norm(dim=-1)

    def own_model(seed: int) -> tm.Siamese:
        torch.manual_seed(seed)
        return tm.Siamese(tm.MLP(2, 8, widths=(8,)), tm.Calibrated(tm.WideNorm(8)))

    config = tm.TrainingConfig(epochs=5, checkpoint_seconds=0.0)
    file = tmp_path / "run.checkpoint"
    for own, rate in ((1e30 * targets, 1e-3), (targets, 1e38)):
        wild = replace(config, learning_rate=rate)
        with pytest.raises(RuntimeError, match=r"the training diverged: by epoch .* the weights are not finite"):
            tm.fit(own_model(0), pairs, own, objects=objects, config=wild, checkpoint=file, progress="silent")
        assert not list(tmp_path.iterdir())
    shared: dict[str, Any] = {"seeds": [0, 1], "objects": objects, "config": config, "progress": "silent"}
    with pytest.raises(RuntimeError, match="the training diverged"):
        tm.fit_many([own_model(0), own_model(1)], pairs, 1e30 * targets, **shared)
    models, wild_targets = [own_model(0), own_model(1)], [targets, 1e30 * targets]
    with pytest.warns(RuntimeWarning, match=r"the training of models\[1\] diverged"):
        tm.fit_many(models, [pairs, pairs], wild_targets, **shared)
    assert all(bool(value.isfinite().all()) for value in models[0].state_dict().values())
