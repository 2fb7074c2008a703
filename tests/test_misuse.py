"""Wrong calls of the public names but `fit`: each error names the argument, what was expected and what came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from refusals import refusal
from torch import nn

import trimetric as tm

x = torch.randn(6, 4)
pairs = torch.tensor([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
targets = torch.rand(5) + 0.1
wide = tm.NormInduced(tm.WideNorm(4))


def siamese() -> tm.Siamese:
    return tm.Siamese(nn.Linear(4, 4), tm.Calibrated(tm.WideNorm(4)))


def table() -> tm.Siamese:
    return tm.Siamese(nn.Embedding(6, 4), tm.WideNorm(4))


Case = tuple[Callable[[], object], str]

MEASURE: dict[str, Case] = {
    "all_pairs of a list": (
        lambda: tm.all_pairs(wide, [[1.0] * 4]),
        "x: expected a torch.Tensor or a NumPy array, got list",
    ),
    "all_pairs of an array of one axis": (
        lambda: tm.all_pairs(wide, np.ones(4)),
        "x: expected a matrix (points, dim), got",
    ),
    "all_pairs of whole numbers": (
        lambda: tm.all_pairs(wide, np.ones((3, 4), int)),
        "x: expected a floating-point tensor",
    ),
    "all_pairs of text": (
        lambda: tm.all_pairs(wide, np.array([["a"]])),
        "x: expected an array of numbers, got dtype <U1",
    ),
    "all_pairs of one object": (
        lambda: tm.all_pairs(siamese(), x[0]),
        "x: expected a matrix (points, dim), got shape (4,)",
    ),
    "all_pairs of a number": (
        lambda: tm.all_pairs(siamese(), torch.tensor(1.0)),
        "x: expected objects along the first axis",
    ),
    "all_pairs in float64": (
        lambda: tm.all_pairs(wide, x.double()),
        "x: expected the dtype of the weights of NormInduced, torch.float32, got torch.float64; convert one of them",
    ),
    "all_pairs of objects in float64": (
        lambda: tm.all_pairs(siamese(), x.double()),
        "x: expected the dtype of the weights",
    ),
    "all_pairs of other objects": (
        lambda: tm.all_pairs(siamese(), x, x[:, :3]),
        "y: expected last axis 4, which the enc",
    ),
    "all_pairs of complex points": (
        lambda: tm.all_pairs(wide, x * 1j),
        "x: expected a floating-point tensor, got dtype",
    ),
    "all_pairs of a class": (
        lambda: tm.all_pairs(tm.Euclidean, x),
        "distance: expected a Norm, Distance, Siamese or fun",
    ),
    "all_pairs of a Model": (
        lambda: tm.all_pairs(tm.Model(wide), x),
        "distance: expected a Norm, Distance, Siamese or fun",
    ),
    "all_pairs the wrong way": (
        lambda: tm.all_pairs(x, wide),
        "distance: expected a Norm, Distance, Siamese or function",
    ),
    "a function to a number": (
        lambda: tm.all_pairs(lambda a, b: float((a - b).sum()), x),
        "distance: expected a function that makes one",
    ),
    "a function to vectors": (lambda: tm.all_pairs(lambda a, b: a - b, x), "got shape (6, 6, 4)"),
    "a function of matrices": (lambda: tm.all_pairs(torch.cdist, x), "got shape (6, 1, 6)"),
    "audit of a list": (
        lambda: tm.audit(wide, [[1.0] * 4]),
        "points: expected a torch.Tensor or a NumPy array, got list",
    ),
    "audit in float64": (
        lambda: tm.audit(wide, x.double()),
        "points: expected the dtype of the weights of NormInduced",
    ),
    "audit of another size": (lambda: tm.audit(wide, x[:, :3]), "points: expected last axis 4, got shape (6, 3)"),
    "audit the wrong way": (lambda: tm.audit(x, wide), "distance: expected a Norm, Distance, Siamese or function"),
    "audit of random vectors": (
        lambda: tm.audit(lambda a, b: a - b, x, max_points=2),
        "distance: expected a function that",
    ),
    "audit with a negative seed": (lambda: tm.audit(wide, x, seed=-1), "seed: expected an integer from 0 to"),
    "other numbers of objects": (
        lambda: siamese()(x[:3], x[:2]),
        "y: expected batch axes that broadcast with those of x",
    ),
    "objects as an array": (lambda: siamese()(x.numpy(), x), "x: expected a torch.Tensor, got ndarray"),
    "objects as a list": (lambda: siamese()(x, [1.0]), "y: expected a torch.Tensor, got list"),
    "objects in float64": (
        lambda: siamese()(x.double(), x.double()),
        "x: expected the dtype of the weights of the encoder",
    ),
    "objects in two precisions": (
        lambda: siamese()(x, x.double()),
        "y: expected the dtype of the weights of the encoder",
    ),
    "objects of another size": (
        lambda: siamese()(x[:, :3], x[:, :3] + 1),
        "x: expected last axis 4, which the encoder (Lin",
    ),
    "objects as numbers": (
        lambda: siamese()(pairs, pairs + 1),
        "x: expected the dtype of the weights of the encoder (Linear)",
    ),
    "a table of points": (
        lambda: table()(x, x + 1),
        "x: expected numbers of objects in torch.int64, which the encoder",
    ),
    "a table too small": (lambda: table()(pairs[0], pairs[0] + 8), "y: expected numbers of objects from 0 to 5"),
    "an encoder of another size": (
        lambda: tm.Siamese(nn.Linear(4, 3), wide)(x, x + 1),
        "expected last axis 4, got shape",
    ),
    "an MLP in float64": (
        lambda: tm.MLP(4, 4)(x.double()),
        "x: expected the dtype of the weights of MLP, torch.float32, got",
    ),
    "a polyhedron in float64": (
        lambda: tm.PolyhedralNorm.from_points([[1, 0], [0, 1], [-1, -1]])(torch.ones(2, dtype=torch.float64)),
        "x: expected the dtype of the weights of PolyhedralNorm, torch.float32, got torch.float64",
    ),
    **{
        f"{type(norm).__name__} in float64": (
            lambda norm=norm: norm(x.double()),
            f"x: expected the dtype of the weights of {type(norm).__name__}, torch.float32, got torch.float64",
        )
        for norm in (tm.WideNorm(4), tm.WideNorm(4, form="paper"), tm.DeepNorm(4), tm.Mahalanobis(4))
    },
}

BUILD: dict[str, Case] = {
    "dim as text": (lambda: tm.WideNorm("4"), "dim: expected a positive integer, got '4'"),  # type: ignore
    "no dim": (lambda: tm.DeepNorm(None), "dim: expected a positive integer, got None"),  # type: ignore
    "symmetric no": (lambda: tm.WideNorm(4, symmetric="no"), "symmetric: expected True or False, got 'no'"),  # type: ignore
    "widths of an MLP": (lambda: tm.MLP(4, 4, widths=64), "widths: expected a sequence of positive integers, got 64"),  # type: ignore
    "recommended": (lambda: tm.recommended(8, symmetric="no"), "symmetric: expected True or False, got 'no'"),  # type: ignore
    "axioms": (lambda: tm.Axioms(triangle="no"), "triangle: expected True or False, got 'no'"),  # type: ignore
    "normals of text": (lambda: tm.PolyhedralNorm("a", [1]), "normals: expected an array of numbers, got 'a'"),
    "Model of a norm": (lambda: tm.Model(tm.WideNorm(4)), "network: expected a Siamese or a Distance, got WideNorm"),  # type: ignore
    "features as a list": (
        lambda: tm.Model(siamese(), ["a"], [[1.0] * 4]),
        "features: expected a torch.Tensor or a NumPy",
    ),  # type: ignore
    "a name for names": (
        lambda: tm.Model(table(), list("abcdef")).distances("ab", "cd"),
        "sources: expected a sequence of",
    ),
    "distances of nothing": (
        lambda: tm.Model(siamese()).distances(None, x),
        "sources: expected a sequence of names, a t",
    ),  # type: ignore
    "distances in float64": (
        lambda: tm.Model(siamese()).distances(x.double(), x),
        "sources: expected the dtype of the wei",
    ),
    "embed a name": (
        lambda: tm.Model(table(), list("abcdef")).embed("a"),
        "names: expected a sequence of names, such as",
    ),
    "load a number": (lambda: tm.Model.load(3), "path: expected a path, got int"),  # type: ignore
    "export a norm": (lambda: tm.export(tm.WideNorm(4), "x.pt2"), "model: expected a Model or a Siamese or a Distance"),  # type: ignore
    "export to a number": (lambda: tm.export(siamese(), 3), "path: expected a path, got int"),  # type: ignore
    "an example of another size": (
        lambda: tm.export(siamese(), "x.pt2", example=x[:, :3]),
        "example: expected last axis 4",
    ),
}

CASES = MEASURE | {f"build: {name}": case for name, case in BUILD.items()}


@pytest.mark.parametrize("case", CASES)
def test_message(case: str) -> None:
    call, expected = CASES[case]
    message = refusal(call)
    assert expected in message
    assert ": expected " in message


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_are_data(dtype: Any) -> None:
    """Every function that takes data takes NumPy arrays, in the dtype of the weights."""
    points, model = x.numpy().astype(dtype), siamese()
    torch.testing.assert_close(tm.all_pairs(wide, points), tm.all_pairs(wide, x))
    torch.testing.assert_close(tm.all_pairs(model, points, points[:2]), tm.all_pairs(model, x, x[:2]))
    assert tm.audit(wide, points).holds
    found = tm.Model(model).distances(points, points[::-1])
    torch.testing.assert_close(found, tm.Model(model).distances(x, x.flip(0)))
    named = tm.Model(model, list("abcdef"), points)  # type: ignore[arg-type]
    torch.testing.assert_close(named.all_pairs(["a"], ["b"]), tm.all_pairs(model, x[:1], x[1:2]))
    lengths = targets.numpy().astype(dtype)
    quick: Any = {"config": tm.TrainingConfig(epochs=1), "progress": "silent"}
    for indices in (np.int64, np.int32):
        known = pairs.numpy().astype(indices)
        histories = []
        for given in ((known, lengths, points), (pairs, targets, x)):
            torch.manual_seed(0)
            histories.append(tm.fit(siamese(), *given[:2], objects=given[2], validation=given[:2], **quick))
        assert histories[0].epochs[0].loss == histories[1].epochs[0].loss
    assert tm.fit(siamese(), (points[:5], points[1:]), lengths, **quick).epochs
    assert len(tm.fit_many([siamese()], pairs.numpy(), lengths, seeds=[0], objects=points, **quick)) == 1


def test_numbers_of_objects_can_be_audited() -> None:
    report = tm.audit(table(), torch.arange(6))
    assert (report.holds, report.triples) == (True, 216)
    assert tm.audit(table(), torch.arange(6), max_points=2, random_triples=50).holds
