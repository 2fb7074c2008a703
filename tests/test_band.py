"""The band: a free network that is a quasimetric."""

from __future__ import annotations

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
    expected = 1 + network(points[:, None], points[None]).sigmoid()
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
