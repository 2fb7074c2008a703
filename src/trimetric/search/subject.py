"""What is searched: a distance of any kind, as points and a distance between them, and why its bounds hold."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, cast

import torch
from torch import Tensor, nn

from trimetric._audit import audit
from trimetric._support import checks
from trimetric.distances import ObjectDistance, as_distance
from trimetric.distances.all_pairs import checked_distance
from trimetric.kernels.equal_rows import first_equal_row, row_keys
from trimetric.models.model import Model
from trimetric.norms import Norm
from trimetric.search.definition import PointDistance

Searched = Norm | ObjectDistance | Model | Callable[[Tensor, Tensor], Tensor]
Check = Literal["promise", "audit"]
AUDITED = 300  # points: all triples of them
NO_PROMISE = "promises nothing"
"""in the guarantee of a distance that was audited instead"""


@dataclass(frozen=True)
class Subject:
    """A distance between objects that factors through points.

    Attributes:
        network: the distance of objects; a function is one of points.
        head: the distance between points.
        symmetric: whether d(x, y) = d(y, x) is promised.
        guarantee: why the triangle inequality holds.
        model: the model, if one was given: its names are the ids.
        audited_points: how many points there were when an audit took the place of a promise; None if it is promised.
    """

    network: ObjectDistance | Callable[[Tensor, Tensor], Tensor]
    head: PointDistance
    symmetric: bool
    guarantee: str
    model: Model | None = None
    audited_points: int | None = None

    @property
    def encodes(self) -> bool:
        """Whether points are computed from objects by an encoder."""
        return isinstance(self.network, ObjectDistance) and self.network.head is not self.network

    def of_points(self) -> Subject:
        """The same distance between points."""
        return replace(self, network=self.head, model=None)

    def with_points(self, known: Tensor, new: Tensor) -> Subject:
        """Audit again for points that are inserted, if the guarantee rests on an audit of too few.

        Args:
            known: the points of the index.
            new: the points to insert.

        Raises:
            ValueError: if the triangle inequality does not hold for them.
        """
        count = len(known) + len(new)
        if self.audited_points is None or not len(new) or AUDITED < count < 2 * self.audited_points:
            return self
        name = getattr(self.network, "__name__", type(self.network).__name__)
        guarantee = _audited(self.head, name, torch.cat([known, new]), seed=count, audited=True)
        return replace(self, guarantee=guarantee, audited_points=count)

    @torch.no_grad()
    def embed(self, objects: Tensor, *, name: str) -> Tensor:
        """Compute the points of objects, one for equal objects.

        Args:
            objects: along the first axis.
            name: what error messages call them.
        """
        if not isinstance(self.network, ObjectDistance):
            return checks.matrix(name, checks.floating_point(name, objects))
        points = self.network.embed(objects, name=name)
        if self.encodes:
            points = points[first_equal_row(objects)]
        return checks.matrix(name, points)

    def keys(self, objects: Tensor) -> Tensor | None:
        """A number for each object by which it is known again; None if objects are points."""
        if not self.encodes:
            return None
        return row_keys(objects.flatten(1) if objects.ndim > 1 else objects.unsqueeze(1))


def subject_of(distance: Searched, objects: Callable[[], Tensor], *, check: Check, seed: int) -> Subject:
    """Look at what was given, and refuse a distance whose bounds may not hold.

    Args:
        distance: a norm, distance, `Siamese`, `Model` or function.
        objects: gives the objects to audit it on.
        check: "promise" trusts what a distance promises, and audits functions; "audit" audits whatever it is.
        seed: of the choice of objects.

    Raises:
        ValueError: if the triangle inequality is not promised and not found either.
    """
    checks.one_of("check", check, ("promise", "audit"))
    model = distance if isinstance(distance, Model) else None
    network = distance.network if isinstance(distance, Model) else distance
    if isinstance(network, Norm):
        network = as_distance("distance", network)
    network = checked_distance(network)
    if isinstance(network, nn.Module):
        # A copy: training that continues, or a move to another device, must not change what was measured.
        network = copy.deepcopy(cast("ObjectDistance", network)).cpu().eval().requires_grad_(False)
    if isinstance(network, ObjectDistance):
        if not network.factors_through_points:
            raise ValueError(
                f"distance: expected one that depends on the points of its objects alone, got {type(network).__name__} "
                "with a forward of its own"
            )
        head, axioms, name = network.head, network.axioms, type(network).__name__
        promises, symmetric = axioms.triangle, axioms.symmetric
    else:
        head, name, promises, symmetric = network, getattr(network, "__name__", "the function"), False, False
    if promises and check == "promise":
        return Subject(network, head, symmetric, f"{type(head).__name__} promises the triangle inequality", model)
    audited = check == "audit" or not isinstance(network, ObjectDistance)
    few = objects()
    guarantee = _audited(network, name, few, seed, audited=audited)
    return Subject(network, head, symmetric, guarantee, model, audited_points=len(few))


def _audited(network: object, name: str, objects: Tensor, seed: int, *, audited: bool) -> str:
    rows = torch.randperm(len(objects), generator=torch.Generator().manual_seed(seed))[:AUDITED]
    few = objects[rows]
    if len(few) == 0:
        return f"{name} {NO_PROMISE}, and there are no points to audit it on"
    found = audit(network, few, require=("triangle",))  # type: ignore[arg-type]
    if found.worst_triple is not None:
        triple = rows[list(found.worst_triple)].tolist()
        x, y, z = (few[i : i + 1] for i in found.worst_triple)
        with torch.no_grad():
            xz, xy, yz = (float(network(a, b)) for a, b in ((x, z), (x, y), (y, z)))  # type: ignore[operator]
        raise ValueError(
            f"distance: expected one that keeps the triangle inequality, got {name}, which breaks it for the points "
            f"{triple[0]}, {triple[1]} and {triple[2]}: d({triple[0]}, {triple[2]}) = {xz:.6g} > {xy:.6g} + {yz:.6g} = "
            f"d({triple[0]}, {triple[1]}) + d({triple[1]}, {triple[2]})"
        )
    if found.scale != found.scale:
        raise ValueError(f"distance: expected numbers, got NaN from {name}")
    if not audited:
        raise ValueError(
            f"distance: expected one that promises the triangle inequality, got {name}, which does not; no triple of "
            f'{len(few)} points breaks it, so check="audit" would search with it at your own risk'
        )
    return f"{name} {NO_PROMISE}: the answer rests on an audit of {found.triples:,} triples of {len(few)} points"
