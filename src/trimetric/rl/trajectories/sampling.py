"""Rows of a log at random: steps, states, and states that were seen later in the same episode."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from trimetric.rl.trajectories.trajectories import Trajectories

Shape = tuple[int, ...]


class LogSampler:
    """Draws row numbers of a log, all of them from one generator.

    Args:
        log: the episodes.
        generator: the only source of randomness.

    Examples:
        >>> log = Trajectories(observations=np.zeros((5, 1)), ends=np.array([1, 4]))
        >>> sampler = LogSampler(log, torch.Generator().manual_seed(0))
        >>> here = sampler.steps((4,))
        >>> later = sampler.later(here)
        >>> bool((later > here).all()), bool((later <= sampler.final(here)).all())
        (True, True)
    """

    def __init__(self, log: Trajectories, generator: torch.Generator) -> None:
        self.log, self.generator = log, generator
        self.ends = torch.from_numpy(log.ends)

    def steps(self, shape: Shape) -> Tensor:
        """Rows where a step starts, every step of the log with the same probability."""
        numbers = torch.randint(self.log.num_transitions, shape, generator=self.generator)
        return torch.from_numpy(self.log.rows_of_transitions(numbers.numpy()))

    def states(self, shape: Shape) -> Tensor:
        """Rows, each with the same probability."""
        return torch.randint(len(self.log), shape, generator=self.generator)

    def final(self, rows: Tensor) -> Tensor:
        """The last rows of the episodes of these rows."""
        return self.ends[torch.searchsorted(self.ends, rows)]

    def later(self, rows: Tensor, *, discount: float | None = None, limit: int | None = None) -> Tensor:
        """Later rows of the same episodes.

        Args:
            rows: rows that are not the last of their episodes.
            discount: each further step is less likely by this factor; None for the same probability of all.
            limit: the largest number of steps between them; None for no limit.
        """
        most = self.final(rows) - rows
        if limit is not None:
            most = most.clamp(max=limit)
        u = torch.rand(rows.shape, generator=self.generator, dtype=torch.float64)
        if discount is None:
            offset = (u * most).floor()
        else:  # the inverse of the distribution function, cut off at the end of the episode
            total = 1 - torch.pow(torch.tensor(discount, dtype=torch.float64), most)
            offset = (torch.log1p(-u * total) / math.log(discount)).floor()
        return rows + 1 + torch.minimum(offset.long(), most - 1)

    def mixed(self, rows: Tensor, random: float, *, discount: float | None = None) -> Tensor:
        """Goals: random states with this probability, otherwise later rows."""
        chosen = torch.rand(rows.shape, generator=self.generator) < random
        return torch.where(chosen, self.states(tuple(rows.shape)), self.later(rows, discount=discount))

    def others(self, shape: tuple[int, int]) -> Tensor:
        """For each place in a batch another place, as a random permutation of each batch."""
        return torch.rand(shape, generator=self.generator).argsort(dim=1)


class LogReader:
    """Looks up rows of a log as tensors that networks read.

    Args:
        log: the episodes.
        like: a weight of the network, whose device and dtype are used.

    Examples:
        >>> log = Trajectories(observations=np.array([[1.0], [2.0]]), ends=np.array([1]))
        >>> LogReader(log, torch.zeros(1)).observations(torch.tensor([1, 1])).tolist()
        [[2.0], [2.0]]
    """

    def __init__(self, log: Trajectories, like: Tensor) -> None:
        self.log, self.device = log, like.device
        self.dtype = like.dtype if like.is_floating_point() else torch.float32

    def observations(self, rows: Int[Tensor, " n"]) -> Tensor:
        """What was seen in these rows; numbers of states stay whole numbers."""
        found = torch.from_numpy(np.take(self.log.observations, rows.numpy(), axis=0))
        return found.to(self.device, self.dtype if found.ndim > 1 else torch.long)

    def actions(self, rows: Int[Tensor, " n"]) -> Tensor:
        """What was done in these rows: vectors, or numbers of actions."""
        if self.log.actions is None:
            raise ValueError("trajectories: expected a log with actions, got one without")
        found = torch.from_numpy(np.take(self.log.actions, rows.numpy(), axis=0))
        return found.to(self.device, self.dtype if found.ndim > 1 else torch.long)

    def costs(self, rows: Int[Tensor, " n"]) -> Tensor:
        """The costs of the steps that start in these rows."""
        if self.log.costs is None:
            return torch.ones(rows.shape, dtype=self.dtype, device=self.device)
        return torch.from_numpy(np.take(self.log.costs, rows.numpy())).to(self.device, self.dtype)

    def costs_between(self, start: Int[Tensor, " n"], end: Int[Tensor, " n"]) -> Tensor:
        """What was paid between two rows of one episode."""
        paid = torch.from_numpy(self.log.cost_between(start.numpy(), end.numpy()))
        return paid.to(self.device, self.dtype)


def log_identity(log: Trajectories) -> str:
    """Compute a digest that tells one log from another.

    Args:
        log: the episodes; of its observations and actions, up to some thousand rows are read.
    """
    rows = np.unique(np.linspace(0, len(log) - 1, num=4096).astype(np.int64))
    digest = hashlib.sha256(f"{log.observations.shape} {log.num_actions}".encode())
    digest.update(log.ends.tobytes())
    for array in (log.observations, log.actions, log.costs):
        if array is not None:
            part = np.ascontiguousarray(array if array.ndim == 1 and array is log.costs else array[rows])
            digest.update(f"{part.dtype} {part.shape}".encode())
            digest.update(part.tobytes())
    return digest.hexdigest()
