"""Policies that are a single network: fast, and trained by cloning, by a learned distance, or by a planner."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from trimetric._support import checks
from trimetric.models.encoders import MLP
from trimetric.rl.policies.policy import Policy, frozen
from trimetric.rl.trajectories.sampling import LogReader
from trimetric.rl.trajectories.trajectories import Trajectories


class ActorPolicy(Policy):
    """A network that maps an observation, a goal and their difference to an action.

    Args:
        features: number of features of an observation, or of its point if there is an encoder.
        actions: the size of an action, or the number of actions.
        discrete: whether actions are numbers.
        encoder: reads observations, such as the encoder of a learned distance; it is not trained.  None for
            observations that are vectors.
        widths: hidden layers.
        waves: frequencies per feature that the network reads as well.
        low: the lowest values of an action; None for no limit.
        high: the highest values.
        saturate: whether an action is scaled up until one of its values is at the limit, but at most twice: a clone of
            noisy actions predicts their mean, which is too short.

    Examples:
        >>> policy = ActorPolicy(features=3, actions=2, low=[-1.0, -1.0], high=[1.0, 1.0])
        >>> policy(torch.zeros(5, 3), torch.ones(5, 3)).shape
        torch.Size([5, 2])
        >>> ActorPolicy(features=3, actions=4, discrete=True)(torch.zeros(5, 3), torch.ones(5, 3)).shape
        torch.Size([5])
    """

    low: Tensor | None
    high: Tensor | None

    def __init__(
        self,
        *,
        features: int,
        actions: int,
        discrete: bool = False,
        encoder: nn.Module | None = None,
        widths: Sequence[int] = (256, 256),
        waves: int = 0,
        low: Sequence[float] | None = None,
        high: Sequence[float] | None = None,
        saturate: bool = False,
    ) -> None:
        super().__init__()
        self.discrete, self.saturate = checks.boolean("discrete", discrete), checks.boolean("saturate", saturate)
        self.encoder = None if encoder is None else frozen(encoder)
        self.network = MLP(
            3 * checks.positive_int("features", features),
            checks.positive_int("actions", actions),
            widths=tuple(widths),
            activation="gelu",
            waves=waves,
            layer_norm=True,
        )
        if (low is None) != (high is None) or (discrete and low is not None):
            raise ValueError("low, high: expected both, or none (always for discrete actions)")
        if saturate and low is None:
            raise ValueError("saturate: expected False where no limits are given, got True")
        for name, limit in (("low", low), ("high", high)):
            self.register_buffer(name, None if limit is None else torch.tensor(list(limit), dtype=torch.float32))

    def train(self, mode: bool = True) -> ActorPolicy:
        """Set the mode of the network; its encoder stays in evaluation mode.

        Args:
            mode: True for training.
        """
        super().train(mode)
        if self.encoder is not None:
            self.encoder.eval()
        return self

    def read(self, observations: Tensor) -> Tensor:
        """Compute the features of observations.

        Args:
            observations: what is seen (b, ...).
        """
        if self.encoder is None:
            return observations
        with torch.no_grad():
            return self.encoder(observations)

    def answer(self, seen: Tensor, wanted: Tensor) -> Tensor:
        """Compute what the network says: actions before they are limited, or the logits of their numbers.

        Args:
            seen: features of observations (b, features).
            wanted: features of goals (b, features).
        """
        answer = self.network(torch.cat([seen, wanted, wanted - seen], dim=-1))
        if self.low is None or self.high is None:
            return answer
        return (self.high + self.low) / 2 + answer * (self.high - self.low) / 2

    def limited(self, actions: Tensor) -> Tensor:
        """Clamp actions to their limits.

        Args:
            actions: from `answer`.
        """
        if self.low is None or self.high is None:
            return actions
        if self.saturate:
            middle, half = (self.high + self.low) / 2, (self.high - self.low) / 2
            share = (actions - middle) / half
            longest = share.abs().amax(dim=-1, keepdim=True).clamp(min=0.5)
            actions = middle + half * share / longest
        return torch.minimum(torch.maximum(actions, self.low), self.high)

    def act(self, observations: Tensor, goals: Tensor) -> Tensor:
        answer = self.answer(self.read(observations), self.read(goals))
        return answer.argmax(dim=-1) if self.discrete else self.limited(answer)


class LocalPolicy(ActorPolicy):
    """An actor for near goals, such as the waypoints of a planner; trained by `learn_local_policy`.

    Examples:
        >>> policy = LocalPolicy(features=3, actions=2)
        >>> policy(torch.zeros(5, 3), torch.ones(5, 3)).shape
        torch.Size([5, 2])
    """


def actor_for(
    kind: type[ActorPolicy],
    log: Trajectories,
    *,
    encoder: nn.Module | None,
    widths: Sequence[int],
    waves: int,
    saturate: bool,
    seed: int,
) -> ActorPolicy:
    """Build an untrained actor for the observations and actions of a log.

    Args:
        kind: its class.
        log: the log.
        encoder: what reads observations; None to read them as they are.
        widths: hidden layers.
        waves: frequencies per feature.
        saturate: as in `ActorPolicy`; without an effect where the range of the actions is not known.
        seed: of its weights.
    """
    if log.actions is None:
        raise ValueError("trajectories: expected a log with actions, got one without")
    if encoder is None and log.observations.ndim != 2:
        raise ValueError(
            f"trajectories: expected observations that are vectors, got shape {log.observations.shape}; "
            "reads='points' lets the actor read what the encoder of the model makes of them"
        )
    discrete = log.actions.ndim == 1
    low, high = (None, None) if log.action_range is None else (own.tolist() for own in log.action_range)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(checks.seed("seed", seed))
        if encoder is None:
            features = log.observations.shape[1]
        else:
            like = next(encoder.parameters())
            features = int(encoder(LogReader(log, like).observations(torch.tensor([0, 1]))).shape[-1])
        return kind(
            features=features,
            actions=int(log.num_actions or log.actions.shape[-1]),
            discrete=discrete,
            encoder=encoder,
            widths=tuple(widths),
            **({"waves": waves} if waves else {}),
            low=low,
            high=high,
            saturate=saturate and low is not None,
        )


@torch.no_grad()
def measure_features(actor: ActorPolicy, reader: LogReader, here: Tensor, goals: Tensor) -> None:
    """Standardize what an actor reads by the means and spreads of some rows of a log.

    Args:
        actor: the actor.
        reader: of the log.
        here: rows of states.
        goals: rows of goals.
    """
    seen, wanted = (actor.read(reader.observations(rows)) for rows in (here, goals))
    actor.network.standardize.measure(torch.cat([seen, wanted, wanted - seen], dim=-1))
