"""Rows that a table does not have are refused: loops in machine code would read and write beyond it."""

from __future__ import annotations

import itertools

import pytest
import torch
import zoo

import trimetric as tm
from trimetric.kernels.rows.distinct import RowNumbers


@pytest.mark.parametrize("name", zoo.OBJECTS)
def test_rows_out_of_range_are_refused(name: str) -> None:
    distance = zoo.OBJECTS[name](zoo.DIM)
    for row, side, grad in itertools.product((4, 10**12, -1), ("start", "end"), (True, False)):
        rows = {"start": torch.tensor([0, 1, 2]), "end": torch.tensor([3, 2, 1])}
        rows[side][1] = row
        expected = f"{side}: expected rows of a table of 4, 0 to 3, got {row}"
        with torch.set_grad_enabled(grad), pytest.raises(IndexError, match=expected):
            distance.between_rows(torch.randn(4, zoo.DIM), **rows)


def test_numbers_follow_pairs_that_change_in_place() -> None:
    """The pairs of `tm.distil` are drawn anew in each epoch, where other rows may be the last."""
    pairs = torch.tensor([[0, 1], [1, 0]])
    numbers, both = RowNumbers(pairs), torch.tensor([0, 1])
    numbers.of_batch(both)
    pairs[:] = torch.tensor([[100_000, 3], [7, 100_000]])
    assert [found.tolist() for found in numbers.of_batch(both)] == [[100_000, 3, 7], [0, 2], [1, 0]]


def test_distilling_reaches_rows_that_the_first_epoch_did_not() -> None:
    objects = torch.randn(3000, 3)
    student = tm.Siamese(tm.MLP(3, 8), tm.IntervalQuasimetric(8))
    teacher = tm.Siamese(tm.MLP(3, 8), tm.WideNorm(8))
    config = tm.DistillationConfig(steps=200, batch_size=16)
    tm.distil(teacher, student, objects, config=config, progress="silent")
    assert all(torch.isfinite(weight).all() for weight in student.parameters())
