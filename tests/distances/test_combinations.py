"""Every head inside of every wrapper, and the recommended head."""

from __future__ import annotations

import pytest
import torch
import zoo

import trimetric as tm

DIM = 7


HEADS = {
    "intervals": lambda: tm.IntervalQuasimetric(6),
    "poisson": lambda: tm.PoissonQuasimetric(6),
    "gaussian": lambda: tm.PoissonQuasimetric(6, shape="gaussian"),
    "residual": lambda: tm.ResidualMetric(6, components=2),
    "randers": lambda: tm.RandersMetric(6, components=2),
    "landmarks": lambda: tm.LandmarkBound(6, components=4),
    "tolls": lambda: tm.TollMetric(tm.WideNorm(4)),
    "mixture": lambda: tm.WideMetric([tm.IntervalQuasimetric(6), tm.TollMetric(tm.WideNorm(4))], pool="maxmean"),
    "symmetrized": lambda: tm.SymmetrizedMetric(tm.TollMetric(tm.RandersMetric(4))),
}


@pytest.mark.parametrize("name", HEADS)
def test_every_head_can_be_calibrated_bent_tolled_and_symmetrized(name: str) -> None:
    x, y = torch.randn(2, 50, 6)
    calibrated = tm.Calibrated(HEADS[name]())
    with torch.no_grad():
        calibrated.calibrate(calibrated(x, y), torch.full((50,), 50.0))
        assert calibrated(x, y).mean().item() == pytest.approx(50, rel=1e-4)
    stacked = tm.NeuralMetric(tm.SymmetrizedMetric(tm.TollMetric(HEADS[name]())), concave_units=3)
    points = zoo.awkward_points(20, stacked.dim)
    for distance in (calibrated, stacked):
        zoo.reweight(distance, "normal").double()
        report = tm.audit(distance, points[:, : distance.dim])
        assert report.holds, str(report)
        assert report.scale > 0


@pytest.mark.parametrize("tolls", [True, False])
@pytest.mark.parametrize("symmetric", [True, False])
def test_recommended(symmetric: bool, tolls: bool) -> None:
    head = tm.recommended(20, symmetric=symmetric, tolls=tolls)
    assert head.dim == 20
    assert head.axioms.symmetric == symmetric
    assert tm.audit(head, torch.randn(30, 20)).holds
    with pytest.raises(ValueError, match="dim: expected more than the"):
        tm.recommended(1, symmetric=symmetric, tolls=True)
