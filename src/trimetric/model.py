"""A trained distance with all that is needed to use it, and its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trimetric.all_pairs import all_pairs
from trimetric.architecture import build, describe
from trimetric.axioms import Axioms
from trimetric.checkpoint import CheckpointError, read_file, write_file
from trimetric.distances import Distance
from trimetric.encoders import MLP as _MLP  # noqa: F401  (a file may name any class of the package)
from trimetric.siamese import Siamese

FORMAT = "trimetric-model-1"
QUERY_BATCH = 16384


@dataclass
class Model:
    """A network, the names of the objects that it knows, and notes on where it came from.

    Args:
        network: a `Siamese` or a distance between vectors.
        ids: the names of the known objects, one for each row of `features`, or of the encoder's table.
        features: what the encoder reads for each known object; None for an encoder such as `torch.nn.Embedding`,
            which reads the number of the object.
        notes: anything that JSON can hold; saved as it is.
        places: coordinates of the known objects, by which others are found; the network does not read them.
    """

    network: Siamese | Distance
    ids: Sequence[str] | None = None
    features: Tensor | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    places: Tensor | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.network, (Siamese, Distance)):
            raise TypeError(f"network: expected a Siamese or a Distance, got {type(self.network).__name__}")
        if self.ids is None:
            if self.features is not None or self.places is not None:
                raise ValueError("ids: expected one for each row of features and places, got None")
            return
        self.ids = list(self.ids)
        self._row_of = {name: row for row, name in enumerate(self.ids)}
        if len(self._row_of) < len(self.ids):
            raise ValueError(f"ids: expected different ones, got {len(self.ids) - len(self._row_of)} repeated")
        if self.features is not None and len(self.features) != len(self.ids):
            raise ValueError(f"ids: expected {len(self.features)}, one for each row of features, got {len(self.ids)}")
        if self.places is not None and len(self.places) != len(self.ids):
            raise ValueError(f"places: expected {len(self.ids)}, one for each of the ids, got {len(self.places)}")

    @property
    def axioms(self) -> Axioms:
        return self.network.axioms

    @property
    def device(self) -> torch.device:
        return next((p.device for p in self.network.parameters()), torch.device("cpu"))

    def objects(self, names: Sequence[str] | Tensor | None = None) -> Tensor:
        """What the network reads for known objects, all of them by default; a tensor is taken for that itself."""
        if isinstance(names, Tensor):
            return names.to(self.device)
        if self.ids is None:
            raise ValueError("names: this model knows no objects by name, so expected a tensor of features")
        rows = (
            torch.arange(len(self.ids)) if names is None else torch.tensor([self._row(name) for name in names]).long()
        )
        return (rows if self.features is None else self.features[rows]).to(self.device)

    def _row(self, name: str) -> int:
        if name not in self._row_of:
            raise ValueError(f"names: {name!r} is not among the {len(self._row_of)} objects that this model knows")
        return self._row_of[name]

    @torch.no_grad()
    def embed(self, names: Sequence[str] | Tensor | None = None) -> Tensor:
        """The points of objects in the space of the distance, each encoded once."""
        objects = self.objects(names)
        if not isinstance(self.network, Siamese):
            return objects
        self.network.eval()
        parts = [self.network.encoder(part) for part in objects.split(QUERY_BATCH)]
        return torch.cat(parts) if parts else self.network.encoder(objects)

    @torch.no_grad()
    def distances(self, sources: Sequence[str] | Tensor, targets: Sequence[str] | Tensor) -> Float[Tensor, " n"]:
        """The distance from each source to the target at its place."""
        if len(sources) != len(targets):
            raise ValueError(f"targets: expected {len(sources)}, as many as sources, got {len(targets)}")
        head = self.network.distance if isinstance(self.network, Siamese) else self.network
        pairs = zip(self.embed(sources).split(QUERY_BATCH), self.embed(targets).split(QUERY_BATCH), strict=True)
        return torch.cat([head(x, y) for x, y in pairs]) if len(sources) else torch.empty(0)

    @torch.no_grad()
    def all_pairs(
        self,
        sources: Sequence[str] | Tensor | None = None,
        targets: Sequence[str] | Tensor | None = None,
        *,
        max_memory: int | str = "256MiB",
    ) -> Float[Tensor, "n m"]:
        """The distances from all sources to all targets; of all known objects by default."""
        head = self.network.distance if isinstance(self.network, Siamese) else self.network
        x = self.embed(sources)
        y = x if targets is None else self.embed(targets)
        return all_pairs(head, x, y, max_memory=max_memory)

    def save(self, path: Path | str) -> Path:
        """Write all of it to one safetensors file, the architecture as JSON; wholly or not at all."""
        file = Path(path)
        architecture = describe(self.network)
        weights = self.network.state_dict()
        if _shapes(_skeleton(architecture)) != _shapes(self.network):
            raise ValueError("network: expected the parts that it was built with, got others; build it anew with those")
        tensors = {f"network.{name}": value for name, value in weights.items()}
        if self.features is not None:
            tensors["features"] = self.features
        if self.places is not None:
            tensors["places"] = self.places
        state = {"architecture": architecture, "ids": self.ids, "notes": self.notes}
        write_file(file, tensors, state, form=FORMAT)
        return file

    @classmethod
    def load(cls, path: Path | str, *, device: str | torch.device = "cpu") -> Model:
        """Read a file that `save` wrote.  Nothing in it is executed: its classes must be known by name."""
        file = Path(path)
        tensors, state = read_file(file, form=FORMAT, noun="model")
        weights = {k.removeprefix("network."): v for k, v in tensors.items() if k.startswith("network.")}
        try:
            network = build(state["architecture"])
            network = network.to(next((w.dtype for w in weights.values() if w.is_floating_point()), torch.float32))
            network.load_state_dict(weights)
        except (ValueError, RuntimeError) as error:
            raise CheckpointError(f"{file}: weights and architecture do not fit: {error}") from None
        if not isinstance(network, (Siamese, Distance)):
            raise CheckpointError(f"{file}: expected a Siamese or a Distance in it, got {type(network).__name__}")
        return cls(
            network.to(device).eval(), state["ids"], tensors.get("features"), state["notes"], tensors.get("places")
        )


def _skeleton(architecture: dict[str, Any]) -> nn.Module:
    with torch.device("meta"):
        return build(architecture)


def _shapes(module: nn.Module) -> dict[str, torch.Size]:
    return {name: value.shape for name, value in module.state_dict().items()}
