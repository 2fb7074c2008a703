"""Models in folders, and in repositories of the Hugging Face Hub."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

import trimetric
from trimetric._audit import Audit
from trimetric._support import checks
from trimetric._support.atomic import replacing
from trimetric._support.described import describe
from trimetric._support.optional import optional
from trimetric.integrations.huggingface.card import model_card
from trimetric.models.model import Model

WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "README.md"


def save_pretrained(
    model: Model,
    folder: Path | str,
    *,
    license: str | None = None,
    data: str | None = None,
    audit: Audit | None = None,
) -> Path:
    """Write a model as a folder that the Hub takes: `model.safetensors`, `config.json` and the card `README.md`.

    Args:
        model: the model.
        folder: is made if it is missing; files of these names in it are replaced.
        license: of the weights, such as "mit"; if None, the card says that no license is given.
        data: what the model was trained on, in a sentence or more of Markdown.
        audit: what `trimetric.audit` measured; its numbers go into the card.

    Returns:
        The folder.

    Examples:
        >>> import tempfile
        >>> import trimetric as tm
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = save_pretrained(tm.Model(tm.NormInduced(tm.Euclidean(2))), folder, license="mit")
        ...     from_pretrained(folder).network(torch.zeros(2), torch.tensor([3.0, 4.0]))
        tensor(5.)
    """
    checks.instance("model", model, Model)
    place = checks.path("folder", folder)
    card = model_card(model, license=license, data=data, audit=audit)
    place.mkdir(parents=True, exist_ok=True)
    model.save(place / WEIGHTS)
    config = {
        "library_name": "trimetric",
        "trimetric_version": trimetric.__version__,
        "architecture": describe(model.network),
        "objects": None if model.ids is None else len(model.ids),
        "unit": model.notes.get("unit"),
        "promises": asdict(model.axioms),
    }
    for name, text in ((CONFIG, json.dumps(config, indent=2) + "\n"), (CARD, card)):
        with replacing(place / name) as stream:
            stream.write(text.encode())
    return place


def from_pretrained(
    source: Path | str, *, revision: str | None = None, device: str | torch.device = "cpu", local_only: bool = False
) -> Model:
    """Read a model from a folder that `save_pretrained` wrote, or from a repository of the Hub.

    Nothing in the files is executed.

    Args:
        source: a folder or, if no such folder exists, the name of a repository, "owner/name", which needs the package
            `huggingface_hub`.
        revision: a branch, tag or commit of the repository.
        device: where to put the network.
        local_only: for a repository, use only files that were downloaded before, without network access.

    Returns:
        The model.

    Examples:
        >>> from_pretrained("no/such/folder")
        Traceback (most recent call last):
        FileNotFoundError: source: expected a folder with model.safetensors, or owner/name, got 'no/such/folder'
    """
    place = checks.path("source", source)
    if place.is_dir():
        if revision is not None:
            raise ValueError(f"revision: expected None for a folder, got {revision!r}")
        file = place / WEIGHTS
        if not file.is_file():
            raise FileNotFoundError(f"source: expected {WEIGHTS} in it, got the folder {str(place)!r} without")
        return Model.load(file, device=device)
    if place.is_absolute() or len(place.parts) != 2 or place.parts[0] in (".", ".."):
        raise FileNotFoundError(f"source: expected a folder with {WEIGHTS}, or owner/name, got {str(source)!r}")
    hub = optional("huggingface_hub", needed_for="reading from the Hub", extra="hub")
    file = hub.hf_hub_download(place.as_posix(), WEIGHTS, revision=revision, local_files_only=local_only)
    return Model.load(file, device=device)


def push_to_hub(
    model: Model,
    repository: str,
    *,
    private: bool = True,
    license: str | None = None,
    data: str | None = None,
    audit: Audit | None = None,
) -> str:
    """Write the folder of `save_pretrained` to a repository of the Hub, which is created if it is missing.

    Args:
        model: the model.
        repository: its name, "owner/name".
        private: whether a new repository is.
        license: as in `save_pretrained`.
        data: as in `save_pretrained`.
        audit: as in `save_pretrained`.

    Returns:
        The address of the commit.

    Examples:
        >>> import trimetric as tm
        >>> push_to_hub(tm.Model(tm.NormInduced(tm.Euclidean(2))), "no-owner")
        Traceback (most recent call last):
        ValueError: repository: expected 'owner/name', got 'no-owner'
    """
    if not isinstance(repository, str) or repository.count("/") != 1:
        raise ValueError(f"repository: expected 'owner/name', got {repository!r}")
    hub = optional("huggingface_hub", needed_for="writing to the Hub", extra="hub")
    with tempfile.TemporaryDirectory() as folder:
        save_pretrained(model, folder, license=license, data=data, audit=audit)
        hub.create_repo(repository, private=private, exist_ok=True)
        return str(hub.upload_folder(repo_id=repository, folder_path=folder, commit_message="Upload with trimetric"))


class PretrainedMixin:
    """`save_pretrained`, `from_pretrained` and `push_to_hub` as methods, for a subclass of `trimetric.Model`.

    Examples:
        >>> import tempfile
        >>> import trimetric as tm
        >>> class CityModel(PretrainedMixin, tm.Model):
        ...     pass
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = CityModel(tm.NormInduced(tm.Euclidean(2))).save_pretrained(folder)
        ...     type(CityModel.from_pretrained(folder)).__name__
        'CityModel'
    """

    def save_pretrained(
        self, folder: Path | str, *, license: str | None = None, data: str | None = None, audit: Audit | None = None
    ) -> Path:
        """Write the model as a folder; see the function of this name.

        Args:
            folder: is made if it is missing.
            license: of the weights.
            data: what the model was trained on.
            audit: what `trimetric.audit` measured.
        """
        return save_pretrained(_as_model(self), folder, license=license, data=data, audit=audit)

    def push_to_hub(
        self,
        repository: str,
        *,
        private: bool = True,
        license: str | None = None,
        data: str | None = None,
        audit: Audit | None = None,
    ) -> str:
        """Write the model to a repository of the Hub; see the function of this name.

        Args:
            repository: its name, "owner/name".
            private: whether a new repository is.
            license: of the weights.
            data: what the model was trained on.
            audit: what `trimetric.audit` measured.
        """
        return push_to_hub(_as_model(self), repository, private=private, license=license, data=data, audit=audit)

    @classmethod
    def from_pretrained(
        cls,
        source: Path | str,
        *,
        revision: str | None = None,
        device: str | torch.device = "cpu",
        local_only: bool = False,
    ) -> Any:
        """Read a model of this class; see the function of this name.

        Args:
            source: a folder, or a repository "owner/name".
            revision: a branch, tag or commit of the repository.
            device: where to put the network.
            local_only: read what was downloaded before.
        """
        read = from_pretrained(source, revision=revision, device=device, local_only=local_only)
        return cls(read.network, read.ids, read.features, read.notes, read.places)  # type: ignore[call-arg]


def _as_model(value: object) -> Model:
    if not isinstance(value, Model):
        raise TypeError(f"PretrainedMixin: expected a subclass of trimetric.Model, got {type(value).__name__}")
    return value
