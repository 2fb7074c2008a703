"""What all policies have in common, and their files."""

from __future__ import annotations

import copy
import hashlib
from abc import ABC, abstractmethod
from pathlib import Path

import torch
from torch import Tensor, nn

from trimetric._support import checks
from trimetric._support.described import Described, build, describe
from trimetric._support.tensor_files import CheckpointError, read_file, write_file
from trimetric.models.files import check_finite, check_fit, fill, skeleton

FORMAT = "trimetric-policy-1"
ROWS_AT_ONCE = 1024


class Policy(Described, ABC):
    """A function from observations and goals to actions, for a batch at once, on the device of its weights.

    It has no memory between calls.  Any other callable with these arguments counts as a policy as well.
    """

    @abstractmethod
    def act(self, observations: Tensor, goals: Tensor) -> Tensor:
        """Choose actions; called without gradients, with tensors on the device of the policy.

        Args:
            observations: what is seen (b, ...).
            goals: what is to be seen (b, ...).

        Returns:
            Actions (b, A), or their numbers (b,).
        """

    @torch.no_grad()
    def forward(self, observations: Tensor, goals: Tensor) -> Tensor:
        """Choose an action for each observation and goal.

        Args:
            observations: what is seen (b, ...).
            goals: what is to be seen (b, ...), of the same shape.

        Returns:
            Actions (b, A), or their numbers (b,), on the device of the observations.
        """
        if observations.shape != goals.shape:
            raise ValueError(
                f"goals: expected the shape of observations, {tuple(observations.shape)}, got {tuple(goals.shape)}"
            )
        like = next((p for p in (*self.parameters(), *self.buffers()) if p.is_floating_point()), observations)
        seen, wanted = (
            own.to(like.device, like.dtype if own.ndim > 1 else torch.long) for own in (observations, goals)
        )
        parts = zip(seen.split(ROWS_AT_ONCE), wanted.split(ROWS_AT_ONCE), strict=True)
        return torch.cat([self.act(*part) for part in parts]).to(observations.device)


def save_policy(policy: Policy, path: Path | str) -> Path:
    """Write a policy, with the networks that it uses, to one file.

    Args:
        policy: the policy.
        path: the file to write or replace.

    Returns:
        The path.

    Examples:
        >>> import tempfile
        >>> from trimetric.rl import ActorPolicy
        >>> policy = ActorPolicy(features=2, actions=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = load_policy(save_policy(policy, f"{folder}/policy.safetensors"))
        >>> here, goal = torch.zeros(1, 2), torch.ones(1, 2)
        >>> bool((policy(here, goal) == again(here, goal)).all())
        True
    """
    checks.instance("policy", policy, Policy, hint="other callables cannot be described in a file")
    file = checks.path("path", path)
    weights = policy.state_dict()
    check_finite(weights)
    write_file(file, weights, {"policy": describe(policy)}, form=FORMAT)
    return file


def load_policy(path: Path | str) -> Policy:
    """Read a policy that `save_policy` has written.  Nothing in the file is executed.

    Args:
        path: the file.

    Returns:
        The policy, ready for use.

    Examples:
        >>> import tempfile
        >>> from trimetric.rl import ActorPolicy
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = save_policy(ActorPolicy(features=2, actions=2), f"{folder}/policy.safetensors")
        ...     type(load_policy(file)).__name__
        'ActorPolicy'
    """
    file = checks.path("path", path)
    weights, state = read_file(file, form=FORMAT, noun="policy")
    try:
        check_fit(skeleton(state.get("policy")), weights)
        policy = build(state["policy"])
        fill(policy, weights)
        check_finite(weights)
    except (ValueError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"{file}: weights and description do not fit: {error}") from None
    if not isinstance(policy, Policy):
        raise CheckpointError(f"{file}: expected a policy in it, got {type(policy).__name__}")
    return policy.eval()


def weights_digest(*modules: nn.Module | None) -> str:
    """Compute a digest of the names, shapes and values of all weights and buffers.

    Args:
        *modules: the modules; None stands for no module.
    """
    digest = hashlib.sha256()
    for module in modules:
        for name, value in ({} if module is None else module.state_dict()).items():
            digest.update(f"{name} {tuple(value.shape)}".encode())
            digest.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def frozen(module: nn.Module) -> nn.Module:
    """Copy a module without gradients, in evaluation mode.

    Args:
        module: any module.
    """
    return copy.deepcopy(module).eval().requires_grad_(False)
