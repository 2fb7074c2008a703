"""The paper's convolutional encoder of grid worlds, and a fast way through it for all states of one world."""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from trimetric._support import checks
from trimetric._support.described import Described
from trimetric.rl.learning.state_embedding import StateEmbedding
from trimetric.rl.learning.windows import Windows

PLANES = 3


class GridEncoder(Described):
    """Two 3 x 3 convolutions with relu, then two dense layers with relu between (appendix F.1).

    The feature maps are flattened position by position, which only permutes the inputs of the dense layer.

    Args:
        height: rows of the observed grid, at least 5.
        width: columns of the observed grid, at least 5.
        dim: size of the embedding.
        filters: number of filters of the two convolutions (the paper prints 62 for the second, see deviation D22).
        hidden: width of the first dense layer.

    Examples:
        >>> GridEncoder(7, 9, dim=4)(torch.zeros(2, 3, 7, 9)).shape
        torch.Size([2, 4])
    """

    def __init__(
        self, height: int, width: int, *, dim: int = 64, filters: tuple[int, int] = (32, 64), hidden: int = 128
    ) -> None:
        super().__init__()
        for name, size in (("height", height), ("width", width)):
            if checks.positive_int(name, size) < 5:
                raise ValueError(f"{name}: expected at least 5, as two 3 x 3 convolutions take 4, got {size}")
        first, second = checks.positive_ints("filters", filters)
        self.height, self.width = height, width
        self.positions = (height - 4) * (width - 4)
        self.first = nn.Conv2d(PLANES, first, 3)
        self.second = nn.Conv2d(first, second, 3)
        # Inputs along the first axis: the rows of one position lie together.
        bound = 1 / math.sqrt(self.positions * second)
        self.dense = nn.Parameter(torch.empty(self.positions * second, hidden).uniform_(-bound, bound))
        self.dense_bias = nn.Parameter(torch.empty(hidden).uniform_(-bound, bound))
        self.last = nn.Linear(hidden, dim)

    def forward(self, x: Float[Tensor, "*batch 3 height width"]) -> Float[Tensor, "*batch dim"]:
        """Embed observations.

        Args:
            x: planes of empty cells, walls and the agent (..., 3, height, width).

        Returns:
            Embeddings (..., dim).
        """
        if x.shape[-3:] != (PLANES, self.height, self.width):
            raise ValueError(
                f"x: expected observations of shape (..., {PLANES}, {self.height}, {self.width}), got {tuple(x.shape)}"
            )
        planes = self.second(self.first(x.flatten(0, -4)).relu()).relu()
        flat = planes.flatten(2).transpose(1, 2).flatten(1)
        return self.last((flat @ self.dense + self.dense_bias).relu()).unflatten(0, x.shape[:-3])

    def embed_all(self, windows: Windows) -> Float[Tensor, "n dim"]:
        """Embed the observations that `windows` was made of, computing each distinct window once.

        Args:
            windows: windows of n observations.

        Returns:
            Embeddings (n, dim), those of a forward pass up to rounding.
        """
        parameters = (
            self.first.weight.flatten(1),
            self.first.bias,
            self.second.weight,
            self.second.bias,
            self.dense.unflatten(0, (self.positions, -1)),
            self.dense_bias,
            self.last.weight,
            self.last.bias,
        )
        embedded: Any = StateEmbedding.apply(*(p.unsqueeze(0) for p in parameters), windows)  # type: ignore[union-attr]
        return embedded[0].squeeze(0)


class StateEncoder(nn.Module):
    """The encoder of the states of one world by number: all of them are embedded at once, by distinct windows.

    It has no parameters but those of `encoder`, which is what remains after training.

    Args:
        encoder: the encoder of observations.
        windows: windows of the observations of all states.
    """

    def __init__(self, encoder: GridEncoder, windows: Windows) -> None:
        super().__init__()
        self.encoder, self.windows = encoder, windows

    def forward(self, states: Int[Tensor, " k"]) -> Float[Tensor, "k dim"]:
        """Embed states.

        Args:
            states: numbers of states (k,).

        Returns:
            Embeddings (k, dim).
        """
        embedded: Any = self.encoder.embed_all(self.windows)
        return embedded.index_select(0, states)
