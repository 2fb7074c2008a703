"""Norms of the plane: the data, the plan of the sweep, and the claims that are checked with its rows."""

from __future__ import annotations

import pytest

from reproduction.data.plane_norms import KINDS, VALUES, ball, dataset
from reproduction.experiments.norms_2d.claims import claims
from reproduction.experiments.norms_2d.experiment import Norms2D
from reproduction.experiments.norms_2d.tables import error_of
from reproduction.frame.rows import Row


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_have_the_norm_they_are_labelled_with(kind: str) -> None:
    data = dataset(kind, 16, seed=3)
    for (origin, x), values in (data.train, data.validation, *data.test.values()):
        assert (ball(kind, 3)((x - origin).double()) - values).abs().max() < 1e-5
    assert {value: targets.unique().tolist() for value, (_, targets) in data.test.items()} == {
        value: [float(value)] for value in VALUES
    }
    assert data.train[1].min() >= 0.85
    assert data.train[1].max() <= 1.15


def test_a_sweep_trains_cells_of_one_shape_at_once() -> None:
    experiment = Norms2D()
    cells = experiment.cells("paper", None)
    assert len(set(cells)) == len(cells)
    batches = experiment.batches(cells)
    assert sorted(map(repr, cells)) == sorted(repr(cell) for batch in batches for cell in batch)
    assert all(len({(cell.shape, cell.size, cell.batch_size) for cell in batch}) == 1 for batch in batches)
    assert {cell.batch_size for cell in cells if cell.recipe == "paper" and cell.size == 128} == {16, 128}


def judged(errors: dict[str, float], at_half: dict[str, float]) -> list[str]:
    def error(kind: str, size: int, model: str, value: str) -> float | None:  # noqa: ARG001
        return errors[model] * (at_half[model] if value == "0.5" else 1) if model in errors else None

    return claims({"so trained": error})


def test_claims_that_hold() -> None:
    errors = {"Maha": 1.0, "DN": 0.1, "WN": 0.01, "WN rectified": 0.02, "MLP": 0.3}
    values, corners, rectified = judged(errors, dict.fromkeys(errors, 0.25) | {"MLP": 3.0})
    assert '" holds' in values
    assert "that of the MLP 3 to 3 times" in values
    assert "so trained, holds: on" in corners
    assert "square 16 (WN)" in corners
    assert "0.22 times less with 128 vectors" in rectified


def test_claims_that_fail() -> None:
    errors = {"Maha": 1.0, "DN": 0.001, "WN": 0.01, "WN rectified": 0.02, "MLP": 0.3}
    values, corners, _ = judged(errors, dict.fromkeys(errors, 0.25))
    assert '" fails' in values
    assert "so trained, fails: on none; not on square 16 (DN)" in corners


def test_claims_without_runs_are_left_out() -> None:
    assert judged({}, {}) == []


def test_an_architecture_is_chosen_by_the_seeds_that_most_have() -> None:
    errors = {(2, 10): [0.2, 0.2], (2, 50): [0.1, 0.1], (3, 50): [0.3, 0.3, 0.0, 0.0, 0.0]}
    settings = {"kind": "sym", "size": 16, "model": "DN", "recipe": "paper", "batch_size": 16}
    rows = [
        Row("norms-2d", str(shape), seed, metric, value, 5, 1.0, "", "", {**settings, "shape": list(shape)}, "", (1, 1))
        for shape, values in errors.items()
        for seed, value in enumerate(values)
        for metric in ("validation", "test 1")
    ]
    assert error_of(rows, "paper")("sym", 16, "DN", "1") == pytest.approx(0.1)
