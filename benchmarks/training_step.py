"""One training step of a Siamese network with a Deep Norm Neural Metric, against a straightforward implementation.

The reference clips its weights after each step as the paper does, calls the encoder for x and then for y,
multiplies the matrices one by one, and steps with unfused Adam.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

import trimetric as tm
from benchmarks.timing import best_seconds

DIM, WIDTH, DEPTH, UNITS, BATCH = 128, 128, 3, 5, 256


def make_encoder() -> nn.Sequential:
    """Build the encoder that both implementations use."""
    layers: list[nn.Module] = []
    for _ in range(DEPTH):
        layers += [nn.Linear(DIM, WIDTH), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Reference(nn.Module):
    """A Deep Norm Neural Metric, written as the paper describes it."""

    def __init__(self) -> None:
        super().__init__()
        self.phi = make_encoder()
        self.u = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH))
        self.w = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH - 1))
        self.alpha = nn.ParameterList(nn.Parameter(torch.full((WIDTH // 2,), 0.5)) for _ in range(DEPTH - 1))
        self.beta = nn.ParameterList(nn.Parameter(torch.full((WIDTH // 2,), 0.5)) for _ in range(DEPTH - 1))
        self.slope = nn.Parameter(torch.rand(WIDTH, UNITS))
        self.offset = nn.Parameter(torch.rand(WIDTH, UNITS))
        self.mix = nn.Parameter(torch.tensor(0.5))
        self.clip()

    @torch.no_grad()
    def clip(self) -> None:
        """Move the weights back to where the axioms hold, as the paper does after each step."""
        for parameter in (*self.w.parameters(), *self.alpha, *self.beta, self.slope, self.offset):
            parameter.clamp_(min=0)
        self.offset[:, 0] = 0
        self.mix.clamp_(0, 1)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        d = self.phi(y) - self.phi(x)
        h = self.u[0](d)
        for w, u, alpha, beta in zip(self.w, self.u[1:], self.alpha, self.beta, strict=True):
            a, b = h[..., ::2], h[..., 1::2]
            h = torch.cat([torch.maximum(a, b), alpha * torch.relu(a) + beta * torch.relu(b)], dim=-1)
            h = w(h) + u(d)
        h = torch.relu(h)
        h = torch.min(self.slope * h.unsqueeze(-1) + self.offset, dim=-1).values
        return self.mix * h.max(dim=-1).values + (1 - self.mix) * h.mean(dim=-1)


def make_step(
    model: nn.Module, *, fused: bool, after: Callable[[], None] = lambda: None, compile_mode: str | None = None
) -> Callable[[], None]:
    """Build one training step on a fixed random batch.

    Args:
        model: what is trained.
        fused: whether Adam is fused.
        after: called after each step.
        compile_mode: mode of `torch.compile`; None does not compile.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=fused)
    x, y, target = torch.randn(BATCH, DIM), torch.randn(BATCH, DIM), torch.rand(BATCH)

    def loss(x: Tensor, y: Tensor) -> Tensor:
        return (model(x, y) - target).square().mean()

    call = loss if compile_mode is None else torch.compile(loss, fullgraph=True, mode=compile_mode)

    def run() -> None:
        optimizer.zero_grad(set_to_none=True)
        call(x, y).backward()
        optimizer.step()
        after()

    return run


def run(budget: float = 30.0) -> dict[str, float]:
    """Measure a step, each way.

    Args:
        budget: seconds to measure.

    Returns:
        Seconds by way, the reference first.
    """
    torch.manual_seed(0)

    def ours() -> tm.Siamese:
        norm = tm.DeepNorm(WIDTH, widths=(WIDTH,) * DEPTH)
        return tm.Siamese(make_encoder(), tm.NeuralMetric(norm, concave_units=UNITS))

    reference = Reference()
    ways = {
        "reference: eager, clipped, unfused Adam": make_step(reference, fused=False, after=reference.clip),
        "ours: eager, unfused Adam": make_step(ours(), fused=False),
        "ours: eager, fused Adam": make_step(ours(), fused=True),
        "ours: compiled, fused Adam": make_step(ours(), fused=True, compile_mode="default"),
        "ours: compiled with max-autotune, fused Adam": make_step(
            ours(), fused=True, compile_mode="max-autotune-no-cudagraphs"
        ),
    }
    for way in ways.values():
        way()  # compiles
    return best_seconds(ways, budget=budget, rounds=1000)


def show(seconds: dict[str, float], console: Console) -> None:
    """Print what `run` has returned."""
    reference = next(iter(seconds.values()))
    table = Table(
        title=f"A training step: Siamese of a {DEPTH}x{WIDTH} MLP and a {DEPTH}x{WIDTH} Deep Norm, batch {BATCH}"
    )
    table.add_column("")
    table.add_column("ms", justify="right")
    table.add_column("x faster than the reference", justify="right")
    for name, value in seconds.items():
        table.add_row(name, f"{1e3 * value:.2f}", f"{reference / value:.2f}")
    console.print(table)
