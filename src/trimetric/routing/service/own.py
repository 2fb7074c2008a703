"""The endpoints of this service itself: matrices by any engine, nearest candidates, and audits."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from trimetric.routing.service.engine import UNITS, Engine, Floats, Waypoints, check_annotations
from trimetric.routing.service.limits import Deadline, Limits
from trimetric.routing.service.osrm import waypoints
from trimetric.routing.service.queries import places_of_rows
from trimetric.routing.service.refusals import RefusedError

MOST_AUDITED = 500
"""rows of a matrix that is audited: the work grows with their third power"""

TOLERANCE = 1e-9
"""how much a detour must be shorter, relative to the largest entry: what rounding of sums may do"""

Place = Annotated[
    str | list[FiniteFloat],
    Field(description="an id of a node, or [longitude, latitude] in degrees", examples=["1234", [-8.61, 41.15]]),
]
EngineName = Literal["exact", "learned"]


class Asked(BaseModel):
    """What every request has."""

    model_config = ConfigDict(extra="forbid", strict=True)


class DistancesRequest(Asked):
    """A matrix from sources to targets."""

    sources: list[Place] = Field(min_length=1)
    targets: list[Place] | None = Field(default=None, min_length=1, description="by default the sources")
    engine: EngineName | None = Field(default=None, description="by default exact, if there is a map of roads")
    annotations: list[Literal["duration", "distance"]] | None = Field(
        default=None, min_length=1, description="by default the one that routes minimize"
    )


class NearestRequest(Asked):
    """Which of some candidates are reached first."""

    places: list[Place] = Field(min_length=1)
    candidates: list[Place] = Field(min_length=1)
    number: int = Field(default=1, ge=1)
    reverse: bool = Field(default=False, description="from the candidates to the places")
    engine: EngineName | None = None


class AuditRequest(Asked):
    """A matrix to audit, or places whose matrix is audited."""

    matrix: list[list[FiniteFloat | None]] | None = Field(
        default=None, min_length=1, description="zeros on the diagonal; null: no route"
    )
    places: list[Place] | None = Field(default=None, min_length=1)
    engine: EngineName | None = Field(default=None, description="of the matrix of places")
    annotation: Literal["duration", "distance"] | None = Field(default=None, description="of the matrix of places")


def located(engine: Engine, given: list[Any], *, name: str, max_snap: float, limits: Limits) -> Waypoints:
    """Find places that are given by ids of nodes or by coordinates, all in one of the two ways.

    Args:
        engine: the map.
        given: ids or [longitude, latitude].
        name: of the list, for the message of a refusal.
        max_snap: the largest distance to a road, in meters.
        limits: of a request.
    """
    limits.check_places(len(given))
    texts = [isinstance(place, str) for place in given]
    if all(texts):
        return engine.at_nodes(_numbers(engine, given, name))
    if any(texts):
        raise RefusedError("InvalidValue", f"{name}: expected ids or coordinates, got both")
    places = places_of_rows(name, given, limits)
    return engine.snap(places, np.full(len(places), max_snap))


def _numbers(engine: Engine, ids: list[str], name: str) -> Any:
    found = engine.find(ids)
    bad = found < 0
    if bad.any():
        row = int(bad.argmax())
        raise RefusedError("InvalidValue", f"{name}: expected ids of nodes, got {ids[row][:60]!r} at index {row}")
    return found


def distances(
    engine: Engine, asked: DistancesRequest, *, max_snap: float, limits: Limits, deadline: Deadline
) -> dict[str, Any]:
    """Answer a request for a matrix.

    Args:
        engine: the one that was asked for.
        asked: the request.
        max_snap: the largest distance to a road, in meters.
        limits: of a request.
        deadline: when to give up.
    """
    wanted = asked.annotations or [engine.annotations[0]]
    check_annotations(engine, wanted)
    limits.check_cells(len(asked.sources), len(asked.targets or asked.sources))
    sources = located(engine, asked.sources, name="sources", max_snap=max_snap, limits=limits)
    targets = sources
    if asked.targets is not None:
        targets = located(engine, asked.targets, name="targets", max_snap=max_snap, limits=limits)
    found = engine.matrix(sources, targets, wanted, deadline)
    return {
        "code": "Ok",
        "engine": engine.name,
        "units": {name: UNITS[name] for name in found},
        **{f"{name}s": values for name, values in found.items()},
        "sources": waypoints(sources),
        "targets": waypoints(targets),
    }


def nearest_candidates(
    engine: Engine, asked: NearestRequest, *, max_snap: float, limits: Limits, deadline: Deadline
) -> dict[str, Any]:
    """Answer which candidates are nearest to each place, nearest first; those without a route are left out.

    Args:
        engine: the one that was asked for.
        asked: the request.
        max_snap: the largest distance to a road, in meters.
        limits: of a request.
        deadline: when to give up.
    """
    limits.check_cells(len(asked.places), len(asked.candidates))
    places = located(engine, asked.places, name="places", max_snap=max_snap, limits=limits)
    others = located(engine, asked.candidates, name="candidates", max_snap=max_snap, limits=limits)
    cost = engine.annotations[0]
    ends = (others, places) if asked.reverse else (places, others)
    costs = engine.matrix(*ends, [cost], deadline)[cost]
    costs = costs.T if asked.reverse else costs
    order = np.argsort(costs, axis=1, kind="stable")[:, : asked.number]
    rows = [
        [{"candidate": i, cost: float(row[i])} for i in best.tolist() if np.isfinite(row[i])]
        for row, best in zip(costs, order, strict=True)
    ]
    return {"code": "Ok", "engine": engine.name, "units": {cost: UNITS[cost]}, "nearest": rows}


def audit(
    engine: Engine, asked: AuditRequest, *, max_snap: float, limits: Limits, deadline: Deadline
) -> dict[str, Any]:
    """Count where a matrix breaks the triangle inequality.

    Args:
        engine: the one that was asked for.
        asked: the request.
        max_snap: the largest distance to a road, in meters.
        limits: of a request.
        deadline: when to give up.
    """
    if (asked.matrix is None) == (asked.places is None):
        raise RefusedError("InvalidOptions", "expected a matrix or places, got both or none")
    if asked.matrix is not None:
        if asked.annotation is not None or asked.engine is not None:
            raise RefusedError("InvalidOptions", "engine, annotation: expected only with places")
        matrix = _matrix_of(asked.matrix)
    else:
        _check_audited(len(asked.places or ()))
        cost = asked.annotation or engine.annotations[0]
        check_annotations(engine, [cost])
        places = located(engine, asked.places or [], name="places", max_snap=max_snap, limits=limits)
        matrix = engine.matrix(places, places, [cost], deadline)[cost]
    return {"code": "Ok", **count_broken(matrix, deadline)}


def _check_audited(rows: int) -> None:
    if rows > MOST_AUDITED:
        raise RefusedError("TooBig", f"expected up to {MOST_AUDITED} rows, got {rows:,}")


def _matrix_of(rows: list[list[float | None]]) -> Floats:
    _check_audited(len(rows))
    if any(len(row) != len(rows) for row in rows):
        raise RefusedError("InvalidValue", f"matrix: expected {len(rows)} entries in each of its {len(rows)} rows")
    matrix = np.array([[np.inf if entry is None else entry for entry in row] for row in rows], np.float64)
    if (matrix < 0).any():
        raise RefusedError("InvalidValue", "matrix: expected entries >= 0, got negative ones")
    diagonal = np.where(np.isinf(np.diagonal(matrix)), 0.0, np.diagonal(matrix))  # null, which says nothing
    if diagonal.any():
        row = int(diagonal.argmax())
        raise RefusedError(
            "InvalidValue", f"matrix: expected zeros on the diagonal, got {diagonal[row]:g} in row {row} (from 0)"
        )
    return matrix


def count_broken(matrix: Floats, deadline: Deadline) -> dict[str, Any]:
    """Count pairs that a detour through a third place makes shorter, and such detours; find the worst.

    Args:
        matrix: `(n, n)` entries >= 0, infinite where there is no route; the diagonal is not used.
        deadline: when to give up.

    Examples:
        >>> found = count_broken(np.array([[0.0, 5.0, 1.0], [5.0, 0.0, 2.0], [9.0, 2.0, 0.0]]), Deadline(60.0))
        >>> found["broken_pairs"], found["worst"]
        (2, {'from': 0, 'via': 2, 'to': 1, 'direct': 5.0, 'detour': 3.0})
    """
    n = len(matrix)
    direct = matrix.copy()
    np.fill_diagonal(direct, 0.0)
    finite = direct[np.isfinite(direct)]
    slack = TOLERANCE * float(finite.max(initial=0.0))
    pairs = triples = 0
    worst: dict[str, Any] | None = None
    excess = 0.0
    for i in range(n):
        deadline.check()
        detours = direct[i][:, None] + direct  # through each k, to each j
        detours[[i]] = np.inf  # which are no detours, and no finite ones for an entry that has none
        np.fill_diagonal(detours, np.inf)
        detours[:, i] = np.inf
        broken = detours < direct[i] - slack
        triples += int(broken.sum())
        best = detours.argmin(axis=0)
        shortest = detours[best, np.arange(n)]
        ahead = shortest < direct[i] - slack
        pairs += int(ahead.sum())
        if ahead.any():
            with np.errstate(invalid="ignore"):
                gap = np.where(ahead, direct[i] - shortest, -np.inf)
            j = int(gap.argmax())
            if worst is None or gap[j] > excess:
                excess = float(gap[j])
                length = float(direct[i, j])
                ends = {"from": i, "via": int(best[j]), "to": j, "direct": length, "detour": float(shortest[j])}
                worst = ends
    return {
        "rows": n,
        "pairs": n * (n - 1),
        "broken_pairs": pairs,
        "triples": n * (n - 1) * (n - 2),
        "broken_triples": triples,
        "worst": worst,
        "holds": pairs == 0,
    }
