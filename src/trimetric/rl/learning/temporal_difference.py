"""Temporal-difference learning of values, with the model of the world at hand."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from trimetric._all_pairs import all_pairs
from trimetric._support.progress import Shown
from trimetric.distances import Distance
from trimetric.distances.siamese import Siamese
from trimetric.norms import Norm
from trimetric.rl.learning.encoder import GridEncoder, StateEncoder
from trimetric.rl.learning.splits import Split
from trimetric.rl.planning.known_moves import KnownMoves
from trimetric.rl.planning.walks import follow, greedy_actions, score
from trimetric.rl.worlds.windows import Windows
from trimetric.rl.worlds.world import World
from trimetric.training.config import History, TrainingConfig
from trimetric.training.loop import fit, fit_many
from trimetric.training.teachers import Probe, Teacher

POLYAK = 0.95


def paper_config(*, epochs: int = 1000, measured_every: int = 200, seed: int = 0) -> TrainingConfig:
    """The paper's settings: Adam at a constant 1e-4 on batches of 128 pairs."""
    return TrainingConfig(
        epochs=epochs,
        batch_size=128,
        learning_rate=1e-4,
        schedule="constant",
        calibrate=False,
        validation_epochs=measured_every,
        seed=seed,
    )


def value_model(world: World, head: Norm | Distance) -> Siamese:
    """V(s, g) = -model(s, g) on observations of a world: the paper's encoder under a head."""
    dim = head.dim
    return Siamese(GridEncoder(*world.grid.shape, dim=dim), head)


@torch.no_grad()
def values_of(model: Siamese, world: World) -> Float[Tensor, "n n"]:
    """The learned values V(s, g) of all states and goals."""
    model.eval()
    return -all_pairs(model, world.observations.to(next(model.parameters()).dtype))


def learn_values(
    models: Sequence[Siamese],
    worlds: Sequence[World],
    splits: Sequence[Split],
    *,
    seeds: Sequence[int],
    config: TrainingConfig | None = None,
    polyak: float = POLYAK,
    measure: bool = True,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> list[History]:
    r"""Train models by temporal differences (appendix F.1), all at once.

    The loss of a pair is $(d(s, g) - y)^2$ with $y = \min_{s'}\, c(s, s') + [s' \ne g]\, \bar d(s', g)$, where
    $\bar d$ is the target network, $\bar\theta \leftarrow .95\,\bar\theta + .05\,\theta$ once an epoch, and nothing is
    discounted.  As it changes once an epoch, so do all targets: they are computed then, for all pairs.  In each step
    every state of the world is embedded once, by distinct windows.

    Every `config.validation_epochs` epochs `History` records, in `Epoch.watched`, success, SPL and MSE on the training
    and the test pairs ("test spl", ...; "... learned" with V(g, g) as the network has it).

    Args:
        models: of one architecture, as `value_model` makes them; trained in place.
        worlds: of one map, one for each model; their costs may differ.
        splits: the pairs for each model, as many for all.
        seeds: of the order of the pairs, one for each model.
        config: by default `paper_config()`.
        polyak: how much of the target network stays in an epoch.
        measure: whether to record success, SPL and MSE.
        checkpoint: a file to keep the state of the run in; called again, it goes on from there.
        progress: "silent" prints nothing.
    """
    config = config or paper_config()
    _check(models, worlds, splits)
    observations = worlds[0].observations.to(next(models[0].parameters()).dtype)
    windows = Windows(observations)
    by_number = [Siamese(StateEncoder(_grid_encoder(model), windows), model.distance) for model in models]
    pairs = [split.train for split in splits]
    targets = [observations.new_zeros(len(own)) for own in pairs]
    bootstrap = [temporal_difference(*pair, polyak=polyak) for pair in zip(worlds, splits, strict=True)]
    probes = [_probe(*pair) for pair in zip(worlds, splits, strict=True)] if measure else []
    shared: dict[str, Any] = {
        "objects": torch.arange(worlds[0].num_states),
        "checkpoint": checkpoint,
        "progress": progress,
    }
    if len(models) == 1:  # without the overhead of several
        one: dict[str, Any] = {"bootstrap": bootstrap[0], "probe": probes[0] if probes else None}
        histories = [fit(by_number[0], pairs[0], targets[0], config=replace(config, seed=seeds[0]), **one, **shared)]
    else:
        several: dict[str, Any] = {"bootstrap": bootstrap, "probes": probes, "config": config}
        histories = fit_many(by_number, pairs, targets, seeds=seeds, **several, **shared)
    for model in models:
        model.eval()
    return histories


def temporal_difference(world: World | KnownMoves, split: Split, *, polyak: float = POLYAK) -> Teacher:
    """The targets of the training pairs from what the target network says of their next states."""
    state, goal = split.train.unbind(1)
    ends, costs = world.next_state[state], world.cost[state]  # pairs, actions
    done, n = ends == goal.unsqueeze(1), world.num_states
    asked = (ends >= 0) & ~done
    keys, answer = torch.unique((ends * n + goal.unsqueeze(1))[asked], return_inverse=True)
    where = torch.zeros_like(ends)
    where[asked] = answer

    def targets(distances: Float[Tensor, " m"]) -> Float[Tensor, " k"]:
        ahead = torch.where(asked, distances[where], 0)
        return (costs.to(distances.dtype) + ahead).amin(dim=1)

    identity = hashlib.sha256(world.cost.numpy().tobytes() + world.next_state.numpy().tobytes()).hexdigest()
    return Teacher(pairs=_ends(keys, n), targets=targets, decay=polyak, identity=identity)


def _probe(world: World, split: Split) -> Probe:
    n = world.num_states

    def measure(distances: Tensor) -> dict[str, float]:
        values, found = -distances.view(n, n), {}
        for convention, suffix in (("zero", ""), ("learned", " learned")):
            walks = follow(world, greedy_actions(world, values, goal_value=convention))  # type: ignore[arg-type]
            for name, pairs in (("train", split.train), ("test", split.test)):
                result = score(world, values, walks, pairs)
                found |= {f"{name} success{suffix}": result.success, f"{name} spl{suffix}": result.spl}
                found[f"{name} mse"] = result.mse
        return found

    return Probe(pairs=_ends(torch.arange(n * n), n), measure=measure)


def _ends(keys: Int[Tensor, " k"], n: int) -> Int[Tensor, "k 2"]:
    return torch.stack([keys // n, keys % n], dim=1)


def _grid_encoder(model: Siamese) -> GridEncoder:
    encoder: Any = model.encoder
    if not isinstance(encoder, GridEncoder):
        raise TypeError(f"models: expected a GridEncoder in each, got {type(encoder).__name__}")
    return encoder


def _check(models: Sequence[Siamese], worlds: Sequence[World], splits: Sequence[Split]) -> None:
    for name, given in (("worlds", worlds), ("splits", splits)):
        if len(given) != len(models):
            raise ValueError(f"{name}: expected one for each of the {len(models)} models, got {len(given)}")
    if any(str(world.grid) != str(worlds[0].grid) for world in worlds):
        raise ValueError("worlds: expected one map for all, got several")
