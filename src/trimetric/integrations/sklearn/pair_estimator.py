"""What the estimators share: a distance learned from pairs of objects and their distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from trimetric._support import checks
from trimetric._support.optional import needing
from trimetric._support.pair_splits import contradiction, hold_out
from trimetric.distances import Calibrated
from trimetric.distances.siamese import Siamese
from trimetric.integrations.sklearn.learned_distance import LearnedDistance, make_encoder
from trimetric.integrations.sklearn.pair_arrays import PairsLike, side_by_side
from trimetric.kernels.equal_rows import first_equal_row
from trimetric.models.heads import HEADS, HeadName, make_head
from trimetric.training.config import History, TrainingConfig
from trimetric.training.fitting import fit
from trimetric.training.losses import LossName

with needing("trimetric.integrations.sklearn", "sklearn"):
    from sklearn.utils import Tags, check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data


CONCAVE_UNITS = 5


class PairEstimator(LearnedDistance):
    """Trains `Siamese(encoder, head)` on pairs; what both estimators share."""

    head: HeadName
    loss: LossName
    model_: Siamese
    history_: History
    n_features_in_: int
    _where_features_are: ClassVar[str] = ", half of the columns of a pair"

    def __init__(
        self,
        *,
        head: HeadName = "wide",
        symmetric: bool = False,
        concave_units: int = CONCAVE_UNITS,
        embedding_dim: int = 16,
        encoder_widths: Sequence[int] = (64, 64),
        epochs: int = 100,
        batch_size: int = 128,
        learning_rate: float = 3e-3,
        weight_decay: float = 0.0,
        loss: LossName = "squared",
        patience: int | None = None,
        validation_fraction: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        device: str = "cpu",
        verbose: bool = False,
    ) -> None:
        """Set the parameters; nothing is checked or computed before `fit`.

        Args:
            head: the name of a head, such as "wide", "deep" or "euclidean"; see `trimetric.models.heads`.
            symmetric: whether d(x, y) = d(y, x) is to hold, for every value of the parameters.
            concave_units: learned concave units on each component of the head's norm; 0 is the norm itself.
                Heads without them ignore the default.
            embedding_dim: size of phi(x).
            encoder_widths: hidden layers of phi; none of them makes phi linear.
            epochs: passes over the pairs.
            batch_size: pairs per step.
            learning_rate: of Adam, decaying along a cosine.
            weight_decay: decoupled (AdamW).
            loss: see `trimetric.training.losses`.
            patience: epochs without a better validation error before stopping; None holds nothing out.
            validation_fraction: part of the unordered pairs that is held out where `patience` is set; a pair, its
                reverse and its repetitions are held out together.
            random_state: of initial weights, order of the pairs and held-out pairs; an int makes `fit` repeatable.
            device: where torch computes.
            verbose: show the progress.
        """
        self.head = head
        self.symmetric = symmetric
        self.concave_units = concave_units
        self.embedding_dim = embedding_dim
        self.encoder_widths = encoder_widths
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.loss = loss
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: PairsLike, y: ArrayLike) -> Any:  # noqa: N803
        """Learn from pairs and their distances.

        Args:
            X: pairs as `(n, 2, d)`, as a tuple of two arrays `(n, d)` (from, to), or as `(n, 2 d)`: the two objects
                side by side, which is what passes through a `Pipeline`.
            y: the n distances, finite and at least 0; with `symmetric=True` the same in both directions of a pair.
        """
        sides, targets = validate_data(self, side_by_side(X), y, dtype=np.float64, y_numeric=True)  # type: ignore
        ends = self._halves(sides)
        objects, indices = np.unique(ends.reshape(-1, ends.shape[2]), axis=0, return_inverse=True)
        self.mean_, spread = ends.mean(axis=(0, 1)), ends.std(axis=(0, 1))
        self.scale_ = np.where(spread > 0, spread, 1.0)
        self._check_options(np.asarray(targets))
        random = check_random_state(self.random_state)
        seed = int(random.randint(2**31 - 1))
        config = TrainingConfig(
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            loss=self.loss,
            patience=self.patience,
            seed=seed,
        )
        pairs = torch.as_tensor(indices.reshape(-1, 2), device=self.device)
        distances = torch.tensor(targets, dtype=torch.float32, device=self.device)
        standardized = self._standardized(objects)
        train, held_out = self._split(indices.reshape(-1, 2), np.asarray(targets), standardized, random)
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(seed)
            self.model_ = Siamese(
                make_encoder(ends.shape[2], self.embedding_dim, self.encoder_widths),
                Calibrated(
                    make_head(self.head, self.embedding_dim, symmetric=self.symmetric, concave_units=self.concave_units)
                ),
            ).to(self.device)
            self.history_ = fit(
                self.model_,
                pairs[train],
                distances[train],
                objects=standardized,
                validation=None if held_out is None else (pairs[held_out], distances[held_out]),
                config=config,
                progress="auto" if self.verbose else "silent",
            )
        return self

    def _check_options(self, targets: NDArray[np.float64]) -> None:
        if (targets < 0).any():
            row = int((targets < 0).argmax())
            raise ValueError(f"y: expected distances >= 0, got {targets[row]:.10g} for pair {row}")
        checks.boolean("symmetric", self.symmetric)
        checks.one_of("head", self.head, HEADS)
        checks.finite_number("validation_fraction", self.validation_fraction, above=0, below=1)
        if not HEADS[self.head].concave and self.concave_units not in (0, CONCAVE_UNITS):
            raise ValueError(
                f"concave_units: expected 0 or the default, {CONCAVE_UNITS}, with head={self.head!r}, which has none, "
                f"got {self.concave_units!r}"
            )

    def _split(
        self, ends: NDArray[np.int64], targets: NDArray[np.float64], objects: Tensor, random: np.random.RandomState
    ) -> tuple[Tensor, Tensor | None]:
        """Which pairs to train on, and which to watch: none of them without `patience`."""
        same_as = first_equal_row(objects).cpu().numpy()
        conflict = contradiction(same_as[ends], targets) if self.symmetric else None
        if conflict is not None:
            after, before = conflict
            raise ValueError(
                "y: expected the same distance in both directions of a pair with symmetric=True, got "
                f"{targets[after]:.10g} for pair {after} and {targets[before]:.10g} for its reverse, pair {before}"
            )
        if self.patience is None:
            return torch.arange(len(ends)), None
        fraction = self.validation_fraction
        # The encoder places any object, so none needs a training pair of its own.
        split = hold_out(ends, fraction, seed=int(random.randint(2**31 - 1)), same_as=same_as, cover=False)
        if not split.unordered:
            raise ValueError(
                f"X: expected at least 2 pairs of different objects with patience={self.patience}, got "
                f"n_samples = {len(ends)}"
            )
        return torch.from_numpy(split.train), torch.from_numpy(split.held_out)

    def _ends(self, X: PairsLike) -> Tensor:  # noqa: N803
        """The standardized objects of pairs, `(n, 2, d)`."""
        check_is_fitted(self)
        sides = validate_data(self, side_by_side(X), dtype=np.float64, reset=False)  # type: ignore
        return self._standardized(self._halves(sides))

    def _halves(self, sides: Any) -> NDArray[np.float64]:
        if sides.shape[1] % 2:
            raise ValueError(
                "X: expected an even number of columns, two objects side by side, "
                f"got n_features={sides.shape[1]} (shape {sides.shape})"
            )
        return sides.reshape(len(sides), 2, -1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags
