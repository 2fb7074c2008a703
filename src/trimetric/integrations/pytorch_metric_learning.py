"""A distance for the losses and miners of pytorch-metric-learning."""

from __future__ import annotations

import torch
from torch import Tensor

from trimetric._support import checks
from trimetric._support.optional import needing
from trimetric.distances import Distance, as_distance
from trimetric.distances.all_pairs import all_pairs
from trimetric.norms import Norm
from trimetric.search import Index

with needing("trimetric.integrations.pytorch_metric_learning", "metric-learning"):
    from pytorch_metric_learning.distances import BaseDistance


class TriangleDistance(BaseDistance):
    r"""Measure embeddings by a head, in any loss or miner that takes `distance=`.

    The promises of the head still hold: embeddings are not normalized, which is up to your encoder, and the distance
    is not raised to a power, because that may break the triangle inequality ($d^2$ does).

    Entry (i, j) of the matrix is $d(\mathrm{query}_i, \mathrm{reference}_j)$.  Losses and miners make the anchor the
    query, so an asymmetric head is trained in the direction from anchor to positive and negative.

    It is a distance, not a similarity (`is_inverted=False`): losses that exponentiate similarities (NT-Xent,
    Multi-Similarity) use the negative or the margin of it, and their constants (`temperature`, `base`,
    `margin`, `beta`) are in units of distance.

    Under `torch.autocast` the encoder computes in half precision, the head in the precision of its parameters.

    The head is a sub-module of this distance, which is a sub-module of the loss: optimize `loss.parameters()`, and move
    the loss by `.to(device)`.

    Args:
        distance: the head, a distance or a norm.
        max_memory: as for `all_pairs`: bytes, or text such as "256MiB".

    Examples:
        >>> import trimetric as tm
        >>> TriangleDistance(tm.Euclidean(2))(torch.tensor([[0.0, 0.0], [3.0, 4.0]]))
        tensor([[0., 5.],
                [5., 0.]])
    """

    def __init__(self, distance: Norm | Distance, *, max_memory: int | str = "256MiB") -> None:
        super().__init__(normalize_embeddings=False, power=1, is_inverted=False)
        checks.byte_count("max_memory", max_memory)
        self.distance = as_distance("distance", distance)
        self.max_memory = max_memory

    def compute_mat(self, query_emb: Tensor, ref_emb: Tensor | None) -> Tensor:
        """The distances of all pairs, `(n, m)`; `all_pairs` bounds the memory.

        Args:
            query_emb: embeddings `(n, dim)` to measure from.
            ref_emb: embeddings `(m, dim)` to measure to; None for those of `query_emb`.
        """
        return all_pairs(self.distance, query_emb, ref_emb, max_memory=self.max_memory)

    def pairwise_distance(self, query_emb: Tensor, ref_emb: Tensor) -> Tensor:
        """The distance of each query to the reference of the same row, `(n,)`.

        Args:
            query_emb: embeddings `(n, dim)` to measure from.
            ref_emb: embeddings `(n, dim)` to measure to.
        """
        with torch.autocast(query_emb.device.type, enabled=False):
            return self.distance(self._in_dtype_of_head(query_emb), self._in_dtype_of_head(ref_emb))

    def _in_dtype_of_head(self, embeddings: Tensor) -> Tensor:
        # An encoder under autocast emits half precision, in which miners could not tell near distances apart.
        return embeddings.to(next((p.dtype for p in self.distance.parameters()), embeddings.dtype))


class TriangleKnn:
    """Exact nearest neighbors by a head, as `knn_func` of an `InferenceModel` or `AccuracyCalculator`.

    Args:
        distance: the head, a distance or a norm, or the `TriangleDistance` of the loss.

    Examples:
        >>> import trimetric as tm
        >>> knn = TriangleKnn(tm.Euclidean(1))
        >>> knn(torch.tensor([[0.9]]), 2, torch.tensor([[0.0], [1.0], [5.0]]))
        (tensor([[0.1000, 0.9000]]), tensor([[1, 0]]))
    """

    def __init__(self, distance: Norm | Distance | TriangleDistance) -> None:
        inner = distance.distance if isinstance(distance, TriangleDistance) else distance
        self.distance = as_distance("distance", inner)
        self.index: Index | None = None

    def __call__(
        self, query: Tensor, k: int, reference: Tensor | None = None, ref_includes_query: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Find the k nearest references of each query.

        Args:
            query: embeddings `(n, dim)` to measure from.
            k: the number of neighbors.
            reference: embeddings `(m, dim)` to search among; None for those given to `train` and `add`.
            ref_includes_query: whether the references begin with the queries, each of which is then left out of its own
                neighbors.

        Returns:
            The distances `(n, k)`, and the rows of the references.
        """
        if reference is not None:
            index = Index(self.distance, reference.detach().cpu())
        elif self.index is not None:
            index = self.index
        else:
            raise ValueError("reference: expected embeddings, or a call of train before, got None")
        found = index.nearest(query.detach().cpu(), k + 1 if ref_includes_query else k)
        distances, rows = found.distances, found.rows
        if ref_includes_query:
            own = rows == torch.arange(len(rows))[:, None]
            own[:, -1] |= ~own.any(dim=1)  # more than k others at distance 0: the last of them goes instead
            distances, rows = (values[~own].view(len(rows), -1) for values in (distances, rows))
        return distances.to(query.device), rows.to(query.device)

    def train(self, embeddings: Tensor) -> None:
        """Search among these embeddings from now on.

        Args:
            embeddings: `(n, dim)`.
        """
        self.index = Index(self.distance, embeddings.detach().cpu())

    def add(self, embeddings: Tensor) -> None:
        """Search among these embeddings too.

        Args:
            embeddings: `(n, dim)`.
        """
        if self.index is None:
            self.train(embeddings)
        else:
            self.index.insert(embeddings.detach().cpu())

    def reset(self) -> None:
        """Forget all embeddings."""
        self.index = None

    def save(self, filename: str) -> None:
        """Write the index to a file.

        Args:
            filename: the file.
        """
        if self.index is None:
            raise ValueError("filename: expected an index to save, but train was not called")
        self.index.save(filename)

    def load(self, filename: str) -> None:
        """Read the index from a file.

        Args:
            filename: the file.
        """
        self.index = Index.load(filename)
