"""The functions that are asked for distances: models, or anything that compares two batches of objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from trimetric._support import checks
from trimetric.distances import Calibrated, Distance, FunctionDistance, ObjectDistance, Siamese
from trimetric.norms import Norm
from trimetric.training.drawn_pairs import answers

Function = ObjectDistance | Callable[[Tensor, Tensor], Tensor | np.ndarray]


def asked_functions(f: Function | Sequence[Function], objects: Tensor) -> list[ObjectDistance]:
    """Turn one function or several into distances that can be asked for pairs of objects.

    Args:
        f: models or functions.
        objects: what they read.
    """
    several = isinstance(f, (list, tuple))
    members = checks.members("f", f, "model or function") if several else [f]
    found: list[ObjectDistance] = []
    for i, member in enumerate(members):
        name = f"f[{i}]" if several else "f"
        if isinstance(member, (Siamese, Distance)):
            found.append(member)
            continue
        if isinstance(member, Norm):
            raise TypeError(
                f"{name}: expected a distance, got the norm {type(member).__name__}; NormInduced({name}) is one"
            )
        if isinstance(member, type) or not callable(member):
            got = f"the class {member.__name__}" if isinstance(member, type) else type(member).__name__
            raise TypeError(f"{name}: expected a Siamese, a Distance or a function of two tensors, got {got}")
        if objects.ndim != 2 or not objects.is_floating_point():
            raise ValueError(
                f"objects: expected a matrix of features for the function {name}, got shape {tuple(objects.shape)} and "
                f"dtype {objects.dtype}"
            )
        found.append(FunctionDistance(member, objects.shape[1]))
    return found


@torch.no_grad()
def mean_answers(
    members: Sequence[ObjectDistance], objects: Tensor, ends: Int[Tensor, "n 2"], *, symmetric: bool
) -> Tensor:
    """Compute the mean of several functions on pairs.

    Args:
        members: the functions.
        objects: what they read.
        ends: row numbers of the objects of each pair.
        symmetric: whether to average both directions.
    """
    directions = (False, True) if symmetric else (False,)
    values = [answers(own, objects, reverse=reverse)(*ends.unbind(1)) for reverse in directions for own in members]
    return torch.stack(values).mean(dim=0)


def head_name(network: ObjectDistance) -> str:
    """Name what a network measures distances with, for error messages.

    Args:
        network: any distance.
    """
    head = network.head
    while isinstance(head, Calibrated):
        head = head.inner  # type: ignore[assignment]
    return type(head).__name__


def check_own_weights(name: str, student: ObjectDistance, teachers: Sequence[ObjectDistance]) -> None:
    """Refuse a student whose training would change what a teacher answers.

    Args:
        name: of the student, in error messages.
        student: what is trained.
        teachers: what it learns from.
    """
    trained = {id(weight) for weight in student.parameters() if weight.requires_grad}
    if any(id(weight) in trained for teacher in teachers for weight in teacher.parameters()):
        raise ValueError(
            f"{name}: expected weights of its own, got some that f has too, so that training it would change f; "
            f"copy.deepcopy({name}) has its own"
        )
