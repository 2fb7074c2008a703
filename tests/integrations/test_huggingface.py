"""Folders of the Hub: models come back, cards say what is known, the Hub itself is asked only for repositories."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import trimetric as tm
from trimetric.integrations import huggingface as hub


@pytest.fixture(scope="module")
def learned() -> tm.LearnedPairs:
    ids, random = [f"n{i}" for i in range(14)], np.random.default_rng(0)
    places = random.random(14)
    pairs = [(ids[i], ids[j]) for i in range(14) for j in range(14) if i != j]
    lengths = [abs(places[ids.index(a)] - places[ids.index(b)]) + 0.1 for a, b in pairs]
    return tm.learn_pairs(pairs, lengths, epochs=2, unit="minutes", dim=4)


def test_a_model_comes_back_from_its_folder(learned: tm.LearnedPairs, tmp_path: Path) -> None:
    model = learned.model
    folder = hub.save_pretrained(model, tmp_path / "new" / "city", license="mit", data="A line.", audit=learned.audit)
    assert sorted(file.name for file in folder.iterdir()) == ["README.md", "config.json", "model.safetensors"]
    again = hub.from_pretrained(folder)
    assert torch.equal(again.all_pairs(), model.all_pairs())
    assert again.notes == model.notes
    assert again.ids == model.ids
    config = json.loads((folder / "config.json").read_text())
    assert config["library_name"] == "trimetric"
    assert config["objects"] == 14
    assert config["unit"] == "minutes"
    assert config["promises"]["triangle"] is True
    assert config["architecture"]["class"] == "Siamese"


def test_the_card_has_data_errors_audit_and_license(learned: tm.LearnedPairs) -> None:
    card = hub.model_card(learned.model, license="cc-by-4.0", data="Places on a line.", audit=learned.audit)
    head, _, text = card.removeprefix("---\n").partition("\n---\n")
    assert "license: cc-by-4.0" in head.splitlines()
    assert "library_name: trimetric" in head.splitlines()
    assert "Places on a line." in text
    assert "keeps the triangle inequality for every value of its weights" in text
    assert str(learned.audit) in text
    assert "- unit: minutes" in text
    errors = learned.model.notes["errors"]
    assert f"mean squared error {errors['mse']:.4g}" in text
    for bucket in errors["by_distance"]:
        assert f"| {bucket['from']:.4g} to {bucket['to']:.4g} | {bucket['pairs']} |" in text
    assert f"{errors['mean_relative_error']:.1%}" in text


def test_the_card_says_what_is_not_known() -> None:
    card = hub.model_card(tm.Model(tm.MLPDistance(2)))
    assert "does not promise the triangle inequality" in card
    assert "The data are not described." in card
    assert "Not measured." in card
    assert "None is given." in card
    assert "license:" not in card


def test_a_subclass_with_the_mixin_comes_back_as_itself(learned: tm.LearnedPairs, tmp_path: Path) -> None:
    class CityModel(hub.PretrainedMixin, tm.Model):
        pass

    model = learned.model
    CityModel(model.network, model.ids, model.features, model.notes).save_pretrained(tmp_path, license="mit")
    again = CityModel.from_pretrained(tmp_path)
    assert type(again) is CityModel
    assert torch.equal(again.all_pairs(), model.all_pairs())
    with pytest.raises(TypeError, match=r"PretrainedMixin: expected a subclass of trimetric\.Model"):
        hub.PretrainedMixin().save_pretrained(tmp_path)


class FakeHub(ModuleType):
    """Keeps repositories in a folder, as the Hub would, and notes what it was asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__("huggingface_hub")
        self.folder, self.asked = folder, []  # type: ignore[var-annotated]

    def create_repo(self, repo_id: str, **options: Any) -> None:
        self.asked.append((repo_id, options))
        (self.folder / repo_id).mkdir(parents=True)

    def upload_folder(self, *, repo_id: str, folder_path: str, commit_message: str) -> str:
        for file in Path(folder_path).iterdir():
            (self.folder / repo_id / file.name).write_bytes(file.read_bytes())
        return f"commit of {repo_id}: {commit_message}"

    def hf_hub_download(self, repo_id: str, name: str, **options: Any) -> str:
        self.asked.append((repo_id, options))
        return str(self.folder / repo_id / name)


def test_a_repository_goes_through_the_library_of_the_hub(
    learned: tm.LearnedPairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeHub(tmp_path / "hub")
    monkeypatch.setitem(sys.modules, "huggingface_hub", fake)
    assert hub.push_to_hub(learned.model, "me/city", license="mit").startswith("commit of me/city")
    again = hub.from_pretrained("me/city", revision="main", local_only=True)
    assert torch.equal(again.all_pairs(), learned.model.all_pairs())
    assert fake.asked == [
        ("me/city", {"private": True, "exist_ok": True}),
        ("me/city", {"revision": "main", "local_files_only": True}),
    ]


def test_without_the_library_of_the_hub_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ImportError, match=r'pip install "trimetric\[hub\]"'):
        hub.from_pretrained("me/city")


def test_the_library_of_the_hub_has_the_calls() -> None:
    import inspect

    library = pytest.importorskip("huggingface_hub", reason="needs the package huggingface_hub (the extra `hub`)")
    for name, arguments in {
        "create_repo": ("repo_id", "private", "exist_ok"),
        "upload_folder": ("repo_id", "folder_path", "commit_message"),
        "hf_hub_download": ("repo_id", "filename", "revision", "local_files_only"),
    }.items():
        assert set(arguments) <= set(inspect.signature(getattr(library, name)).parameters), name


def test_the_library_of_the_hub_reads_our_card(learned: tm.LearnedPairs) -> None:
    library = pytest.importorskip("huggingface_hub", reason="needs the package huggingface_hub (the extra `hub`)")
    card = library.ModelCard(hub.model_card(learned.model, license="mit"))
    assert card.data.license == "mit"
    assert card.data.library_name == "trimetric"
    assert "quasimetric" in card.data.tags


def test_what_is_no_model_is_refused(tmp_path: Path, learned: tm.LearnedPairs) -> None:
    with pytest.raises(FileNotFoundError, match=r"source: expected model\.safetensors in it"):
        hub.from_pretrained(tmp_path)
    with pytest.raises(ValueError, match="revision: expected None for a folder, got 'main'"):
        hub.from_pretrained(tmp_path, revision="main")
    with pytest.raises(ValueError, match="license: expected an identifier"):
        hub.save_pretrained(learned.model, tmp_path / "other", license="mit\ntags: x")
    assert not (tmp_path / "other").exists()
