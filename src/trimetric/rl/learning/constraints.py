"""Constraints of a distance by the moves that were seen, and the loss that keeps them."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from trimetric.rl.transitions.known_moves import KnownMoves
from trimetric.training.losses import CustomLoss

REACH_STARTS = 32
PATHS_PER_STATE = 16  # so that not every state of a large log is searched from
SOURCES_AT_ONCE = 256
SOFTNESS = 0.1  # of the reach: how gently the push ends


def constrained_loss(reach: float, penalty: tuple[float, float], unit: float) -> CustomLoss:
    r"""Make the loss $\mathrm{softplus}(r - d)$ of infinite targets and $w\,\mathrm{relu}(d - t)^2 / t$ of others.

    Everything is measured in units of `unit`, so that the settings do not depend on the unit of the costs.

    Args:
        reach: how far pairs with an infinite target are pushed apart, $r$.
        penalty: weight $w$ of the squared hinge in the first and in the last step; it rises by a constant factor.
        unit: a typical cost.

    Returns:
        The loss.

    Examples:
        >>> loss = constrained_loss(10.0, (3.0, 12.0), 2.0)
        >>> loss.of(torch.tensor([1.0, 6.0]), torch.tensor([2.0, 4.0]), 0.0).tolist()  # only the second is too long
        [0.0, 1.5]
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
    """Collect about `count` pairs of states with an upper bound of their distance.

    Args:
        moves: the moves that were seen; each of them is a constraint.
        horizon: the largest cost of a cheapest path that becomes a constraint; 0 for moves alone.
        count: number of constraints.
        seed: seed of the choice among the cheapest paths.

    Returns:
        Pairs of states by number (n, 2), and their bounds (n,).
    """
    if not horizon >= 0:
        raise ValueError(f"horizon: expected a cost >= 0, got {horizon!r}")
    edges, costs, k = moves.edges, moves.costs, len(moves.edges)
    wanted = count - k if horizon > float(costs.min()) else 0
    if wanted <= 0:
        times = max(1, count // k)
        return edges.repeat(times, 1), costs.repeat(times)
    generator = torch.Generator().manual_seed(seed)
    sources = torch.randperm(moves.num_states, generator=generator)[: -(-wanted // PATHS_PER_STATE)]
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
    """Estimate the largest distance: the longest of the cheapest paths from 32 random states over known moves.

    Args:
        moves: the moves that were seen.
        seed: seed of the choice of states.

    Returns:
        The cost of that path.
    """
    starts = torch.randperm(moves.num_states, generator=torch.Generator().manual_seed(seed))[:REACH_STARTS]
    found = moves.distances_from(starts)
    longest = found[found.isfinite()].max().item()
    return longest if longest > 0 else float(moves.costs.max())
