"""From logged transitions to a model of how far goals are: hold out goals, build, train."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

import trimetric
from trimetric._support.progress import Shown
from trimetric.models.encoders import MLP
from trimetric.models.heads import HeadName
from trimetric.models.model import Model
from trimetric.models.networks import make_network
from trimetric.rl.learning.from_transitions import Method, learn_from_transitions
from trimetric.rl.learning.splits import hold_out_goals
from trimetric.rl.transitions.known_moves import KnownMoves
from trimetric.rl.transitions.log import Transitions
from trimetric.training.config import History, TrainingConfig
from trimetric.training.recipes import Log, announce, say_nothing


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnedGoals:
    """What `learn_goal_distance` returns.

    Attributes:
        model: the trained network; it reads observations, and `model.notes` has the settings.
        moves: the states and moves of the log.
        history: the epochs of the training.
        held_out: the states that were never goals in training, by number.

    Examples:
        >>> import numpy as np
        >>> line = np.arange(5.0)[:, None]
        >>> log = Transitions(observations=line[:-1], next_observations=line[1:], costs=np.ones(4))
        >>> learned = learn_goal_distance(log, dim=4, widths=(8,), pairs=20, epochs=1, progress="silent")
        >>> len(learned.history.epochs), learned.model.notes["states"]
        (1, 5)
    """

    model: Model
    moves: KnownMoves
    history: History
    held_out: Tensor


def learn_goal_distance(
    transitions: Transitions,
    *,
    method: Method = "constrained",
    head: HeadName = "recommended",
    dim: int = 64,
    widths: Sequence[int] = (256, 256),
    waves: int = 4,
    concave_units: int = 0,
    held_out: float = 0.1,
    epochs: int = 40,
    pairs: int | None = None,
    horizon: float | None = None,
    batch_size: int = 1024,
    learning_rate: float = 1e-3,
    seed: int = 0,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
    log: Log | None = None,
) -> LearnedGoals:
    """Learn how far each goal is from each state, from logged transitions alone, in one call.

    For a custom network, use `learn_from_transitions` instead.

    Args:
        transitions: the log, with observations that are rows of numbers.
        method: "constrained" or "td", see `learn_from_transitions`.
        head: the distance between points, see `trimetric.models.HEADS`.
        dim: dimensions of the points.
        widths: hidden layers of the encoder of observations.
        waves: frequencies per coordinate that the encoder reads as well; more of them distinguish closer places.
        concave_units: learned concave units per component of the head; 0 for none.
        held_out: share of the states that are never goals in training, from 0 to below 1.
        epochs: passes over the pairs.
        pairs: random pairs of a state and a goal; by default four for each move, at least 20,000.
        horizon: largest cost of a path to constrain; by default a third of the longest.
        batch_size: pairs per step.
        learning_rate: of Adam.
        seed: of everything random.
        checkpoint: a file for the state of the run; if it exists, the run resumes from it.  Remove it once the model is
            saved.
        progress: "silent" shows no progress bar.
        log: called with a line of text before each stage.

    Returns:
        The model, the moves of the log and the epochs.

    Raises:
        ValueError: if an argument is unusable; the message names it.
        RuntimeError: if the training diverges.

    Examples:
        >>> import numpy as np
        >>> line = np.arange(5.0)[:, None]
        >>> log = Transitions(observations=line[:-1], next_observations=line[1:], costs=np.ones(4))
        >>> learned = learn_goal_distance(log, dim=4, widths=(8,), pairs=20, epochs=1, progress="silent")
        >>> learned.moves.num_states, learned.model.axioms.triangle
        (5, True)
    """
    say = log or say_nothing
    config = TrainingConfig(epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, seed=seed)
    moves = KnownMoves(transitions)
    if not 0 <= held_out < 1:
        raise ValueError(f"held_out: expected a share from 0 to below 1, got {held_out!r}")
    goals, held = hold_out_goals(moves, held_out, seed=seed)
    if moves.states.ndim != 2:
        raise ValueError(
            f"observations: expected rows of numbers, shape (n, features), got shape (n, "
            f"{', '.join(map(str, moves.states.shape[1:]))}); flatten them"
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = make_network(
            head, features=moves.states.shape[1], dim=dim, widths=widths, waves=waves, concave_units=concave_units
        )
        if isinstance(network.encoder, MLP):
            network.encoder.standardize.measure(moves.states)
        say(
            f"{len(transitions):,} transitions: {moves.num_states:,} states, {len(moves.edges):,} moves, "
            f"{len(held):,} states are no goals in training"
        )
        announce(say, network, head, checkpoint)
        history = learn_from_transitions(
            network,
            moves,
            method=method,
            goals=goals,
            pairs=pairs,
            horizon=horizon,
            config=config,
            checkpoint=checkpoint,
            progress=progress,
        )
    notes = {
        "made_by": f"trimetric {trimetric.__version__}",
        "settings": {
            "method": method,
            "head": head,
            "dim": dim,
            "widths": list(widths),
            "waves": waves,
            "concave_units": concave_units,
            "held_out": held_out,
            "pairs": pairs,
            "horizon": horizon,
            **asdict(config),
        },
        "transitions": len(transitions),
        "states": moves.num_states,
        "moves": len(moves.edges),
        "moves_digest": moves.digest(),
        "epochs": len(history.epochs),
    }
    return LearnedGoals(model=Model(network.eval(), notes=notes), moves=moves, history=history, held_out=held)
