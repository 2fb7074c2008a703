"""Learning values by temporal differences in a world."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import trimetric as tm
from trimetric.rl import (
    GridEncoder,
    World,
    evaluate_values,
    greedy_actions,
    learn_values,
    paper_config,
    split_pairs,
    validation_split,
    value_model,
    values_of,
)
from trimetric.rl.learning.temporal_difference import temporal_difference
from trimetric.training.loop import shuffle

SMALL = """
#######
#  >  #
#  #  #
#  <  #
#######
"""


def small_models(world: World, seeds: tuple[int, ...], head: str = "wide") -> list[tm.Siamese]:
    models = []
    for seed in seeds:
        torch.manual_seed(seed)
        distance = tm.WideNorm(6, components=3, width=2) if head == "wide" else tm.MLPDistance(6, widths=(8,))
        encoder = GridEncoder(*world.grid.shape, dim=6, filters=(4, 5), hidden=7)
        models.append(tm.Siamese(encoder, distance).double())
    return models


def plain_learning(model: tm.Siamese, world: World, train: torch.Tensor, seed: int, epochs: int) -> list[float]:
    """The paper's recipe, word by word: each pair's pictures through the network, targets in each step."""
    target = small_models(world, (0,), "wide" if isinstance(model.distance, tm.NormInduced) else "mlp")[0]
    target.load_state_dict(model.state_dict())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    seen, losses = world.observations.double(), []
    for epoch in range(epochs):
        order, total = shuffle(len(train), seed, epoch), 0.0
        for batch in order.split(128):
            targets = []
            for state, goal in train[batch].tolist():
                options = []
                for action in range(4):
                    ahead = int(world.next_state[state, action])
                    if ahead >= 0:
                        with torch.no_grad():
                            further = 0.0 if ahead == goal else -target(seen[[ahead]], seen[[goal]]).item()
                        options.append(-world.cost[state, action].item() + further)
                targets.append(max(options))
            values = -torch.stack([model(seen[[s]], seen[[g]])[0] for s, g in train[batch].tolist()])
            loss = (values - torch.tensor(targets, dtype=torch.float64)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        losses.append(total / len(train))
        with torch.no_grad():
            for kept, own in zip(target.parameters(), model.parameters(), strict=True):
                kept.copy_(0.95 * kept + 0.05 * own)
    return losses


@pytest.mark.parametrize("seeds", [(1, 2), (3,)])
@pytest.mark.parametrize("head", ["wide", "mlp"])
def test_learning_is_the_papers_word_by_word(head: str, seeds: tuple[int, ...]) -> None:
    worlds = [World(SMALL, asymmetric=True, seed=seed) for seed in seeds]
    splits = [split_pairs(world, 0.75) for world in worlds]
    assert 128 < len(splits[0].train) < 256  # so that there are whole batches and a rest
    models = small_models(worlds[0], seeds, head)
    histories = learn_values(models, worlds, splits, seeds=seeds, config=paper_config(epochs=2), progress="silent")
    for seed, world, split, model, history in zip(seeds, worlds, splits, models, histories, strict=True):
        (plain,) = small_models(world, (seed,), head)
        losses = plain_learning(plain, world, split.train, seed, 2)
        assert [epoch.loss for epoch in history.epochs] == pytest.approx(losses, rel=1e-9)
        for name, value in plain.state_dict().items():
            torch.testing.assert_close(model.state_dict()[name], value, rtol=0, atol=1e-8)


def test_an_interrupted_run_resumes_bit_for_bit(tmp_path: Path) -> None:
    world = World(SMALL, asymmetric=True)
    split = split_pairs(world, 0.75)
    undisturbed, stopped = small_models(world, (0, 1)), small_models(world, (0, 1))
    arguments = {"seeds": (0, 1), "progress": "silent"}
    config = paper_config(epochs=3)
    learn_values(undisturbed, [world] * 2, [split] * 2, config=config, **arguments)  # type: ignore[arg-type]

    class StopError(Exception):
        pass

    file = tmp_path / "run.safetensors"
    calls = iter(range(100))

    def interrupt(*_: object) -> None:
        if next(calls) == 9:  # in the middle of the second epoch
            raise StopError

    hook = stopped[0].distance.register_forward_hook(interrupt)
    often = tm.TrainingConfig(**{**vars(config), "checkpoint_seconds": 0.0})
    with pytest.raises(StopError):
        learn_values(stopped, [world] * 2, [split] * 2, config=often, checkpoint=file, **arguments)  # type: ignore[arg-type]
    hook.remove()
    for model in stopped:  # nothing of them may matter
        torch.nn.init.zeros_(model.encoder.dense)  # type: ignore[arg-type]
    learn_values(stopped, [world] * 2, [split] * 2, config=config, checkpoint=file, **arguments)  # type: ignore[arg-type]
    for one, other in zip(undisturbed, stopped, strict=True):
        assert all(torch.equal(value, other.state_dict()[name]) for name, value in one.state_dict().items())
    dearer = World(SMALL, asymmetric=True, seed=5)
    with pytest.raises(RuntimeError, match=r"belongs to another run: where the targets come from differs"):
        learn_values(stopped, [dearer] * 2, [split] * 2, config=config, checkpoint=file, **arguments)  # type: ignore[arg-type]


def test_targets_of_the_exact_distances_are_the_exact_distances() -> None:
    world = World("FourRoom", asymmetric=True)
    split = split_pairs(world, 0.5)
    teacher = temporal_difference(world, split)
    found = teacher.targets(world.distances[tuple(teacher.pairs.unbind(1))])
    torch.testing.assert_close(found, world.distances[tuple(split.train.unbind(1))])


@pytest.mark.parametrize(("by", "column"), [("goal", 1), ("state", 0)])
def test_the_last_cells_are_held_out(by: str, column: int) -> None:
    world = World("FourRoom")
    split = split_pairs(world, 0.75, by=by)  # type: ignore[arg-type]
    assert len(split.train) == 51 * 67
    assert len(split.train) + len(split.test) == 4556
    assert split.train[:, column].max() == 50
    assert split.test[:, column].min() == 51
    assert len(split_pairs(world, 1.0, by=by).test) == 4556  # type: ignore[arg-type]
    for fraction in (0.0, 1.2, 0.001):
        with pytest.raises(ValueError, match="fraction: expected"):
            split_pairs(world, fraction)


def test_validation_goals_are_training_goals() -> None:
    split = split_pairs(World("FourRoom"), 0.5)
    inner = validation_split(split, 0.3)
    assert inner.train[:, 1].max() < inner.test[:, 1].min()
    assert torch.equal(torch.cat([inner.train, inner.test]).unique(dim=0), split.train.unique(dim=0))
    assert len(inner.test[:, 1].unique()) == 10  # of 34
    for part in (0.0, 1.0, 0.001):
        with pytest.raises(ValueError, match="part: expected"):
            validation_split(split, part)


def test_learning_finds_good_values_of_a_small_world() -> None:
    world = World(SMALL)
    split = split_pairs(world, 1.0)
    torch.manual_seed(0)
    model = value_model(world, tm.IntervalQuasimetric(64))
    config = tm.TrainingConfig(
        epochs=250, batch_size=128, learning_rate=1e-3, schedule="constant", calibrate=False, validation_epochs=125
    )
    (history,) = learn_values([model], [world], [split], seeds=[0], config=config, progress="silent")
    score = evaluate_values(world, values_of(model, world).double(), split.test)
    assert score.success > 0.95
    assert history.epochs[-1].watched["test spl"] == pytest.approx(score.spl)
    assert history.epochs[-1].watched["test mse"] == pytest.approx(score.mse, rel=1e-3)
    assert history.epochs[124].watched["train success"] <= 1
    assert "train spl" not in history.epochs[0].watched


def test_errors_name_what_was_expected() -> None:
    world, other = World("FourRoom"), World("Maze")
    models = [value_model(world, tm.Euclidean(8)) for _ in range(2)]
    split = split_pairs(world, 0.5)
    with pytest.raises(ValueError, match=r"worlds: expected one for each of the 2 models, got 1"):
        learn_values(models, [world], [split] * 2, seeds=[0, 1])
    with pytest.raises(ValueError, match=r"worlds: expected one map for all, got several"):
        learn_values(models, [world, other], [split] * 2, seeds=[0, 1])
    with pytest.raises(TypeError, match=r"models: expected a GridEncoder in each, got Linear"):
        learn_values([tm.Siamese(torch.nn.Linear(2, 8), tm.Euclidean(8))], [world], [split], seeds=[0])
    with pytest.raises(ValueError, match=r"x: expected observations of shape \(..., 3, 11, 11\), got \(2, 3, 5, 7\)"):
        models[0].encoder(torch.zeros(2, 3, 5, 7))
    with pytest.raises(ValueError, match=r"height: expected at least 5, as two 3 x 3 convolutions take 4, got 4"):
        GridEncoder(4, 9)
    with pytest.raises(ValueError, match=r"values: expected the last axes \(68, 68\), got shape \(3, 3\)"):
        greedy_actions(world, torch.zeros(3, 3))
    with pytest.raises(ValueError, match=r"goal_value: expected one of 'zero', 'learned', got 'one'"):
        greedy_actions(world, torch.zeros(68, 68), goal_value="one")  # type: ignore[arg-type]
