"""The band: a free network that is a quasimetric."""

from __future__ import annotations

import pytest
import torch

import trimetric as tm


def test_a_network_without_any_promise_keeps_the_triangle_inequality_in_a_band() -> None:
    torch.manual_seed(0)
    network = tm.MLPDistance(3, widths=(16,), inputs="concatenation").double()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(10)
    points = torch.randn(40, 3, dtype=torch.float64)
    points[7] = points[3]
    assert tm.audit(network, points).triangle_defect > 0.1
    band = tm.BandMetric(network).double()
    assert tm.audit(band, points).triangle_defect == 0
    apart = band(points[:, None], points[None])
    assert apart[3, 7] == apart[5, 5] == 0
    differ = (points[:, None] != points[None]).any(dim=-1)
    expected = 1 + (0.5 + network(points[:, None], points[None])).clamp(0, 1)
    torch.testing.assert_close(apart[differ], expected[differ])
    assert (apart[differ] < 1.1).any()
    assert (apart[differ] > 1.9).any()  # the whole band is used


def test_a_band_learns_distances_within_a_factor_of_two_that_no_norm_has() -> None:
    torch.manual_seed(0)
    points = torch.eye(12)
    targets = 1 + torch.rand(12, 12)
    pairs = (~torch.eye(12, dtype=torch.bool)).nonzero()
    wanted = targets[pairs[:, 0], pairs[:, 1]]
    model = tm.Calibrated(tm.BandMetric(tm.MLPDistance(12, widths=(64,), inputs="concatenation")))
    config = tm.TrainingConfig(epochs=150, batch_size=66, learning_rate=1e-2)
    tm.fit(model, pairs, wanted, objects=points, config=config, progress="silent")
    error = (model(points[pairs[:, 0]], points[pairs[:, 1]]) - wanted).square().mean()
    assert error < 0.1 * wanted.var()


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_values_outside_the_band_are_drawn_back_and_not_farther_out(side: float) -> None:
    band = tm.BandMetric(tm.Euclidean(2))
    band.gain.fill_(side)
    x = torch.zeros(1, 2)
    y = torch.tensor([[3.0, 4.0]], requires_grad=True)
    distance = band(x, y)
    assert distance.item() == (2 if side > 0 else 1)
    (back,) = torch.autograd.grad(side * distance.sum(), y, retain_graph=True)  # a step down leads into the band
    assert back.norm() == pytest.approx(1)
    (out,) = torch.autograd.grad(-side * distance.sum(), y)
    assert not out.any()


@pytest.mark.parametrize("seed", range(3))
def test_calibration_spreads_a_network_over_the_band_wherever_it_starts(seed: int) -> None:
    torch.manual_seed(seed)
    objects = torch.randn(200, 8)
    pairs = torch.randint(200, (2000, 2))
    pairs[:100, 1] = pairs[:100, 0]
    apart = pairs[:, 0] != pairs[:, 1]
    targets = torch.where(apart, 50 + 13 * torch.randn(len(pairs)), 0.0)
    model = tm.Calibrated(tm.BandMetric(tm.MLPDistance(8, inputs="concatenation")))
    config = tm.TrainingConfig(epochs=1, learning_rate=1e-12)  # calibrates, and learns nothing
    tm.fit(model, pairs, targets, objects=objects, config=config, progress="silent")
    predictions = model(objects[pairs[:, 0]], objects[pairs[:, 1]]).detach()[apart]
    assert predictions.mean() == pytest.approx(50, rel=0.02)
    assert 8 < predictions.std() < 13  # what lies outside of the band is cut
    assert 30 < predictions.min() < 36
    assert 64 < predictions.max() < 70
