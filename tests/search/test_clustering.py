"""Clusters against their definitions by all distances."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch
from search.brute_force import every_distance

import trimetric as tm

SYMMETRIC = tm.NormInduced(tm.Euclidean(2))


def asymmetric() -> tm.Distance:
    return tm.NormInduced(tm.WideNorm(2, components=3, width=3))


def test_k_center_is_farthest_first_and_its_bound_holds() -> None:
    points = torch.randn(14, 2)
    apart = every_distance(SYMMETRIC, points, points)
    for k in (1, 3, 14):
        found = tm.search.k_center(SYMMETRIC, points, k)
        right = [0]
        while len(right) < k:
            right.append(int(apart[right].amin(dim=0).argmax()))
        assert found.centers.tolist() == right
        assert torch.allclose(found.distances, apart[right].amin(dim=0), atol=1e-5)
        best = min(float(apart[list(some)].amin(dim=0).max()) for some in combinations(range(14), k)) if k < 14 else 0.0
        assert found.bound <= best + 1e-6
        assert found.radius <= 2 * best + 1e-5


def test_k_center_skips_what_cannot_be_nearer() -> None:
    points = torch.randn(2000, 2)
    found = tm.search.k_center(SYMMETRIC, points, 40)
    assert found.skipped > 0.5 * 40 * 2000
    apart = every_distance(SYMMETRIC, points[found.centers], points)
    assert torch.allclose(found.distances, apart.amin(dim=0), atol=1e-5)


@pytest.mark.parametrize("direction", ["from", "to"])
def test_k_medoids_has_the_best_center_of_each_group(direction: str) -> None:
    points, distance = torch.randn(300, 2), asymmetric()
    found = tm.search.k_medoids(distance, points, 4, direction=direction)
    apart = every_distance(distance, points, points, direction=direction).double()
    assert torch.allclose(found.distances.double(), apart[found.centers].amin(dim=0), atol=1e-5)
    for number, center in enumerate(found.centers.tolist()):
        members = (found.labels == number).nonzero()[:, 0]
        sums = apart[members][:, members].sum(dim=1)
        assert float(sums[members == center]) <= float(sums.min()) * (1 + 1e-5)
    start = tm.search.k_center(distance, points, 4, direction=direction)
    assert found.cost < start.cost
    assert found.skipped > 0


def test_density_clusters_are_those_of_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.cluster")
    points = torch.cat([torch.randn(80, 2) * 0.2 + shift for shift in (0.0, 3.0)] + [torch.rand(20, 2) * 6 - 1])
    index = tm.search.Index(SYMMETRIC, points, leaf_size=16)
    found = tm.search.density_clusters(index, 0.3, min_points=5)
    right = sklearn.DBSCAN(eps=0.3, min_samples=5).fit(points.numpy())
    core = torch.zeros(len(points), dtype=torch.bool)
    core[right.core_sample_indices_] = True
    assert torch.equal(found.core, core)
    assert torch.equal(found.labels >= 0, torch.from_numpy(right.labels_) >= 0)
    pairs = set(zip(found.labels[core].tolist(), right.labels_[core.numpy()].tolist(), strict=True))
    assert len(pairs) == found.count == len({one for one, _ in pairs}) == len({other for _, other in pairs})
    assert found.skipped > 0


def test_directed_density_clusters_by_their_definition() -> None:
    points, distance = torch.rand(120, 2), asymmetric()
    index = tm.search.Index(distance, points, leaf_size=16)
    apart = every_distance(distance, points, points)
    radius = float(apart.quantile(0.04))
    near = apart <= radius
    for connection in ("weak", "strong"):
        found = tm.search.density_clusters(index, radius, min_points=4, connection=connection)
        core = near.sum(dim=1) >= 4
        assert torch.equal(found.core, core)
        reach = (near & core & core[:, None]) | torch.eye(120, dtype=torch.bool)
        if connection == "weak":
            reach = reach | reach.mT
        for _ in range(7):
            reach = (reach.float() @ reach.float()) > 0
        same = reach & reach.mT
        assert torch.equal((found.labels[:, None] == found.labels)[core][:, core], same[core][:, core])
        for x in (~core).nonzero()[:, 0].tolist():
            reaching = apart[:, x].masked_fill(~(core & near[:, x]), torch.inf)
            expected = found.labels[int(reaching.argmin())] if reaching.isfinite().any() else -1
            assert int(found.labels[x]) == int(expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tm.search.k_center(SYMMETRIC, torch.randn(5, 2), 0), "k: expected a positive"),
        (lambda: tm.search.k_center(SYMMETRIC, torch.empty(0, 2), 2), "points: expected at least one"),
        (lambda: tm.search.k_center(SYMMETRIC, torch.randn(5, 2), 2, first=5), "first: expected a row"),
        (lambda: tm.search.k_medoids(tm.MLPDistance(2), torch.randn(50, 2), 2), "breaks it for the points"),
    ],
)
def test_what_clustering_refuses(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
