"""The interface of all objectives by which a distance can be learned from a log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from trimetric.distances import ObjectDistance
from trimetric.rl.trajectories.sampling import LogReader, LogSampler
from trimetric.rl.trajectories.trajectories import Trajectories


class Extras(nn.Module):
    """What an objective trains beside the model, or keeps: a multiplier, an encoder of actions, a target network."""

    def numbers(self) -> dict[str, float]:
        """What to record, by name."""
        return {}


class Batch:
    """The rows of one step, and how the model sees them.

    Each observation is encoded once, all of them in one call, and all distances are computed in one call of the head.

    Args:
        model: what is trained.
        log: the rows of the log.
        rows: what the objective has drawn for this step.
        unit: the mean cost of a step.
    """

    def __init__(self, model: ObjectDistance, log: LogReader, rows: Mapping[str, Tensor], unit: float) -> None:
        self.model, self.log, self.rows, self.unit = model, log, rows, unit

    def embed(self, *names: str) -> Float[Tensor, "n*k dim"]:
        """Encode the observations of some columns of row numbers.

        Args:
            *names: of k columns of n rows each.

        Returns:
            The points of the first column, then those of the second, and so on.
        """
        return self.model.embed(self.log.observations(torch.cat([self.rows[name] for name in names])))

    def distances(
        self, points: Float[Tensor, "m dim"], *pairs: tuple[Int[Tensor, " n"], Int[Tensor, " n"]]
    ) -> Sequence[Float[Tensor, " n"]]:
        """Compute distances between points of a table.

        Args:
            points: the table.
            *pairs: the rows where pairs start, and the rows where they end.

        Returns:
            The distances, a tensor for each of `pairs`.
        """
        start, end = (torch.cat(list(side)).to(points.device) for side in zip(*pairs, strict=True))
        found = self.model.head.between_rows(points, start, end)
        return found.split([len(one) for one, _ in pairs])


class Objective(ABC):
    """How a distance is learned from a log.

    An objective is a frozen set of settings: it draws rows, and turns them into a loss.  Everything that it trains in
    addition to the model is in its `Extras`.

    Examples:
        >>> from trimetric.rl import Constrained, Contrastive
        >>> isinstance(Constrained(), Objective), Contrastive(discount=0.9) == Contrastive(discount=0.9)
        (True, True)
    """

    needs_actions = False
    """whether the log must have actions"""
    least_batch = 1
    """the smallest batch in which there is something to compare"""

    @abstractmethod
    def draw(self, sampler: LogSampler, shape: tuple[int, int]) -> dict[str, Tensor]:
        """Draw the row numbers of all batches of an epoch.

        Args:
            sampler: what draws.
            shape: batches and rows per batch.
        """

    @abstractmethod
    def loss(self, batch: Batch, extras: Extras) -> Tensor:
        """Compute the loss of a batch.

        Args:
            batch: the rows of this step.
            extras: what `extras` has made.
        """

    def extras(self, model: ObjectDistance, log: Trajectories) -> Extras:  # noqa: ARG002
        """Make what is trained or kept beside the model.

        Args:
            model: what will be trained.
            log: what it will be trained on.
        """
        return Extras()


def places(batch: Mapping[str, Tensor], name: str = "here") -> Int[Tensor, " n"]:
    """The places of the first column of a table that `Batch.embed` has made.

    Args:
        batch: the rows of this step.
        name: any of its columns.
    """
    return torch.arange(len(batch[name]))
