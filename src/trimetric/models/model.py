"""A trained distance with everything that is needed to use it, and its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from trimetric._audit.axioms import Axioms
from trimetric._support import checks
from trimetric._support.described import describe
from trimetric._support.tensor_files import CheckpointError, write_file
from trimetric.distances import ObjectDistance
from trimetric.distances.all_pairs import all_pairs
from trimetric.distances.batching import PAIRS_AT_ONCE, in_chunks
from trimetric.distances.encoder_inputs import FeatureVectors, ObjectNumbers, inputs_of
from trimetric.models.encoders import MLP as _MLP  # noqa: F401  (a file may name any class of the package)
from trimetric.models.few_pairs import AT_MOST, FewPairsCache
from trimetric.models.files import FORMAT, PREFIX, PROBED, check_finite, check_same, read_network, skeleton


@dataclass
class Model:
    """A trained distance: a network, the names of its known objects, and notes on its origin.

    Args:
        network: a `Siamese` or a distance between vectors.
        ids: the names of the known objects, one for each row of `features`, or of the encoder's table.
        features: what the encoder reads for each known object; None for an encoder such as `torch.nn.Embedding`,
            which reads the number of the object.
        notes: anything that JSON can represent; saved unchanged.
        places: coordinates of the known objects, used to find the nearest known object of a place; the network does
            not read them.

    Examples:
        >>> import torch
        >>> import trimetric as tm
        >>> points = torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 4.0]])
        >>> model = tm.Model(tm.NormInduced(tm.Euclidean(2)), ["home", "work", "school"], points)
        >>> model.distances(["home", "school"], ["work", "work"])
        tensor([5., 3.])
        >>> model.all_pairs(["home"])
        tensor([[0.]])
        >>> model.all_pairs(["home"], ["work", "school"])
        tensor([[5., 4.]])
    """

    network: ObjectDistance
    ids: Sequence[str] | None = None
    features: Tensor | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    places: Tensor | None = None

    def __post_init__(self) -> None:
        self._few = FewPairsCache()
        if not isinstance(self.network, ObjectDistance):
            raise TypeError(f"network: expected a Siamese or a Distance, got {type(self.network).__name__}")
        if not isinstance(self.notes, dict):
            raise TypeError(f"notes: expected a dictionary, got {type(self.notes).__name__}")
        if self.features is not None:
            self.features = checks.as_tensor("features", self.features, self.network)
        if self.places is not None:
            self.places = checks.as_tensor("places", self.places)
        if self.ids is None:
            if self.features is not None or self.places is not None:
                raise ValueError("ids: expected one for each row of features and places, got None")
            return
        self.ids = checks.names("ids", self.ids)
        self._row_of = {name: row for row, name in enumerate(self.ids)}
        if len(self._row_of) < len(self.ids):
            raise ValueError(f"ids: expected different ones, got {len(self.ids) - len(self._row_of)} repeated")
        self._check_rows("places", self.places, width=2)
        if self.places is not None and self.places.ndim != 2:
            raise ValueError(f"places: expected shape (n, 2), got {tuple(self.places.shape)}")
        reads = inputs_of(self.network.reader)
        self._check_rows("features", self.features, width=reads.width if isinstance(reads, FeatureVectors) else None)
        if self.features is None and isinstance(reads, ObjectNumbers) and reads.count != len(self.ids):
            raise ValueError(
                f"ids: expected {reads.count}, one for each row of the encoder's table, got {len(self.ids)}"
            )
        if self.features is None and isinstance(reads, FeatureVectors):
            raise ValueError(f"features: expected what the network reads for each of the {len(self.ids)} ids, got None")

    def _check_rows(self, name: str, value: Tensor | None, *, width: int | None) -> None:
        if value is None or self.ids is None:
            return
        if value.ndim == 0 or len(value) != len(self.ids):
            got = f"shape {tuple(value.shape)}"
            raise ValueError(f"ids: expected one for each row of {name} ({got}), got {len(self.ids)}")
        if width is not None and (value.ndim < 2 or value.shape[-1] != width):
            raise ValueError(f"{name}: expected {width} columns, got shape {tuple(value.shape)}")

    @property
    def axioms(self) -> Axioms:
        """What the network promises."""
        return self.network.axioms

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        first = checks.first_parameter(self.network)
        return torch.device("cpu") if first is None else first.device

    def objects(self, names: Sequence[str] | Tensor | None = None) -> Tensor:
        """Look up what the network reads for known objects.

        Args:
            names: their names, all of them by default; a tensor or NumPy array is taken as what the network reads.

        Returns:
            The rows, on the device of the network.
        """
        if isinstance(names, (Tensor, np.ndarray)):
            return checks.as_tensor("names", names, self.network).to(self.device)
        if isinstance(names, str):
            raise TypeError(f"names: expected a sequence of names, such as [{names!r}], got the text {names!r}")
        if self.ids is None:
            raise ValueError("names: this model knows no objects by name, so expected a tensor of features")
        if names is None:
            rows = torch.arange(len(self.ids))
        else:
            try:
                rows = torch.tensor([self._row_of[name] for name in names], dtype=torch.int64)
            except KeyError as error:
                raise ValueError(
                    f"names: {error.args[0]!r} is not among the {len(self._row_of)} objects that this model knows"
                ) from None
        return (rows if self.features is None else self.features[rows]).to(self.device)

    def _evaluated(self) -> ObjectDistance:
        """The network in evaluation mode."""
        # To set the mode takes longer than a small distance, so only where it is another.
        return self.network.eval() if checks.any_training(self.network) else self.network

    @torch.no_grad()
    def embed(self, names: Sequence[str] | Tensor | None = None) -> Tensor:
        """Compute the points of objects in the space of the distance, each once.

        Args:
            names: the names of known objects, all of them by default; or a tensor or NumPy array of objects as the
                network reads them.

        Returns:
            The points `(n, dim)`.
        """
        return self._evaluated().embed(self.objects(names), name="names")

    @torch.no_grad()
    def distances(self, sources: Sequence[str] | Tensor, targets: Sequence[str] | Tensor) -> Float[Tensor, " n"]:
        """Compute the distance from each source to the corresponding target.

        Args:
            sources: n names of known objects, or n objects as the network reads them.
            targets: n names or objects.

        Returns:
            The n distances.
        """
        for name, given in (("sources", sources), ("targets", targets)):
            if isinstance(given, str) or not isinstance(given, (Sequence, Tensor, np.ndarray)):
                raise TypeError(f"{name}: expected a sequence of names, a tensor or a NumPy array, got {given!r}")
        if len(sources) != len(targets):
            raise ValueError(f"targets: expected {len(sources)}, as many as sources, got {len(targets)}")
        if not len(sources):
            return torch.empty(0)
        if (rows := self._few_rows(sources, targets)) and (few := self._few.of(self._evaluated(), self.features)):
            return few(rows)
        x, y = self.objects(sources), self.objects(targets)
        try:
            return in_chunks(self._evaluated(), x, y, size=PAIRS_AT_ONCE)
        except (IndexError, RuntimeError, TypeError, ValueError):
            self._check_readable(sources=x, targets=y)
            raise

    def _few_rows(self, *ends: Sequence[str] | Tensor) -> list[int] | None:
        """The rows of the names of a few pairs; None if they are not that."""
        if self.ids is None or len(ends[0]) > AT_MOST or any(type(end) is not list for end in ends):
            return None
        try:
            return [self._row_of[name] for end in ends for name in end]  # type: ignore[index]
        except (KeyError, TypeError):
            return None

    @torch.no_grad()
    def between_rows(self, pairs: Int[Tensor, "n 2"] | np.ndarray) -> Float[Tensor, " n"]:
        """Compute the distances of pairs of known objects, each object embedded once.

        Args:
            pairs: source and target of each pair, as row numbers of `ids`.

        Returns:
            The n distances.
        """
        rows = checks.as_tensor("pairs", pairs).to(self.device)
        return self._evaluated().between_rows(self.objects(), rows[:, 0], rows[:, 1])

    @torch.no_grad()
    def all_pairs(
        self,
        sources: Sequence[str] | Tensor | None = None,
        targets: Sequence[str] | Tensor | None = None,
        *,
        max_memory: int | str = "256MiB",
    ) -> Float[Tensor, "n m"]:
        """Compute the distances from all sources to all targets.

        Args:
            sources: names of known objects, all of them by default; or objects as the network reads them.
            targets: as `sources`, which are the default.
            max_memory: as for `trimetric.all_pairs`.

        Returns:
            The distances, one row for each source.
        """
        x = self.objects(sources)
        y = None if targets is None else self.objects(targets)
        try:
            return all_pairs(self._evaluated(), x, y, max_memory=max_memory)
        except (IndexError, RuntimeError, TypeError, ValueError):
            self._check_readable(sources=x, targets=x if y is None else y)
            raise

    def _check_readable(self, **given: Tensor) -> None:
        """Try to read one object of each argument after a failure, so that the error names the argument."""
        for name, objects in given.items():
            if self.network.factors_through_points:
                self.network.embed(objects[:1], name=name)

    def save(self, path: Path | str) -> Path:
        """Write the model to one safetensors file, with the architecture as JSON, completely or not at all.

        The new file is read back before it replaces an old one.  A network that would load as a different function, or
        that has weights that are not finite, is refused.  The network itself is not changed.

        Args:
            path: the file to write or replace.

        Returns:
            The path of the file.

        Raises:
            TypeError: if a part cannot be described by plain data.
            ValueError: if the network would load as a different function.
        """
        file = checks.path("path", path)
        architecture = describe(self.network)
        weights = self.network.state_dict()
        if _shapes(skeleton(architecture)) != _shapes(self.network):
            raise ValueError("network: expected the parts that it was built with, got others; build it anew with those")
        tensors = {f"{PREFIX}{name}": value for name, value in weights.items()}
        if self.features is not None:
            tensors["features"] = self.features
        if self.places is not None:
            tensors["places"] = self.places
        check_finite(tensors)
        state = {"architecture": architecture, "ids": self.ids, "notes": self.notes}
        write_file(file, tensors, state, form=FORMAT, before=self._check_file)
        return file

    def _check_file(self, file: Path) -> None:
        """Read what was written, and compare."""
        try:
            with torch.random.fork_rng(devices=[]):  # what is built is random before it has its weights
                again = Model.load(file, device=self.device)
        except CheckpointError as error:
            raise ValueError(f"network: expected one that can be read again, got {error}") from None
        few = None if self.ids is None else self.objects(list(self.ids[:PROBED]))
        check_same(self.network, again.network, few)

    @classmethod
    def load(cls, path: Path | str, *, device: str | torch.device = "cpu") -> Model:
        """Read a file that `save` wrote.  Nothing in it is executed: its classes must be known by name.

        Args:
            path: the file.
            device: where to put the network.

        Returns:
            The model, ready for use.

        Raises:
            CheckpointError: if the file is damaged or not a model, or its weights are not finite.
        """
        file = checks.path("path", path)
        network, tensors, state = read_network(file)
        try:
            return cls(
                network.to(device).eval(), state["ids"], tensors.get("features"), state["notes"], tensors.get("places")
            )
        except (ValueError, TypeError) as error:
            raise CheckpointError(f"{file}: {error}") from None


def _shapes(module: nn.Module) -> dict[str, torch.Size]:
    return {name: value.shape for name, value in module.state_dict().items()}
