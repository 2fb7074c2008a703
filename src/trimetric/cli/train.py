"""What `trimetric fit` does once its files are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

import trimetric
from trimetric._audit.measure import Audit, audit
from trimetric._support.pair_splits import PairSplit, hold_out
from trimetric._support.tensor_files import CheckpointError, remove_checkpoint
from trimetric.cli.accuracy import errors, shown, table
from trimetric.cli.network import make_network
from trimetric.cli.process import stopped
from trimetric.distances.siamese import Siamese
from trimetric.files.errors import InputError
from trimetric.files.features import FeatureTable
from trimetric.files.pairs import PairTable
from trimetric.kernels.equal_rows import first_equal_row
from trimetric.models.encoders import MLP
from trimetric.models.model import Model
from trimetric.training.config import History, TrainingConfig
from trimetric.training.loop import fit
from trimetric.training.processes import started_together

if TYPE_CHECKING:
    from trimetric.cli.fit import Fit

AUDITED_OBJECTS = 300
PREDICTED_AT_ONCE = 1 << 16
AVERAGING = ("squared", "absolute", "huber")
"""losses to which an error of a minute is the same on a short and on a long way"""


def train(options: Fit, output: Path, pairs: PairTable, features: FeatureTable | None) -> int:
    processes = started_together()
    if not processes.first:
        options = replace(options, general=replace(options.general, quiet=True, as_json=False))
    general, device = options.general, options.general.torch_device()
    config = config_of(options)
    distances = pairs.distances
    if distances is None or not len(distances):
        raise ValueError("pairs: expected distances, got none")
    if options.loss == "relative" and not distances.all():
        row = int((distances == 0).argmax())
        raise InputError(f"{pairs.where(row)}: expected a distance > 0 for --loss relative, got 0")
    objects = None if features is None else torch.tensor(features.values, dtype=torch.float32)
    split = _split(options, pairs, objects)
    kept, held = split.train, split.held_out
    if config.patience is not None and not len(held):
        raise InputError("--patience: expected pairs to hold out, got none; see --validation")

    torch.manual_seed(general.seed)
    network = network_of(options, len(pairs.names), None if features is None else len(features.columns))
    if objects is not None and isinstance(network.encoder, MLP):
        network.encoder.standardize.measure(objects)
    network = network.to(device)
    ends = torch.from_numpy(pairs.ends).to(device)
    targets = torch.tensor(distances, dtype=torch.float32, device=device)
    # Unreachable pairs have no squared error to watch.
    watched = held[np.isfinite(distances[held])]
    held_out = f"{len(held):,} held out ({split.unordered:,} unordered pairs)" if len(held) else "none held out"
    general.say(f"{len(pairs.names):,} objects, {len(kept):,} pairs to train on, {held_out}")
    history = trained(
        options,
        output,
        network,
        (ends[kept], targets[kept]),
        (ends[watched], targets[watched]) if len(watched) else None,
        None if objects is None else objects.to(device),
        config,
    )

    model = Model(network.eval(), pairs.names, objects)
    judged = watched if len(watched) else kept
    predicted = _predictions(model, ends[judged])
    found = errors(predicted, distances[judged], mean=_finite_mean(distances[kept]))
    found_on = "held-out pairs" if len(watched) else "training pairs"
    report = _audit(model, general.seed)
    model.notes = {
        "made_by": f"trimetric {trimetric.__version__}",
        "settings": options.settings(),
        "unit": options.unit_of_distances,
        "objects": len(pairs.names),
        "training_pairs": len(kept),
        "held_out_pairs": len(held),
        "held_out_unordered_pairs": split.unordered,
        "feature_columns": None if features is None else features.columns,
        "epochs": len(history.epochs),
        "errors": {"on": found_on, **found},
    }
    if processes.first:
        saved(model, output)
    weights = sum(parameter.numel() for parameter in network.parameters())
    _tell(options, output, history, model.notes["errors"], report, weights)
    return 1 if report.broken else 0


def _split(options: Fit, pairs: PairTable, objects: Tensor | None) -> PairSplit:
    """Pairs to train on and to hold out; objects with the same features count as one."""
    same = None if objects is None else first_equal_row(objects).numpy()
    return hold_out(pairs.ends, options.validation, seed=options.general.seed, same_as=same)


def trained(
    options: Fit,
    output: Path,
    network: Siamese,
    data: tuple[Tensor, Tensor],
    validation: tuple[Tensor, Tensor] | None,
    objects: Tensor | None,
    config: TrainingConfig,
) -> History:
    """Train the network, or go on where a stopped run left off, by a checkpoint beside the output."""
    general, first = options.general, started_together().first
    weights = sum(parameter.numel() for parameter in network.parameters())
    general.say(f"{options.head} head in {options.dim} dimensions, {weights:,} weights")
    checkpoint = _checkpoint(output)
    if options.restart and first:
        remove_checkpoint(checkpoint)
    elif checkpoint.exists():
        general.say(f"going on from {checkpoint}")
    pairs, targets = data
    try:
        history = fit(
            network,
            pairs,
            targets,
            objects=objects,
            validation=validation,
            config=config,
            checkpoint=checkpoint,
            progress="silent" if general.quiet else "auto",
        )
    except CheckpointError as error:
        raise InputError(f"{error} --restart begins anew.") from None
    except (KeyboardInterrupt, SystemExit) as stop:
        raise stopped(stop, how_to_go_on(checkpoint)) from None
    if not all(bool(value.isfinite().all()) for value in network.state_dict().values()):
        remove_checkpoint(checkpoint)
        raise RuntimeError("the training diverged, and nothing was saved; try a lower --learning-rate")
    return history


def saved(model: Model, output: Path) -> None:
    """Keep the model; its checkpoint is not needed any more."""
    model.save(output)
    remove_checkpoint(_checkpoint(output))


def _checkpoint(output: Path) -> Path:
    return output.with_name(output.name + ".checkpoint")


def config_of(options: Fit) -> TrainingConfig:
    try:
        return TrainingConfig(
            **options.pace(),
            schedule=options.schedule,
            loss=options.loss,
            gamma=options.gamma,
            patience=options.patience,
            seed=options.general.seed,
        )
    except ValueError as error:
        raise about_an_option(error) from None


def network_of(options: Fit, objects: int, features: int | None) -> Siamese:
    """The network that the options ask for, on so many features, or with a point for each of the objects."""
    try:
        return make_network(
            options.head,
            objects=objects,
            features=features,
            dim=options.dim,
            widths=options.widths,
            symmetric=options.symmetric,
            concave=options.concave_units,
        )
    except InputError:
        raise
    except (ValueError, RuntimeError) as error:
        raise about_an_option(error) from None


def about_an_option(error: Exception) -> InputError:
    """`batch_size: expected ...` as `--batch-size: expected ...`."""
    name, _, rest = str(error).partition(":")
    return InputError(f"--{name.replace('_', '-')}:{rest}")


def _predictions(model: Model, ends: Tensor) -> np.ndarray[Any, np.dtype[np.float64]]:
    if not isinstance(model.network, Siamese):
        raise TypeError(f"network: expected a Siamese, got {type(model.network).__name__}")
    points, head = model.embed(), model.network.distance
    with torch.no_grad():
        parts = [head(points[part[:, 0]], points[part[:, 1]]) for part in ends.split(PREDICTED_AT_ONCE)]
    return torch.cat(parts).double().cpu().numpy()


def _finite_mean(distances: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    finite = distances[np.isfinite(distances)]
    return float(finite.mean()) if len(finite) else float("nan")


def _audit(model: Model, seed: int) -> Audit:
    if not isinstance(model.network, Siamese):
        raise TypeError(f"network: expected a Siamese, got {type(model.network).__name__}")
    points = model.embed()
    chosen = torch.randperm(len(points), generator=torch.Generator().manual_seed(seed))[:AUDITED_OBJECTS]
    return audit(model.network.distance, points[chosen.to(points.device)], seed=seed)


def _tell(options: Fit, output: Path, history: History, found: dict[str, Any], report: Audit, weights: int) -> None:
    general = options.general
    if history.stopped_early:
        general.say(f"stopped after {len(history.epochs)} epochs; the best was {(history.best_epoch or 0) + 1}")
    general.say(f"on {found['pairs']:,} {found['on']}{in_unit(options)}:")
    general.say(f"  mean squared error   {found['mse']:.4g} (of predicting the mean: {found['mse_of_mean']:.4g})")
    general.say(f"  mean relative error  {shown(found['mean_relative_error'], '.2%')}")
    for line in table(found):
        general.say(line)
    shortest = next(iter(found["by_distance"]), None)
    if shortest and options.loss in AVERAGING and shortest["mean_relative_error"] > 2 * found["mean_relative_error"]:
        general.say("  the shortest distances are off by far more than the others; --loss relative weighs them more")
    found_in = f"in {report.triples:,} triples of objects"
    general.say(f"triangle_defect {report.triangle_defect:.3g} {found_in}: {report.verdict}")
    general.say(f"saved in {output}")
    general.answer(
        model=str(output),
        weights=weights,
        epochs=len(history.epochs),
        stopped_early=history.stopped_early,
        unit=options.unit_of_distances,
        errors=found,
        audit=report.to_dict(),
    )


def in_unit(options: Fit) -> str:
    """`, in minutes`: the unit of distances where it is known."""
    return "" if options.unit_of_distances is None else f", in {options.unit_of_distances}"


def how_to_go_on(checkpoint: Path) -> str:
    if checkpoint.exists():
        return f"stopped; the same command goes on from {checkpoint}"
    return "stopped before the first checkpoint; nothing was written"
