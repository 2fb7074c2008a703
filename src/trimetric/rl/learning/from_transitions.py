"""Learn values from logged transitions alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Int
from torch import Tensor

from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.distances import ObjectDistance
from trimetric.rl.learning.constraints import constrained_loss, constraints, reach_of
from trimetric.rl.learning.move_errors import move_errors
from trimetric.rl.learning.splits import Split
from trimetric.rl.learning.temporal_difference import temporal_difference
from trimetric.rl.transitions.embedding import readable_states
from trimetric.rl.transitions.known_moves import KnownMoves
from trimetric.rl.transitions.log import Transitions
from trimetric.training.config import History, TrainingConfig
from trimetric.training.fitting import fit
from trimetric.training.pairs import PairData
from trimetric.training.trainee import calibrate

Method = Literal["constrained", "td"]
CALIBRATION_PAIRS = 2048
PENALTY = (1.0, 100.0)
POLYAK = 0.5


def learn_from_transitions(
    model: ObjectDistance,
    transitions: Transitions | KnownMoves,
    *,
    method: Method = "constrained",
    goals: Int[Tensor, " g"] | None = None,
    pairs: int | None = None,
    reach: float | None = None,
    horizon: float | None = None,
    penalty: tuple[float, float] = PENALTY,
    polyak: float = POLYAK,
    config: TrainingConfig | None = None,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> History:
    r"""Train V(s, g) = -d(s, g) on logged transitions, without a model of the world.

    `"constrained"` pushes random states and goals apart, subject to the costs that were seen:

    $$\min_\theta\; \mathrm{mean}_{(s, g)}\, \mathrm{softplus}(r - d(s, g))
        \quad\text{subject to}\quad d(s, s') \le c(s, s') \text{ for each move seen,}$$

    with a squared hinge for each constraint.  The cost of a cheapest path is the largest quasimetric that satisfies
    these constraints, so it is the optimum of a head with the triangle inequality; a head without it learns nothing
    about far goals.  Paths of several moves that cost at most `horizon` are constraints too: they follow from the
    constraints of their moves, but speed up learning.

    `"td"` is the temporal-difference learning of `learn_values`, with the minimum over the moves that were seen from
    equal observations; if no state is seen twice, it learns the cost of the logged walk itself, not of a better one.

    Args:
        model: a `Siamese` that reads observations, or one with an `nn.Embedding` of the states by number; trained in
            place.
        transitions: the log, or its `KnownMoves`.
        method: "constrained" or "td".
        goals: states that are used as goals, by number (g,); all by default.
        pairs: number of random pairs of a state and a goal, and of constraints, drawn once; by default four per move,
            at least 20,000.
        reach: how far to push apart, about the largest distance; by default the longest of the cheapest paths from 32
            states over the moves that were seen.  "td" only calibrates the model by it.
        horizon: the largest cost of a path to constrain; by default a third of the reach.  0 constrains moves alone.
        penalty: weight of the squared hinge at the start and at the end, in units of the mean cost.  A large weight at
            the start would collapse all states into one point.
        polyak: share of the target network that "td" keeps in each epoch.
        config: settings; `transitions_config()` by default.
        checkpoint: a file that holds the state of the run; an interrupted run resumes from it.
        progress: "silent" prints nothing.

    Returns:
        The epochs.  `Epoch.watched` has the mean relative error to the cheapest paths that were seen
        ("distance_error"), the means of these and of the learned distances ("mean_cheapest_path", "mean_distance"), and
        the share of moves whose distance is too long ("moves_too_long").  The loss of "constrained" rises with its
        penalty, so it says little by itself.

    Examples:
        >>> import numpy as np
        >>> from trimetric import MLP, Euclidean, Siamese
        >>> line = np.arange(5.0)[:, None]
        >>> log = Transitions(observations=line[:-1], next_observations=line[1:], costs=np.ones(4))
        >>> model = Siamese(MLP(1, 4, widths=(8,)), Euclidean(4))
        >>> history = learn_from_transitions(
        ...     model, log, pairs=50, config=transitions_config(epochs=2), progress="silent"
        ... )
        >>> sorted(history.epochs[-1].watched)
        ['distance_error', 'mean_cheapest_path', 'mean_distance', 'moves_too_long']
    """
    checks.one_of("method", method, ("constrained", "td"))
    first, last = (checks.finite_number(f"penalty[{i}]", weight, above=0) for i, weight in enumerate(penalty))
    unused = {"horizon": (horizon, None), "penalty": ((first, last), PENALTY)} if method == "td" else {}
    for name, (value, usual) in (unused or {"polyak": (polyak, POLYAK)}).items():
        if value != usual:
            raise ValueError(
                f"{name}: expected {usual!r} with method={method!r}, where it has no effect, got {value!r}"
            )
    moves = transitions if isinstance(transitions, KnownMoves) else KnownMoves(transitions)
    config = config or transitions_config()
    drawn = _draw(moves, goals, pairs, config.seed)
    far = checks.finite_number("reach", reach, above=0) if reach is not None else reach_of(moves, seed=config.seed)
    dtype = next((p.dtype for p in model.parameters()), torch.float32)
    objects = readable_states(model, moves)
    if config.calibrate:
        # Random pairs start at about half of the reach; calibrated by the costs, all states would start as one point.
        rows = drawn[:CALIBRATION_PAIRS]
        spread = far * torch.rand(len(rows), generator=torch.Generator().manual_seed(config.seed))
        calibrate(model, PairData(rows, spread.to(dtype), objects), torch.arange(len(rows)))
    config = replace(config, calibrate=False)
    probe = move_errors(moves, seed=config.seed)
    if method == "td":
        drawn = drawn[moves.next_state[drawn[:, 0], 0] >= 0]
        return fit(
            model,
            drawn,
            torch.zeros(len(drawn), dtype=dtype),
            objects=objects,
            teacher=temporal_difference(moves, Split(drawn, drawn), polyak=polyak),
            probe=probe,
            config=config,
            checkpoint=checkpoint,
            progress=progress,
        )
    held, bounds = constraints(moves, far / 3 if horizon is None else horizon, len(drawn), seed=config.seed)
    return fit(
        model,
        torch.cat([held, drawn]),
        torch.cat([bounds.to(dtype), torch.full((len(drawn),), torch.inf, dtype=dtype)]),
        objects=objects,
        loss=constrained_loss(far, (first, last), float(moves.costs.mean())),
        probe=probe,
        config=config,
        checkpoint=checkpoint,
        progress=progress,
    )


def transitions_config(*, epochs: int = 40, learning_rate: float = 1e-3, seed: int = 0) -> TrainingConfig:
    """Make settings that suit a network as encoder; an `nn.Embedding` learns better at a rate of 1e-2.

    Args:
        epochs: passes over the pairs and constraints.
        learning_rate: learning rate of Adam at the start.
        seed: seed of the draws and of the order.

    Returns:
        Settings for `learn_from_transitions`.

    Examples:
        >>> transitions_config(epochs=3).batch_size
        1024
    """
    return TrainingConfig(epochs=epochs, batch_size=1024, learning_rate=learning_rate, seed=seed)


def _draw(moves: KnownMoves, goals: Tensor | None, count: int | None, seed: int) -> Int[Tensor, "n 2"]:
    m = moves.num_states
    allowed = torch.arange(m) if goals is None else goals
    if not len(allowed) or allowed.min() < 0 or allowed.max() >= m:
        raise ValueError(f"goals: expected numbers of states from 0 to {m - 1}, got {tuple(allowed.shape)} of them")
    count = max(4 * len(moves.edges), 20_000) if count is None else checks.positive_int("pairs", count)
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(m, (count,), generator=generator)
    ends = allowed[torch.randint(len(allowed), (count,), generator=generator)]
    drawn = torch.stack([starts, ends], dim=1)[starts != ends]
    if not len(drawn):
        raise ValueError("goals: expected one that is not the only state, got none")
    return drawn
