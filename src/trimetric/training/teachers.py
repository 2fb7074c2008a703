"""Targets that come from the model itself, and measurements during a training run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from trimetric._support import checks
from trimetric._support.moved import renamed


@dataclass(frozen=True, kw_only=True)
class Teacher:
    """New targets at the start of each epoch, computed from the predictions of an average of the model.

    The teacher starts as a copy of the model; after each epoch its weights become `decay` times themselves plus
    `1 - decay` times those of the model.

    Args:
        pairs: the pairs that the teacher predicts: indices `(m, 2)` of dtype torch.int64.
        targets: the function from its m predictions to the n targets of the training pairs.
        decay: the factor by which the teacher's weights are kept in each epoch, between 0 and 1.
        identity: text that names everything that `targets` depends on; a checkpoint with another identity is refused.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> pairs = torch.tensor([[0, 1], [1, 2], [0, 2]])
        >>> teacher = tm.Teacher(pairs=pairs, targets=lambda d: torch.minimum(d[2:], d[:1] + d[1:2]))
        >>> teacher.targets(torch.tensor([1.0, 2.0, 5.0]))
        tensor([3.])
    """

    pairs: Int[Tensor, "m 2"]
    targets: Callable[[Float[Tensor, " m"]], Float[Tensor, " n"]]
    decay: float = 0.95
    identity: str = ""

    def __post_init__(self) -> None:
        checks.finite_number("decay", self.decay, above=0, below=1)
        if self.pairs.ndim != 2 or self.pairs.shape[1] != 2 or self.pairs.dtype != torch.long:
            raise ValueError(
                f"pairs: expected indices of shape (m, 2) and dtype torch.int64, "
                f"got shape {tuple(self.pairs.shape)} and dtype {self.pairs.dtype}"
            )

    def fingerprint(self) -> str:
        """Compute a digest that tells whether a checkpoint belongs to the same teacher."""
        digest = hashlib.sha256(f"{self.decay} {self.identity}".encode())
        digest.update(self.pairs.numpy().tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, kw_only=True)
class Probe:
    """Custom measurements, recorded in `Epoch.watched` whenever validation is due.

    Args:
        pairs: the pairs that the model predicts: indices `(m, 2)`.
        measure: the function from its m predictions to named numbers.
        text: the function from these numbers to a progress line, shown instead of the loss.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> probe = tm.Probe(pairs=torch.tensor([[0, 1]]), measure=lambda d: {"first": float(d[0])})
        >>> probe.measure(torch.tensor([2.5]))
        {'first': 2.5}
    """

    pairs: Int[Tensor, "m 2"]
    measure: Callable[[Float[Tensor, " m"]], Mapping[str, float]]
    text: Callable[[Mapping[str, float]], str] | None = None


__getattr__ = renamed(__name__, {"Bootstrap": "trimetric.Teacher"})
