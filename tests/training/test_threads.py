"""Small steps run on one thread, large ones on all."""

import os
import subprocess
import sys

import pytest
import torch

import trimetric as tm


@pytest.fixture(autouse=True)
def two_threads():
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(1)


@pytest.mark.parametrize(("width", "threads"), [(8, 1), (6000, 2)])
def test_threads_of_a_step(width: int, threads: int):
    seen = []

    class Watching(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(3, width), torch.nn.Linear(width, 4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if torch.is_grad_enabled():
                seen.append(torch.get_num_threads())
            return self.layers(x)

    model = tm.Siamese(Watching(), tm.Euclidean(4))
    config = tm.TrainingConfig(epochs=1, batch_size=2048)
    pairs = torch.randint(0, 3, (2048, 2))
    tm.fit(model, pairs, torch.ones(2048), objects=torch.randn(3, 3), config=config, progress="silent")
    assert set(seen) == {threads}
    assert torch.get_num_threads() == 2


def test_an_error_gives_the_threads_back():
    model = tm.Siamese(torch.nn.Linear(3, 2), tm.Euclidean(2))

    def fails(_):
        raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        tm.fit(
            model,
            torch.tensor([[0, 1]]),
            torch.ones(1),
            objects=torch.randn(2, 3),
            callbacks=[fails],
            progress="silent",
        )
    assert torch.get_num_threads() == 2


def test_the_command_lets_waiting_threads_sleep():
    code = (
        "import os, sys; from trimetric.cli.process import own_process\n"
        "with own_process(): assert 'torch' not in sys.modules; print(os.environ['OMP_WAIT_POLICY'])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "PASSIVE\n"
