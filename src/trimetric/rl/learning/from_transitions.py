"""Learn values from logged transitions alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.distances import Distance
from trimetric.distances.siamese import Siamese
from trimetric.rl.learning.move_errors import move_errors
from trimetric.rl.learning.splits import Split
from trimetric.rl.learning.temporal_difference import temporal_difference
from trimetric.rl.planning.known_moves import KnownMoves, objects_of
from trimetric.rl.transitions.log import Transitions
from trimetric.training.config import History, TrainingConfig
from trimetric.training.loop import fit
from trimetric.training.losses import CustomLoss
from trimetric.training.pairs import PairData
from trimetric.training.trainee import calibrate

Method = Literal["constrained", "td"]
CALIBRATION_PAIRS = 2048
REACH_STARTS = 32
PATHS_OF_A_STATE = 16  # so that not each state of a large log is searched from
SOURCES_AT_ONCE = 256
SOFTNESS = 0.1  # of the reach: how gently the push ends


def learn_from_transitions(
    model: Siamese | Distance,
    transitions: Transitions | KnownMoves,
    *,
    method: Method = "constrained",
    goals: Int[Tensor, " g"] | None = None,
    pairs: int | None = None,
    reach: float | None = None,
    horizon: float | None = None,
    penalty: tuple[float, float] = (1.0, 100.0),
    polyak: float = 0.5,
    config: TrainingConfig | None = None,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
) -> History:
    r"""Train V(s, g) = -d(s, g) on logged transitions, with no model of the world.

    `"constrained"` pushes random states and goals apart, subject to the costs that were seen:

    $$\min_\theta\; \mathrm{mean}_{(s, g)}\, \mathrm{softplus}(r - d(s, g))
        \quad\text{subject to}\quad d(s, s') \le c(s, s') \text{ for each move seen,}$$

    by a squared hinge.  The cost of a cheapest path is the largest quasimetric that keeps these constraints, so a head
    with the triangle inequality has it as its optimum; a head without knows nothing of far goals.  A constraint for
    each path of several moves that is no longer than `horizon` follows from those of its moves, and learns faster.

    `"td"` is the temporal-difference learning of `learn_values`, with the minimum over the moves that were seen from
    equal observations; where no state comes twice it values the walk that was logged, and no better one.

    Args:
        model: a `Siamese` of observations, or of an `nn.Embedding` of the states by number; trained in place.
        transitions: the log, or `KnownMoves` of it.
        method: as above.
        goals: the states, by number, that are used as goals; all by default.
        pairs: random pairs of a state and a goal, and as many constraints, drawn once; four for each move by default,
            at least 20,000.
        reach: how far to push apart, about the largest distance; by default the longest of the cheapest paths from 32
            states over the moves that were seen.
        horizon: the largest cost of a path to constrain; by default a third of the reach.  0 is for moves alone.
        penalty: weight of the squared hinge at the start and at the end, in units of the mean cost.  A large one from
            the start would press all states into one point.
        polyak: of "td", how much of the target network stays in an epoch.
        config: by default `transitions_config()`.
        checkpoint: a file to keep the state of the run in; called again, it goes on from there.
        progress: "silent" prints nothing.

    Returns:
        The epochs.  `Epoch.watched` has the mean relative error to the cheapest paths that were seen
        ("distance_error"), their mean and that of the learned distances ("mean_cheapest_path", "mean_distance"), and
        the share of moves that are too long ("moves_too_long").  The loss of "constrained" rises with its penalty, and
        says little by itself.
    """
    checks.one_of("method", method, ("constrained", "td"))
    first, last = (checks.finite_number(f"penalty[{i}]", weight, above=0) for i, weight in enumerate(penalty))
    moves = transitions if isinstance(transitions, KnownMoves) else KnownMoves(transitions)
    config = config or transitions_config()
    drawn = _draw(moves, goals, pairs, config.seed)
    far = checks.finite_number("reach", reach, above=0) if reach is not None else reach_of(moves, seed=config.seed)
    dtype = next((p.dtype for p in model.parameters()), torch.float32)
    objects = objects_of(model, moves)
    if config.calibrate:
        # Random pairs start at about half of the reach; where this is done by the costs, all points are one at first.
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
            bootstrap=temporal_difference(moves, Split(drawn, drawn), polyak=polyak),
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
    """Settings that suit an encoder that is a network; a table of points learns at 1e-2."""
    return TrainingConfig(epochs=epochs, batch_size=1024, learning_rate=learning_rate, seed=seed)


def constrained_loss(reach: float, penalty: tuple[float, float], unit: float) -> CustomLoss:
    r"""$\mathrm{softplus}(r - d)$ where the target is infinite, else $\mathrm{penalty}\,\mathrm{relu}(d - t)^2 / t$.

    All in units of `unit`, so that the settings do not depend on that of the costs; the penalty rises from the first to
    the last, by the same factor in each step.
    """
    beta = unit / (SOFTNESS * reach)

    def loss(predicted: Tensor, targets: Tensor, progress: float) -> Tensor:
        weight = penalty[0] * (penalty[1] / penalty[0]) ** progress
        push = F.softplus((reach - predicted) / unit, beta=beta)
        # Long paths may be off by more; 0 where the target is infinite.
        above = ((predicted - targets) / unit).relu().square() / (targets / unit)
        return torch.where(torch.isinf(targets), push, weight * above)

    return CustomLoss(loss, f"constrained {reach} {penalty} {unit}")


def constraints(
    moves: KnownMoves, horizon: float, count: int, *, seed: int
) -> tuple[Int[Tensor, "n 2"], Float[Tensor, " n"]]:
    """About `count` pairs of states with a bound of their distance: every move, and cheapest paths up to `horizon`."""
    if not horizon >= 0:
        raise ValueError(f"horizon: expected a cost >= 0, got {horizon!r}")
    edges, costs, k = moves.edges, moves.costs, len(moves.edges)
    wanted = count - k if horizon > float(costs.min()) else 0
    if wanted <= 0:
        times = max(1, count // k)
        return edges.repeat(times, 1), costs.repeat(times)
    generator = torch.Generator().manual_seed(seed)
    sources = torch.randperm(moves.num_states, generator=generator)[: -(-wanted // PATHS_OF_A_STATE)]
    each = -(-wanted // len(sources))
    pairs, bounds = [edges], [costs]
    for block in sources.split(SOURCES_AT_ONCE):
        found = moves.distances_from(block, limit=horizon)
        near = found.isfinite() & (found > 0)
        order = torch.rand(found.shape, generator=generator).masked_fill(~near, 2).argsort(dim=1)[:, :each]
        row, place = near.gather(1, order).nonzero().unbind(1)
        ends = order[row, place]
        pairs.append(torch.stack([block[row], ends], dim=1))
        bounds.append(found[row, ends])
    return torch.cat(pairs), torch.cat(bounds)


def reach_of(moves: KnownMoves, *, seed: int = 0) -> float:
    """The longest of the cheapest paths from some states over the moves that were seen."""
    starts = torch.randperm(moves.num_states, generator=torch.Generator().manual_seed(seed))[:REACH_STARTS]
    found = moves.distances_from(starts)
    longest = found[found.isfinite()].max().item()
    return longest if longest > 0 else float(moves.costs.max())


def hold_out_goals(moves: KnownMoves, fraction: float, *, seed: int) -> tuple[Tensor, Tensor]:
    """States that may be goals in training, and about that fraction of them that may not."""
    if not 0 <= fraction < 1:
        raise ValueError(f"fraction: expected a part from 0 to below 1, got {fraction!r}")
    order = torch.randperm(moves.num_states, generator=torch.Generator().manual_seed(seed))
    held = round(fraction * moves.num_states)
    return order[held:].sort().values, order[:held].sort().values


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
