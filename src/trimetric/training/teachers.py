"""Targets that come from the model itself, and measurements during a training run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from trimetric._support import checks


@dataclass(frozen=True, kw_only=True)
class Teacher:
    """New targets at the start of each epoch, made of the predictions of a *teacher*: an average of the model.

    The teacher starts as a copy of the model; after each epoch it becomes `decay` of itself and the rest of the model.
    """

    pairs: Int[Tensor, "m 2"]
    """what the teacher is asked"""
    targets: Callable[[Float[Tensor, " m"]], Float[Tensor, " n"]]
    """from its m answers to the n targets of the training pairs"""
    decay: float = 0.95
    identity: str = ""
    """of what `targets` depends on: a checkpoint is refused where it differs"""

    def __post_init__(self) -> None:
        checks.finite_number("decay", self.decay, above=0, below=1)
        if self.pairs.ndim != 2 or self.pairs.shape[1] != 2 or self.pairs.dtype != torch.long:
            raise ValueError(
                f"pairs: expected indices of shape (m, 2) and dtype torch.int64, "
                f"got shape {tuple(self.pairs.shape)} and dtype {self.pairs.dtype}"
            )

    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"{self.decay} {self.identity}".encode())
        digest.update(self.pairs.numpy().tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, kw_only=True)
class Probe:
    """Numbers of one's own, recorded in `Epoch.watched` whenever validation is due."""

    pairs: Int[Tensor, "m 2"]
    """what the model is asked"""
    measure: Callable[[Float[Tensor, " m"]], Mapping[str, float]]
    """from its m answers to named numbers"""
    text: Callable[[Mapping[str, float]], str] | None = None
    """the numbers in words, shown in place of a loss that says little by itself"""
