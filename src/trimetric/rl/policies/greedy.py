"""The action with the smallest remaining distance, by the known or predicted results of the actions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from trimetric._support import checks
from trimetric._support.described import Described
from trimetric.distances import ObjectDistance
from trimetric.rl.policies.dynamics import Dynamics
from trimetric.rl.policies.policy import Policy, frozen
from trimetric.rl.trajectories.trajectories import Trajectories
from trimetric.rl.transitions.log import first_merged_row


class LoggedMoves(Described):
    """The results of the actions that were tried in each state, for logs in which the same observations recur.

    If an action led to several states, the one that followed most often is used.

    Args:
        states: the number of distinct observations.
        shape: of an observation.
        actions: the number of actions.

    Examples:
        >>> log = Trajectories(
        ...     observations=np.array([[0.0], [1.0], [0.0]]), ends=np.array([2]), actions=np.array([1, 0, 0])
        ... )
        >>> moves = LoggedMoves.from_log(log)
        >>> following, known = moves(torch.tensor([[0.0]]))
        >>> following[0, 1].tolist(), known.tolist()
        ([1.0], [[False, True]])
    """

    states: Tensor
    following: Tensor

    def __init__(self, *, states: int, shape: Sequence[int], actions: int) -> None:
        super().__init__()
        self.register_buffer("states", torch.zeros(states, *shape))
        self.register_buffer("following", torch.full((states, actions), -1))
        self._places: dict[bytes, int] = {}

    @classmethod
    def from_log(cls, trajectories: Trajectories) -> LoggedMoves:
        """Collect the moves of a log.

        Args:
            trajectories: a log with actions that are numbers.

        Returns:
            The moves.
        """
        log = trajectories
        if log.actions is None or log.num_actions is None:
            raise ValueError("trajectories: expected actions that are numbers, got vectors or none")
        row = first_merged_row(np.asarray(log.observations))
        if row is not None:
            raise ValueError(
                f"trajectories: expected observations that float32 can tell apart, got one in row {row} that becomes "
                "equal to another; give numbers of states instead, or vectors of smaller numbers"
            )
        seen = np.ascontiguousarray(log.observations.reshape(len(log), -1)).astype(np.float32) + 0  # -0 is 0
        distinct, state = np.unique(seen, axis=0, return_inverse=True)
        state = state.ravel()
        rows = log.transition_rows
        keys = (state[rows] * log.num_actions + log.actions[rows]) * len(distinct) + state[rows + 1]
        found, counts = np.unique(keys, return_counts=True)
        order = np.argsort(counts, kind="stable")  # the most frequent is written last
        place, to = np.divmod(found[order], len(distinct))
        shape = log.observations.shape[1:]
        moves = cls(states=len(distinct), shape=shape, actions=log.num_actions)
        moves.states = torch.from_numpy(distinct.reshape(len(distinct), *shape))
        moves.following.view(-1)[torch.from_numpy(place)] = torch.from_numpy(to)
        return moves

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Look up what follows.

        Args:
            observations: what is seen (b, ...), as it was seen in the log.

        Returns:
            What is seen after each action (b, actions, ...), and whether that is known (b, actions).
        """
        if not self._places:
            self._places = {row.tobytes(): place for place, row in enumerate(self.states.cpu().numpy())}
        keys = [row.tobytes() for row in observations.to(self.states.dtype).cpu().numpy() + 0]  # -0 is 0
        missing = next((place for place, key in enumerate(keys) if key not in self._places), None)
        if missing is not None:
            raise ValueError(f"observations: expected what the log has, got another in row {missing}")
        following = self.following[[self._places[key] for key in keys]]
        return self.states[following.clamp(min=0)].to(observations.dtype), following >= 0


class GreedyPolicy(Policy):
    """Takes the action a with the smallest d(f(s, a), g), where f predicts the result of an action.

    It looks one step ahead: it follows the distance, and gets stuck in its local minima.

    Args:
        model: a learned distance.
        leads_to: from `learn_dynamics`, or `LoggedMoves`.
        candidates: the actions to choose from (k, A), for actions that are vectors; None for all numbers of actions.

    Examples:
        >>> from trimetric.rl import goal_model
        >>> log = Trajectories(
        ...     observations=np.array([[0.0], [1.0], [0.0]]), ends=np.array([2]), actions=np.array([1, 0, 0])
        ... )
        >>> policy = GreedyPolicy(model=goal_model(log), leads_to=LoggedMoves.from_log(log))
        >>> policy(torch.tensor([[0.0], [1.0]]), torch.tensor([[1.0], [0.0]])).tolist()
        [1, 0]
    """

    candidates: Tensor | None

    def __init__(
        self,
        *,
        model: ObjectDistance,
        leads_to: nn.Module,
        candidates: Sequence[Sequence[float]] | Tensor | None = None,
    ) -> None:
        super().__init__()
        checks.instance("leads_to", leads_to, Dynamics, LoggedMoves)
        discrete = not isinstance(leads_to, Dynamics) or leads_to.discrete
        if discrete != (candidates is None):
            expected = "None for actions that are numbers" if discrete else "actions to choose from (k, A)"
            raise ValueError(f"candidates: expected {expected}")
        self.model, self.leads_to = frozen(model), frozen(leads_to)
        table = None if candidates is None else torch.as_tensor(candidates, dtype=torch.float32)
        self.register_buffer("candidates", table)

    def act(self, observations: Tensor, goals: Tensor) -> Tensor:
        model, leads_to = self.model, self.leads_to
        assert isinstance(model, ObjectDistance)
        if isinstance(leads_to, LoggedMoves):
            following, known = leads_to(observations)
            points = model.embed(following.flatten(0, 1)).unflatten(0, following.shape[:2])
        else:
            assert isinstance(leads_to, Dynamics)
            count = leads_to.num_actions if self.candidates is None else len(self.candidates)
            actions = torch.arange(count, device=goals.device) if self.candidates is None else self.candidates
            actions = actions.expand(len(observations), *actions.shape)
            latent = leads_to.space == "latent"
            here = model.embed(observations) if latent else observations
            points = leads_to(here.unsqueeze(1).expand(-1, count, *here.shape[1:]), actions)
            if not latent:
                points = model.embed(points.flatten(0, 1)).unflatten(0, points.shape[:2])
            known = torch.ones(points.shape[:2], dtype=torch.bool, device=points.device)
        far = model.head(points, model.embed(goals).unsqueeze(1))
        if not known.any(dim=1).all():
            row = int((~known.any(dim=1)).nonzero()[0])
            raise ValueError(
                f"observations: expected states in which the log knows an action, got one without any in row {row}"
            )
        chosen = torch.where(known, far, torch.inf).argmin(dim=1)
        return chosen if self.candidates is None else self.candidates[chosen]
