"""From pairs and their distances to a model: hold out, build, train, measure, audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

import trimetric
from trimetric._audit import Audit
from trimetric._support.pair_splits import PairSplit, hold_out
from trimetric._support.progress import Shown
from trimetric.kernels.equal_rows import first_equal_row
from trimetric.models.encoders import MLP
from trimetric.models.heads import HeadName
from trimetric.models.model import Model
from trimetric.models.networks import make_network
from trimetric.training.config import History, TrainingConfig
from trimetric.training.fitting import fit
from trimetric.training.losses import LossName
from trimetric.training.named_pairs import checked_lengths, feature_rows, numbered_pairs
from trimetric.training.pair_errors import PairErrors
from trimetric.training.recipes import Log, announce, audit_some, say_nothing
from trimetric.training.schedules import ScheduleName


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnedPairs:
    """What `learn_pairs` returns.

    Attributes:
        model: the trained network with its objects; `model.notes` has the settings and the errors.
        history: the epochs of the training.
        split: the rows of the pairs that were trained on and held out.
        errors: of the predictions, on the pairs that were held out or, if there are none, on the training pairs.
        errors_on: the pairs on which `errors` are measured: "held-out pairs" or "training pairs".
        audit: whether the model keeps its promises, measured on up to 300 objects.

    Examples:
        >>> learned = learn_pairs([(0, 1), (1, 2), (2, 0)], [1.0, 2.0, 2.5], dim=4, epochs=1, progress="silent")
        >>> learned.errors_on, len(learned.split.train), len(learned.history.epochs)
        ('held-out pairs', 2, 1)
    """

    model: Model
    history: History
    split: PairSplit
    errors: PairErrors
    errors_on: str
    audit: Audit


def learn_pairs(
    pairs: ArrayLike | Tensor | Sequence[tuple[str, str]],
    distances: ArrayLike | Tensor,
    *,
    names: Sequence[str] | None = None,
    features: ArrayLike | Tensor | None = None,
    head: HeadName = "wide",
    symmetric: bool = False,
    dim: int = 64,
    widths: Sequence[int] = (128, 128),
    concave_units: int = 5,
    validation: float = 0.1,
    epochs: int = 100,
    batch_size: int = 256,
    learning_rate: float = 1e-2,
    weight_decay: float = 0.0,
    schedule: ScheduleName = "cosine",
    loss: LossName = "squared",
    gamma: float = 0.9,
    patience: int | None = None,
    seed: int = 0,
    device: str | torch.device = "cpu",
    unit: str | None = None,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
    log: Log | None = None,
) -> LearnedPairs:
    """Learn a distance from pairs of objects: hold out, build, train, measure and audit in one call.

    For a custom network, split or loss, use `fit` instead.

    Args:
        pairs: `(n, 2)`, the two objects of each pair, from and to: either their names or their numbers.
        distances: the n distances >= 0; infinite ones (no path) need the loss "discounted" or "upper_bound".
        names: of the objects; by default those in `pairs`, in order of appearance, or "0", "1", ... for numbers.
        features: `(objects, features)`, read by an encoder; by default each object gets its own learned point instead.
        head: the distance between points, see `trimetric.models.HEADS`.
        symmetric: whether d(x, y) = d(y, x).
        dim: dimensions of the points.
        widths: hidden layers of the encoder of features.
        concave_units: learned concave units per component of the head; 0 for none.
        validation: share of the unordered pairs to hold out, from 0 to below 1; both directions of a pair are held out
            together.
        epochs: passes over the pairs.
        batch_size: pairs per step.
        learning_rate: of Adam, before the schedule.
        weight_decay: decoupled (AdamW); 0 is Adam.
        schedule: of the learning rate.
        loss: of the training, see `TrainingConfig`.
        gamma: of the discounted loss.
        patience: epochs without a better error on the held-out pairs before stopping; None never stops early.
        seed: of the split, the weights and the order of the pairs.
        device: where to train.
        unit: of the distances, such as "minutes"; kept in the notes of the model.
        checkpoint: a file for the state of the run; if it exists, the run resumes from it.  Remove it once the model is
            saved.
        progress: "silent" shows no progress bar.
        log: called with a line of text before each stage.

    Returns:
        The model, its errors and its audit.

    Raises:
        ValueError: if an argument is unusable; the message names it.
        RuntimeError: if the training diverges.

    Examples:
        >>> pairs = [("home", "work"), ("work", "home"), ("work", "gym"), ("home", "gym")]
        >>> learned = learn_pairs(pairs, [20.0, 25.0, 5.0, 22.0], dim=4, epochs=2, unit="minutes", progress="silent")
        >>> learned.model.ids
        ['home', 'work', 'gym']
        >>> learned.audit.holds
        True
    """
    say = log or say_nothing
    config = TrainingConfig(
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        schedule=schedule,
        loss=loss,
        gamma=gamma,
        patience=patience,
        seed=seed,
    )
    objects = None if features is None else feature_rows(features)
    ids, ends = numbered_pairs(pairs, names, None if objects is None else len(objects))
    lengths = checked_lengths(distances, len(ends), loss)
    if not 0 <= validation < 1:
        raise ValueError(f"validation: expected a share from 0 to below 1, got {validation!r}")
    # Objects with the same features are one object to the model.
    same = None if objects is None else first_equal_row(objects).numpy()
    split = hold_out(ends, validation, seed=seed, same_as=same)
    kept, held = split.train, split.held_out
    if patience is not None and not len(held):
        raise ValueError("patience: expected held-out pairs to watch, got none")

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = make_network(
            head,
            objects=len(ids),
            features=None if objects is None else objects.shape[1],
            dim=dim,
            widths=widths,
            symmetric=symmetric,
            concave_units=concave_units,
        )
        if objects is not None and isinstance(network.encoder, MLP):
            network.encoder.standardize.measure(objects)
        network = network.to(device)
        rows = torch.from_numpy(ends).to(device)
        targets = torch.tensor(lengths, dtype=torch.float32, device=device)
        # Unreachable pairs have no squared error to watch.
        watched = held[np.isfinite(lengths[held])]
        held_out = f"{len(held):,} held out ({split.unordered:,} unordered pairs)" if len(held) else "none held out"
        say(f"{len(ids):,} objects, {len(kept):,} pairs to train on, {held_out}")
        announce(say, network, head, checkpoint)
        history = fit(
            network,
            rows[kept],
            targets[kept],
            objects=None if objects is None else objects.to(device),
            validation=(rows[watched], targets[watched]) if len(watched) else None,
            config=config,
            checkpoint=checkpoint,
            progress=progress,
        )

    model = Model(network.eval(), ids, objects)
    judged = watched if len(watched) else kept
    finite = lengths[kept][np.isfinite(lengths[kept])]
    errors = PairErrors.measure(
        model.between_rows(rows[judged]).double().cpu().numpy(),
        lengths[judged],
        mean=float(finite.mean()) if len(finite) else float("nan"),
    )
    errors_on = "held-out pairs" if len(watched) else "training pairs"
    model.notes = {
        "made_by": f"trimetric {trimetric.__version__}",
        "settings": {
            "head": head,
            "symmetric": symmetric,
            "dim": dim,
            "widths": list(widths),
            "concave_units": concave_units,
            "validation": validation,
            **asdict(config),
        },
        "unit": unit,
        "objects": len(ids),
        "training_pairs": len(kept),
        "held_out_pairs": len(held),
        "held_out_unordered_pairs": split.unordered,
        "epochs": len(history.epochs),
        "errors": {"on": errors_on, **errors.to_dict()},
    }
    return LearnedPairs(
        model=model,
        history=history,
        split=split,
        errors=errors,
        errors_on=errors_on,
        audit=audit_some(network.head, model.embed(), seed=seed),
    )
