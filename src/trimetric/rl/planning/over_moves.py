"""Plan with logged transitions only: walk greedily over the moves that were seen, and score the walks."""

from __future__ import annotations

import torch
from jaxtyping import Int
from torch import Tensor

from trimetric._support import checks
from trimetric.distances import ObjectDistance
from trimetric.rl.planning.outcome import Plan, Score
from trimetric.rl.transitions.embedding import embed_states
from trimetric.rl.transitions.known_moves import KnownMoves


@torch.no_grad()
def plan(
    model: ObjectDistance,
    moves: KnownMoves,
    pairs: Int[Tensor, "k 2"],
    *,
    max_steps: int = 500,
) -> Plan:
    r"""Walk from each state to its goal by $\arg\min_{s'}\, c(s, s') + d(s', g)$ over known moves, with d(g, g) = 0.

    Args:
        model: a distance between observations, or a `Siamese` with an `nn.Embedding` of the states by number.
        moves: the moves that can be taken.
        pairs: states and goals by number (k, 2).
        max_steps: number of steps after which a walk ends without success.

    Returns:
        The k walks with their paths.

    Examples:
        >>> import numpy as np
        >>> from trimetric import NormInduced, Euclidean
        >>> from trimetric.rl import Transitions
        >>> line = np.arange(4.0)[:, None]
        >>> moves = KnownMoves(Transitions(observations=line[:-1], next_observations=line[1:], costs=np.ones(3)))
        >>> walks = plan(NormInduced(Euclidean(1)), moves, torch.tensor([[0, 3], [2, 1]]))
        >>> walks.path(0).tolist(), walks.reached.tolist()
        ([0, 1, 2, 3], [True, False])
    """
    checks.positive_int("max_steps", max_steps)
    whole = pairs.dtype in (torch.int64, torch.int32) and pairs.ndim == 2 and pairs.shape[1] == 2
    if not whole or bool(((pairs < 0) | (pairs >= moves.num_states)).any()):
        got = f"{int(pairs.min())} to {int(pairs.max())}" if whole else f"{pairs.dtype} of shape {tuple(pairs.shape)}"
        raise ValueError(f"pairs: expected numbers of states from 0 to {moves.num_states - 1}, shape (k, 2), got {got}")
    distance, points = embed_states(model, moves)
    state, goal = pairs.unbind(1)
    there, cost = points[goal].unsqueeze(1), torch.zeros(len(pairs), dtype=torch.float64)
    paths, stuck = [state], torch.zeros(len(pairs), dtype=torch.bool)
    for _ in range(max_steps):
        walking = ((state != goal) & ~stuck).nonzero().squeeze(1)
        if not len(walking):
            break
        ahead, price = moves.next_state[state[walking]], moves.cost[state[walking]]
        left = distance(points[ahead.clamp(min=0)], there[walking]).double()
        left = left.masked_fill(ahead == goal[walking].unsqueeze(1), 0)
        best = (price + left).argmin(dim=1, keepdim=True)
        dead = ahead.gather(1, best).squeeze(1) < 0
        stuck[walking[dead]] = True
        walking, ahead, price, best = (part[~dead] for part in (walking, ahead, price, best))
        state = state.index_copy(0, walking, ahead.gather(1, best).squeeze(1))
        cost[walking] += price.gather(1, best).squeeze(1)
        paths.append(state)
    return Plan(state == goal, cost, torch.stack(paths, dim=1))


def judge(moves: KnownMoves, pairs: Int[Tensor, "k 2"], plan: Plan) -> Score:
    """Score walks against the cheapest paths over known moves.

    Args:
        moves: the moves that could be taken.
        pairs: states and goals of the walks, by number (k, 2).
        plan: the walks, as `plan` takes them.

    Returns:
        Means over the pairs whose goal is another state that known moves can reach.

    Examples:
        >>> import numpy as np
        >>> from trimetric.rl import Transitions
        >>> line = np.arange(3.0)[:, None]
        >>> moves = KnownMoves(Transitions(observations=line[:-1], next_observations=line[1:], costs=np.ones(2)))
        >>> walks = Plan(torch.tensor([True, False]), torch.tensor([2.0, 0.0]))
        >>> score = judge(moves, torch.tensor([[0, 2], [1, 2]]), walks)
        >>> score.success, score.spl, score.pairs
        (0.5, 0.5, 2)
    """
    starts, row = pairs[:, 0].unique(return_inverse=True)
    best = moves.distances_from(starts)[row, pairs[:, 1]]
    possible = best.isfinite() & (best > 0)
    if not possible.any():
        raise ValueError("pairs: expected some whose goal known moves can reach, got none")
    return Score(
        success=plan.reached[possible].double().mean().item(),
        spl=plan.spl(best)[possible].mean().item(),
        pairs=int(possible.sum()),
    )


def goal_pairs(moves: KnownMoves, goals: Int[Tensor, " g"], count: int, *, seed: int) -> Int[Tensor, "count 2"]:
    """Draw pairs of a random state and a random goal.

    Args:
        moves: the moves of a log, whose states are the starts.
        goals: states to choose the goals from, by number (g,).
        count: number of pairs.
        seed: seed of the draw.

    Returns:
        States and goals by number (count, 2).

    Examples:
        >>> import numpy as np
        >>> from trimetric.rl import Transitions
        >>> line = np.arange(4.0)[:, None]
        >>> moves = KnownMoves(Transitions(observations=line[:-1], next_observations=line[1:], costs=np.ones(3)))
        >>> pairs = goal_pairs(moves, torch.tensor([3]), 5, seed=0)
        >>> pairs.shape, pairs[:, 1].unique().tolist()
        (torch.Size([5, 2]), [3])
    """
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(moves.num_states, (count,), generator=generator)
    return torch.stack([starts, goals[torch.randint(len(goals), (count,), generator=generator)]], dim=1)
