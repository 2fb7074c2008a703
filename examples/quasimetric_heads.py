"""A script written for torchqmet, with one import changed: four heads learn the distances of a one-way ring.

    python -m examples.quasimetric_heads

After every step of a fused Adam it looks for triangles d(x, z) > d(x, y) + d(y, z), and prints the largest excess, as a
part of the largest distance; NaN once a distance is NaN.  With the import of the comment instead, it runs on torchqmet.
"""

from __future__ import annotations

import time

import numpy as np
import torch
from torch import Tensor, nn

from trimetric.integrations import torchqmet  # instead of: import torchqmet

NODES, DIM = 48, 64
WARM_UP = 10
"""steps that are not timed, as the first ones compile"""

HEADS = {
    "IQE": lambda: torchqmet.IQE(DIM, dim_per_component=16),
    "MRNFixed": lambda: torchqmet.MRNFixed(DIM),
    "DeepNorm": lambda: torchqmet.DeepNorm(DIM, num_components=32),
    "WideNorm": lambda: torchqmet.WideNorm(DIM, num_components=32, output_component_size=8),
}


def ring() -> Tensor:
    """The lengths of the shortest paths of a one-way ring.

    Examples:
        >>> ring()[5, 4].item() == NODES - 1
        True
    """
    node = torch.arange(NODES)
    return ((node - node.unsqueeze(1)) % NODES).float()


@torch.no_grad()
def excess(distances: Tensor) -> float:
    """The largest d(x, z) - d(x, y) - d(y, z), as a part of the largest distance.

    Args:
        distances: a square matrix.

    Examples:
        >>> excess(torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]]))
        0.5
    """
    around = distances.unsqueeze(2) + distances.unsqueeze(0)  # x, y, z
    return ((distances.unsqueeze(1) - around).max() / distances.max()).clamp(min=0).item()


def train(name: str, *, steps: int) -> tuple[float, float, float]:
    """Train an encoder and a head of that name.

    Args:
        name: one of `HEADS`.
        steps: of Adam.

    Returns:
        The mean absolute error at the end, the largest excess after any step, and milliseconds per step.
    """
    torch.manual_seed(0)
    targets, head = ring(), HEADS[name]()
    encoder = nn.Sequential(nn.Embedding(NODES, DIM), nn.Linear(DIM, DIM), nn.ReLU(), nn.Linear(DIM, DIM))
    optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=0.01, fused=True)
    nodes, largest, seconds, error = torch.arange(NODES), 0.0, 0.0, float("nan")
    for step in range(steps):
        start = time.perf_counter()
        x, y = torch.randint(NODES, (2, 512))
        optimizer.zero_grad()
        (head(encoder(x), encoder(y)) - targets[x, y]).square().mean().backward()
        optimizer.step()
        seconds += time.perf_counter() - start if step >= WARM_UP else 0.0
        with torch.no_grad():
            points = encoder(nodes)
            distances = head(points[:, None], points)
        largest = float(np.maximum(largest, excess(distances)))  # which keeps NaN
        error = (distances - targets).abs().mean().item()
    return error, largest, 1e3 * seconds / max(1, steps - WARM_UP)


def main(steps: int = 300) -> None:
    """Train all heads and print a row for each.

    Args:
        steps: of Adam.
    """
    print(f"{'head':<10} {'mean error':>10} {'largest excess':>15} {'ms per step':>12}")
    for name in HEADS:
        error, largest, milliseconds = train(name, steps=steps)
        print(f"{name:<10} {error:>10.2f} {largest:>15.1e} {milliseconds:>12.2f}")


if __name__ == "__main__":
    main()
