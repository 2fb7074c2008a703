"""A short training for `torchrun`: prints its losses; dies on request, in one process, once there is a checkpoint."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import torch
from torch import nn
from uphill import problem

import trimetric as tm


def train(checkpoint: Path | None, die: bool) -> dict[str, object]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    objects, pairs, targets = problem(24)
    encoder = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 4, bias=False))
    network = tm.Siamese(encoder, tm.Calibrated(tm.NeuralMetric(tm.WideNorm(4, components=4, width=4)))).double()

    def perhaps_die(epoch: tm.Epoch) -> None:
        if die and os.environ.get("RANK") == "1" and epoch.epoch == 2:
            os._exit(9)

    history = tm.fit(
        network,
        pairs,
        targets.double(),
        objects=objects.double(),
        validation=(pairs[:57], targets[:57].double()),
        config=tm.TrainingConfig(epochs=5, batch_size=101, learning_rate=1e-2, clip_norm=100.0, checkpoint_seconds=0),
        callbacks=[perhaps_die],
        checkpoint=checkpoint,
        progress="silent",
    )
    errors = [epoch.validation_mse for epoch in history.epochs]
    predicted = network(objects[:5].double(), objects[5:10].double()).tolist()
    return {"losses": [epoch.loss for epoch in history.epochs], "errors": errors, "predicted": predicted}


if __name__ == "__main__":
    file = None if sys.argv[1] == "-" else Path(sys.argv[1])
    result = train(file, die="die" in sys.argv)
    if os.environ.get("RANK", "0") == "0":
        print(json.dumps(result))
