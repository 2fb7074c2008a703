"""The encoder of all states at once is the encoder of each."""

from __future__ import annotations

import pytest
import torch

from trimetric.rl import (
    GridEncoder,
    World,
)
from trimetric.rl.learning.encoder import StateEncoder
from trimetric.rl.learning.row_sums import RowSums
from trimetric.rl.learning.windows import Windows

SMALL = """
#######
#  >  #
#  #  #
#  <  #
#######
"""


@pytest.mark.parametrize("name", ["FourRoom", "Maze"])
def test_all_states_by_distinct_windows_are_the_network_itself(name: str) -> None:
    torch.manual_seed(0)
    world = World(name)
    encoder = GridEncoder(*world.grid.shape).double()
    states = torch.randperm(world.num_states)
    pull, seen = torch.randn(world.num_states, 64).double(), world.observations.double()
    results = []
    for embedded in (encoder(seen[states]), StateEncoder(encoder, Windows(seen))(states)):
        gradients = torch.autograd.grad(embedded, list(encoder.parameters()), pull)
        results.append([embedded, *gradients])
    for slow, fast in zip(*results, strict=True):
        assert (slow - fast).abs().max() < 1e-12


def test_several_encoders_at_once_are_each_of_them() -> None:
    torch.manual_seed(0)
    world = World(SMALL)
    seen = world.observations.double()
    encoders = [GridEncoder(*world.grid.shape, dim=6, filters=(4, 5), hidden=7).double() for _ in range(3)]
    by_number = [StateEncoder(encoder, Windows(seen)) for encoder in encoders]
    stacked, _ = torch.func.stack_module_state(by_number)  # type: ignore[arg-type]
    states = torch.arange(world.num_states)
    together = torch.func.vmap(lambda own: torch.func.functional_call(by_number[0], own, (states,)))(stacked)
    pull = torch.randn_like(together)
    gradients = torch.autograd.grad(together, list(stacked.values()), pull)
    for member, encoder in enumerate(encoders):
        alone = encoder(seen)
        torch.testing.assert_close(together[member], alone)
        expected = torch.autograd.grad(alone, list(encoder.parameters()), pull[member])
        for found, wanted in zip(gradients, expected, strict=True):
            torch.testing.assert_close(found[member], wanted)


def test_row_sums_are_a_sparse_matrix() -> None:
    torch.manual_seed(0)
    targets, sources = torch.tensor([2, 0, 2, 2]), torch.tensor([1, 1, 0, 1])
    weights = torch.tensor([1.0, 2.0, -1.0, 0.5]).double()
    matrix = torch.zeros(4, 3).double().index_put_((targets, sources), weights, accumulate=True)
    sums = RowSums(targets, sources, weights, (4, 3))
    x, y = torch.randn(6, 3, 5).double(), torch.randn(6, 4, 5).double()
    torch.testing.assert_close(sums(x), matrix @ x)
    torch.testing.assert_close(sums.transposed(y), matrix.mT @ y)
