"""Learn values by temporal differences in a world whose moves are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from trimetric._support.progress import Shown
from trimetric.distances import Distance
from trimetric.distances.all_pairs import all_pairs
from trimetric.distances.siamese import Siamese
from trimetric.norms import Norm
from trimetric.rl.learning.encoder import GridEncoder, StateEncoder
from trimetric.rl.learning.splits import Split, ends_of_keys
from trimetric.rl.learning.temporal_difference import POLYAK, temporal_difference
from trimetric.rl.learning.windows import Windows
from trimetric.rl.planning.in_world import follow, greedy_actions, score
from trimetric.rl.worlds.world import World
from trimetric.training.config import History, TrainingConfig
from trimetric.training.fitting import fit, fit_many
from trimetric.training.teachers import Probe


def paper_config(*, epochs: int = 1000, measured_every: int = 200, seed: int = 0) -> TrainingConfig:
    """Make the paper's settings: Adam at a constant 1e-4 on batches of 128 pairs.

    Args:
        epochs: passes over the pairs.
        measured_every: epochs between two measurements of success, SPL and MSE.
        seed: seed of the order of the pairs.

    Returns:
        Settings for `learn_values`.

    Examples:
        >>> paper_config(epochs=3).batch_size
        128
    """
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
    """Make a network of values, V(s, g) = -model(s, g): the paper's encoder followed by a head.

    Args:
        world: the world whose observations it reads.
        head: a norm or distance between embeddings; its `dim` is that of the embedding.

    Returns:
        The untrained network.

    Examples:
        >>> from trimetric import IntervalQuasimetric
        >>> world = World("FourRoom")
        >>> value_model(world, IntervalQuasimetric(8))(world.observations[:2], world.observations[2:4]).shape
        torch.Size([2])
    """
    dim = head.dim
    return Siamese(GridEncoder(*world.grid.shape, dim=dim), head)


@torch.no_grad()
def values_of(model: Siamese, world: World) -> Float[Tensor, "n n"]:
    """Compute the learned values V(s, g) of all states and goals.

    Args:
        model: a network as `value_model` makes it; it is set to evaluation mode.
        world: the world whose observations it reads.

    Returns:
        Values (n, n), states along the first axis.

    Examples:
        >>> from trimetric import Euclidean
        >>> world = World("FourRoom")
        >>> values_of(value_model(world, Euclidean(4)), world).shape
        torch.Size([68, 68])
    """
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
    $\bar d$ is the target network, updated by $\bar\theta \leftarrow .95\,\bar\theta + .05\,\theta$ once per epoch, and
    nothing is discounted.  All targets are computed when the target network changes, for all pairs at once.  In each
    step every state of the world is embedded once, by distinct windows.

    Every `config.validation_epochs` epochs `Epoch.watched` records success, SPL and MSE on the training and the test
    pairs ("test spl", ...; names that end in " learned" take V(g, g) from the network).

    Args:
        models: networks with the same architecture, as `value_model` makes them; trained in place.
        worlds: worlds with the same map, one for each model; their costs may differ.
        splits: pairs for each model, the same number for all.
        seeds: seeds of the order of the pairs, one for each model.
        config: settings; `paper_config()` by default.
        polyak: share of the target network that is kept in each epoch.
        measure: whether to record success, SPL and MSE.
        checkpoint: a file that holds the state of the run; an interrupted run resumes from it.
        progress: "silent" prints nothing.

    Returns:
        The history of each model.

    Examples:
        >>> from trimetric import Euclidean
        >>> world = World("#####\n#   #\n#####\n#####\n#####")
        >>> model, split = value_model(world, Euclidean(4)), Split(world.pairs(), world.pairs())
        >>> (history,) = learn_values(
        ...     [model], [world], [split], seeds=[0], config=paper_config(epochs=2), progress="silent"
        ... )
        >>> len(history.epochs), values_of(model, world).shape
        (2, torch.Size([3, 3]))
    """
    config = config or paper_config()
    _check(models, worlds, splits)
    observations = worlds[0].observations.to(next(models[0].parameters()).dtype)
    windows = Windows(observations)
    by_number = [Siamese(StateEncoder(_grid_encoder(model), windows), model.distance) for model in models]
    pairs = [split.train for split in splits]
    targets = [observations.new_zeros(len(own)) for own in pairs]
    teachers = [temporal_difference(*pair, polyak=polyak) for pair in zip(worlds, splits, strict=True)]
    probes = [_probe(*pair) for pair in zip(worlds, splits, strict=True)] if measure else []
    shared: dict[str, Any] = {
        "objects": torch.arange(worlds[0].num_states),
        "checkpoint": checkpoint,
        "progress": progress,
    }
    if len(models) == 1:  # without the overhead of several
        one: dict[str, Any] = {"teacher": teachers[0], "probe": probes[0] if probes else None}
        histories = [fit(by_number[0], pairs[0], targets[0], config=replace(config, seed=seeds[0]), **one, **shared)]
    else:
        several: dict[str, Any] = {"teachers": teachers, "probes": probes, "config": config}
        histories = fit_many(by_number, pairs, targets, seeds=seeds, **several, **shared)
    for model in models:
        model.eval()
    return histories


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

    return Probe(pairs=ends_of_keys(torch.arange(n * n), n), measure=measure)


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
