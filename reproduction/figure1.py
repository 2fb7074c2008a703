"""Figure 1: four nodes that no Euclidean space can hold.

A and D are both at distance 1 from B and from C, which are 2 apart, so that in a Euclidean space both must sit
halfway between B and C; but A and D are 2 apart.  The nodes are one-hot vectors, embedded in the plane by a
linear map that is trained together with the norm.

Run it by `python -m reproduction.figure1`; it prints the errors beside the paper's, audits what was learned, and
draws the picture.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import torch
from matplotlib.axes import Axes
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from torch import Tensor, nn

import trimetric as tm
from reproduction.paper import paper_values

NODES = "ABCD"
EDGES = [("A", "B"), ("A", "C"), ("D", "B"), ("D", "C")]
DISTANCES = torch.tensor([[0.0, 1, 1, 2], [1, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]])
PAIRS = torch.triu_indices(4, 4, offset=1)
RED, BLUE, GREY = "#c0392b", "#1f5fa8", "#8a8f98"


@dataclass(frozen=True)
class Config:
    """Settings of the fit."""

    steps: int = 1500
    """Adam steps, on all six pairs at once"""
    learning_rate: float = 0.02
    """at the start; it falls to 0 by a cosine"""
    seeds: int = 3
    """starts; the one with the smallest error is kept"""


MODELS: dict[str, Callable[[], tm.Distance]] = {
    "Mahalanobis": lambda: tm.NormInduced(tm.Mahalanobis(2)),
    "Deep Norm": lambda: tm.NormInduced(tm.Symmetrized(tm.DeepNorm(2, widths=(32, 32)))),
    "Wide Norm": lambda: tm.NormInduced(tm.WideNorm(2, components=16, width=2, symmetric=True)),
    "MLP (no metric)": lambda: tm.MLPDistance(2, widths=(32, 32)),
}


@dataclass(frozen=True)
class Fit:
    """A trained model and its error."""

    model: tm.Siamese
    mse: float

    @property
    def embedding(self) -> Tensor:
        with torch.no_grad():
            return self.model.encoder(torch.eye(4))


def fit(make: Callable[[], tm.Distance], config: Config, advance: Callable[[], None] = lambda: None) -> Fit:
    """The best of several starts."""
    fits = []
    for seed in range(config.seeds):
        torch.manual_seed(seed)
        model = tm.Siamese(nn.Linear(4, 2, bias=False), make())
        optimiser = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, config.steps)
        start, end = torch.eye(4)[PAIRS]
        target = DISTANCES[*PAIRS]
        for _ in range(config.steps):
            optimiser.zero_grad()
            (model(start, end) - target).square().mean().backward()
            optimiser.step()
            schedule.step()
        with torch.no_grad():
            fits.append(Fit(model, (model(start, end) - target).square().mean().item()))
        advance()
    return min(fits, key=lambda result: result.mse)


def audits(fits: dict[str, Fit]) -> dict[str, tm.Audit]:
    """Each distance on its four embedded nodes and 500 random points of the plane around them."""
    generator = torch.Generator().manual_seed(0)
    cloud = torch.randn(500, 2, generator=generator)
    return {
        name: tm.audit(result.model.distance, torch.cat([result.embedding, cloud * result.embedding.std()]))
        for name, result in fits.items()
    }


def table(fits: dict[str, Fit], reports: dict[str, tm.Audit]) -> Table:
    paper = paper_values("figure_motivation")
    out = Table(title="The four-node graph in the plane")
    for column in ("model", "MSE", "the paper's", "triangle defect", "promises hold"):
        out.add_column(column, justify="left" if column == "model" else "right")
    for name, result in fits.items():
        report = reports[name]
        printed = f"{paper[name]:.3f}" if name in paper else ""
        verdict = ("yes" if report.holds else "NO") if report.promised.triangle else "promises nothing"
        out.add_row(name, f"{result.mse:.3f}", printed, f"{report.triangle_defect:.3g}", verdict)
    return out


def figure(fits: dict[str, Fit], path: Path) -> None:
    """The graph, and each learned unit ball (around A) with the embedded nodes."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    plotted = {name: result for name, result in fits.items() if result.model.axioms.triangle}
    plot, axes = plt.subplots(1, 1 + len(plotted), figsize=(3.1 * (1 + len(plotted)), 3.3), layout="constrained")
    places = {"A": (0, 1), "B": (-1, 0), "C": (1, 0), "D": (0, -1)}
    for first, second in EDGES:
        (x0, y0), (x1, y1) = places[first], places[second]
        axes[0].plot([x0, x1], [y0, y1], color=GREY, lw=2, zorder=1)
        axes[0].text((x0 + x1) * 0.62, (y0 + y1) * 0.62, "1", color=GREY, ha="center", va="center", fontsize=11)
    for node, (x, y) in places.items():
        axes[0].scatter(x, y, s=420, color=BLUE, zorder=2)
        axes[0].text(x, y, node, color="white", ha="center", va="center", fontsize=12, weight="bold", zorder=3)
    axes[0].set(title="the graph", xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))
    for axis, (name, result) in zip(axes[1:], plotted.items(), strict=True):
        _ball(axis, result)
        axis.set_title(f"{name}: MSE {result.mse:.3f}")
    for axis in axes:
        axis.set_aspect("equal")
        axis.set_xticks([])
        axis.set_yticks([])
    path.parent.mkdir(parents=True, exist_ok=True)
    plot.savefig(path, dpi=160, bbox_inches="tight")
    plt.close(plot)


def _ball(axis: Axes, result: Fit) -> None:
    points = result.embedding - result.embedding[0]  # A is the centre of the balls
    reach = 1.3 * points.abs().max().item()
    ticks = torch.linspace(-reach, reach, 400)
    grid = torch.stack(torch.meshgrid(ticks, ticks, indexing="xy"), dim=-1)
    with torch.no_grad():
        distance = result.model.distance(points[0], grid)
    axis.contourf(ticks, ticks, distance, levels=[0, 1], colors=[RED], alpha=0.12)
    axis.contour(ticks, ticks, distance, levels=[1, 2], colors=[RED], linewidths=[2, 1], linestyles=["-", ":"])
    axis.scatter(*points.T, s=60, color=BLUE, zorder=3)
    # Nodes that the model could not tell apart share a label.
    labels: dict[tuple[int, int], list[str]] = {}
    for node, point in zip(NODES, points, strict=True):
        cell = (round(8 * point[0].item() / reach), round(8 * point[1].item() / reach))
        labels.setdefault(cell, []).append(node)
    for nodes in labels.values():
        x, y = points[NODES.index(nodes[0])]
        axis.annotate(
            ", ".join(nodes), (x, y), xytext=(7, 7), textcoords="offset points", color=BLUE, fontsize=12, weight="bold"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m reproduction.figure1", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("out/figure1.png"), help="where the picture goes")
    options = parser.parse_args()
    torch.set_num_threads(1)
    config, console = Config(), Console()
    with Progress(console=console, transient=True) as progress:
        fits = {}
        for name, make in MODELS.items():
            task = progress.add_task(name, total=config.seeds)
            fits[name] = fit(make, config, lambda task=task: progress.advance(task))
    reports = audits(fits)
    console.print(table(fits, reports))
    console.print()
    for name in ("Deep Norm", "MLP (no metric)"):
        console.print(str(reports[name]), highlight=False, soft_wrap=True)
    figure(fits, options.output)
    console.print(f"\nThe picture of the graph, the embeddings and the learned balls: {options.output}")


if __name__ == "__main__":
    main()
