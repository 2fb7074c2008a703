"""Figure 1 on a smaller budget: what no Euclidean space can hold, our norms can."""

from __future__ import annotations

from pathlib import Path

import pytest

from reproduction import figure1
from reproduction.paper import paper_values


def test_the_four_node_graph(tmp_path: Path) -> None:
    fits = {
        "Mahalanobis": figure1.fit(figure1.MODELS["Mahalanobis"], figure1.Config(steps=300, seeds=1)),
        "Wide Norm": figure1.fit(figure1.MODELS["Wide Norm"], figure1.Config(steps=600, seeds=2)),
        "MLP (no metric)": figure1.fit(figure1.MODELS["MLP (no metric)"], figure1.Config(steps=300, seeds=1)),
    }
    assert fits["Mahalanobis"].mse == pytest.approx(paper_values("figure_motivation")["Mahalanobis"], abs=1e-3)
    assert fits["Wide Norm"].mse < 0.002
    reports = figure1.audits(fits)
    assert reports["Mahalanobis"].triangle_defect == reports["Wide Norm"].triangle_defect == 0
    assert reports["MLP (no metric)"].triangle_defect > 0
    figure1.figure(fits, tmp_path / "sub" / "figure.png")
    assert (tmp_path / "sub" / "figure.png").stat().st_size > 10_000
    assert figure1.table(fits, reports).row_count == 3
