"""From pairs to a model in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import trimetric as tm

QUICK: dict[str, Any] = {"dim": 4, "epochs": 3, "progress": "silent"}
PAIRS = [(a, b) for a in "abcde" for b in "abcde" if a != b]
LENGTHS = [abs(ord(a) - ord(b)) + (a < b) / 2 for a, b in PAIRS]


def test_names_and_numbers_are_the_same_pairs() -> None:
    numbers = torch.tensor([["abcde".index(name) for name in pair] for pair in PAIRS])
    by_name = tm.learn_pairs(PAIRS, LENGTHS, **QUICK)
    by_number = tm.learn_pairs(numbers, torch.tensor(LENGTHS), **QUICK)
    assert by_name.model.ids == list("abcde")
    assert by_number.model.ids == list("01234")
    assert torch.equal(by_name.model.all_pairs(), by_number.model.all_pairs())
    assert by_name.errors == by_number.errors
    assert by_name.audit.holds
    assert by_name.errors_on == "held-out pairs"
    assert len(by_name.split.train) + len(by_name.split.held_out) == len(PAIRS)


def test_the_callers_random_numbers_are_left_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    tm.learn_pairs(PAIRS, LENGTHS, **QUICK)
    assert torch.equal(torch.rand(3), expected)


def test_features_and_notes(tmp_path: Path) -> None:
    features = np.arange(10.0).reshape(5, 2)
    said: list[str] = []
    learned = tm.learn_pairs(
        PAIRS, LENGTHS, names="abcde", features=features, widths=(8,), unit="km", log=said.append, **QUICK
    )
    model = tm.Model.load(learned.model.save(tmp_path / "m.safetensors"))
    assert model.notes["unit"] == "km"
    assert model.notes["settings"]["widths"] == [8]
    assert model.notes["settings"]["loss"] == "squared"
    assert model.notes["errors"] == {"on": "held-out pairs", **learned.errors.to_dict()}
    assert model.all_pairs(torch.tensor([[0.5, 0.5], [3.0, 4.0]])).shape == (2, 2)
    assert [line.split(",")[0] for line in said] == ["5 objects", "wide head in 4 dimensions"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"distances": LENGTHS[1:]}, r"distances: expected 20, one for each pair, got shape \(19,\)"),
        ({"distances": [-1.0, *LENGTHS[1:]]}, "distances: expected numbers >= 0, got -1.0"),
        ({"distances": [0.0, *LENGTHS[1:]], "loss": "relative"}, "distances: expected numbers > 0 for the relative"),
        ({"pairs": ["ab", "bc"]}, r"pairs: expected shape \(n, 2\) with n >= 1, got \(2,\)"),
        ({"names": "abcd"}, "pairs: 'e' is not among the 4 names"),
        ({"features": np.ones((5, 2))}, "names: expected the name of each row of features, as pairs are names"),
        ({"names": "abcde", "features": np.ones((4, 2))}, "features: expected one row for each of the 5 names, got 4"),
        ({"validation": 1}, "validation: expected a share from 0 to below 1, got 1"),
        ({"validation": 0, "patience": 2}, "patience: expected held-out pairs to watch, got none"),
        ({"head": "mlp", "symmetric": True}, "symmetric: expected a head that can promise it, got 'mlp'"),
        ({"head": "round"}, "head: expected one of"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tm.learn_pairs(**{"pairs": PAIRS, "distances": LENGTHS, **QUICK, **arguments})


def test_the_worst_triple_is_of_the_models_objects() -> None:
    learned = tm.learn_pairs(PAIRS, LENGTHS, head="mlp", seed=3, **QUICK)
    assert learned.audit.worst_triple is not None
    x, y, z = (learned.model.ids[row] for row in learned.audit.worst_triple)  # type: ignore[index]
    direct, first, second = learned.model.distances([x, x, y], [z, y, z])
    assert (direct - first - second).item() == pytest.approx(learned.audit.triangle_defect, rel=1e-4)
