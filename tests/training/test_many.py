"""Several models trained at once end where each would have ended alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from uphill import problem, weights

import trimetric as tm

SEEDS = [3, 4, 5]
OPTIONS = {
    "plain": {},
    "clipped, averaged, decayed": {"clip_norm": 5.0, "average": 0.9, "weight_decay": 0.1},
    "patient": {"patience": 1, "learning_rate": 0.05, "schedule": "constant"},
    "huber": {"loss": "huber", "schedule": "one_cycle"},
}


def settings(seed: int = 0, **options: object) -> tm.TrainingConfig:
    given = {"epochs": 6, "batch_size": 32, "learning_rate": 1e-2, **options}
    return tm.TrainingConfig(seed=seed, **given)  # type: ignore[arg-type]


def models() -> list[tm.Siamese]:
    """No parameter that cancels out: of its gradient, which is rounding alone, Adam would make steps."""
    members = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        encoder = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 4, bias=False))
        members.append(tm.Siamese(encoder, tm.Calibrated(tm.WideNorm(4, components=4, width=4))).double())
    return members


@pytest.mark.parametrize("how", OPTIONS)
@pytest.mark.parametrize("objects_known", [20, 100])
def test_each_member_ends_where_it_would_alone(how: str, objects_known: int) -> None:
    objects, pairs, targets = problem(objects_known)
    objects, pairs, targets = objects.double(), pairs[::7][:300], targets[::7][:300].double()
    watched = (pairs[:40], targets[:40])
    together, alone = models(), models()
    histories = tm.fit_many(
        together, pairs, targets, seeds=SEEDS, objects=objects, validation=watched, config=settings(**OPTIONS[how])
    )
    for seed, one, other, history in zip(SEEDS, together, alone, histories, strict=True):
        config = settings(seed, **OPTIONS[how])
        expected = tm.fit(other, pairs, targets, objects=objects, validation=watched, config=config, progress="silent")
        assert [e.loss for e in history.epochs] == pytest.approx([e.loss for e in expected.epochs], rel=1e-9)
        assert history.best_epoch == expected.best_epoch
        assert history.stopped_early == expected.stopped_early
        ends = objects[pairs[:, 0]], objects[pairs[:, 1]]
        torch.testing.assert_close(one(*ends), other(*ends), rtol=1e-9, atol=1e-9)


def test_members_may_have_pairs_of_their_own() -> None:
    data = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        x, y = torch.randn(50, 2, dtype=torch.float64), torch.randn(50, 2, dtype=torch.float64)
        data.append(((x, y), (seed * (x - y)).norm(dim=1)))
    together, alone = models(), models()
    pairs, targets = [ends for ends, _ in data], [distances for _, distances in data]
    tm.fit_many(together, pairs, targets, seeds=SEEDS, validation=data, config=settings())
    for seed, one, other, (ends, distances) in zip(SEEDS, together, alone, data, strict=True):
        tm.fit(other, ends, distances, config=settings(seed), progress="silent")
        torch.testing.assert_close(one(*ends), other(*ends), rtol=1e-9, atol=1e-9)


def test_one_embedding_row_an_object() -> None:
    _, pairs, targets = problem(12)
    members = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        members.append(tm.Siamese(nn.Embedding(12, 4), tm.Calibrated(tm.WideNorm(4))))
    histories = tm.fit_many(members, pairs, targets, seeds=SEEDS, config=settings(epochs=40, learning_rate=2e-2))
    assert all(history.epochs[-1].loss < 0.1 * history.epochs[0].loss for history in histories)


def test_a_stopped_run_goes_on_bit_for_bit(tmp_path: Path) -> None:
    objects, pairs, targets = problem(20)
    undisturbed, stopped = models(), models()
    arguments = {"seeds": SEEDS, "objects": objects.double(), "config": settings(average=0.9, checkpoint_seconds=0.0)}
    tm.fit_many(undisturbed, pairs, targets.double(), **arguments)

    class StopError(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise StopError

    file = tmp_path / "run.safetensors"
    hook = stopped[0].distance.register_forward_hook(lambda *_: interrupt() if file.exists() else None)
    with pytest.raises(StopError):
        tm.fit_many(stopped, pairs, targets.double(), checkpoint=file, **arguments)
    hook.remove()
    tm.fit_many(stopped, pairs, targets.double(), checkpoint=file, **arguments)
    for one, other in zip(undisturbed, stopped, strict=True):
        assert all(torch.equal(value, weights(other)[name]) for name, value in weights(one).items())


def test_errors_name_what_was_expected() -> None:
    objects, pairs, targets = problem(10)
    with pytest.raises(ValueError, match=r"seeds: expected one for each of the 3 models, got 1"):
        tm.fit_many(models(), pairs, targets, seeds=[1], objects=objects)
    with pytest.raises(ValueError, match=r"pairs: expected 3, one for each model, got 1"):
        tm.fit_many(models(), [pairs], [targets], seeds=SEEDS, objects=objects)
    with pytest.raises(ValueError, match=r"config: expected compile=False"):
        tm.fit_many(models(), pairs, targets, seeds=SEEDS, config=tm.TrainingConfig(compile=True))


def test_watched_pairs_are_recorded_where_they_are_due() -> None:
    objects, pairs, targets = problem(10)
    watch = {"all": (pairs, targets), "some": (pairs[:9], targets[:9])}
    config = settings(epochs=5, validation_epochs=2)
    history = tm.fit(
        models()[0].float(), pairs, targets, objects=objects, watch=watch, config=config, progress="silent"
    )
    assert [sorted(epoch.watched) for epoch in history.epochs] == [[], ["all", "some"], [], *[["all", "some"]] * 2]
    members = [member.float() for member in models()]
    histories = tm.fit_many(members, pairs, targets, seeds=[0, 1, 2], objects=objects, watch=watch, config=config)
    assert histories[0].epochs[-1].watched == pytest.approx(history.epochs[-1].watched, rel=1e-3)
    for member, own in zip(members, histories, strict=True):
        error = (member(objects[pairs[:, 0]], objects[pairs[:, 1]]) - targets).square().mean().item()
        assert own.epochs[-1].watched["all"] == pytest.approx(error, rel=1e-4)
