"""A script to be killed: it saves one model over another, again and again.

python -m chaos.saving FILE
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

import trimetric as tm

SAVES = 60
ROWS = 20_000


def model_number(number: int) -> tm.Model:
    """A model of a megabyte whose weights all tell which one it is."""
    table = torch.nn.Embedding(ROWS, 16)
    torch.nn.init.constant_(table.weight, float(number))
    return tm.Model(tm.Siamese(table, tm.Euclidean(16)), notes={"number": number})


if __name__ == "__main__":
    for number in range(1, SAVES + 1):
        model_number(number).save(Path(sys.argv[1]))
