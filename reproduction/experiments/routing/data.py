"""Instances of routing problems: files of two folders that the user names, and a small generated one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trimetric.nearness import read_matrix

GENERATED = "generated"
FOLDERS = {"TRIMETRIC_VRP": "*.txt", "TRIMETRIC_ATSP": "*.atsp"}
QUICK_CLIENTS = 12


def instance_files() -> dict[str, Path]:
    """The files in the folders that TRIMETRIC_VRP and TRIMETRIC_ATSP name, by a short name."""
    found = {}
    for variable, pattern in FOLDERS.items():
        folder = os.environ.get(variable)
        for file in sorted(Path(folder).glob(pattern)) if folder else ():
            found[short_name(file)] = file
    return found


def short_name(file: Path) -> str:
    """The name of an instance: of ORTEC's, the part that differs.

    Args:
        file: of the instance.
    """
    parts = file.stem.split("-")
    return parts[3] if parts[0] == "ORTEC" and len(parts) > 3 else file.stem


def load_matrix(name: str) -> NDArray[np.float64]:
    """Read the matrix of an instance, or generate one.

    Args:
        name: one of `instance_files`, or "generated".
    """
    return generated_matrix() if name == GENERATED else read_matrix(instance_files()[name])


def generated_matrix() -> NDArray[np.float64]:
    """Travel times between places of a plane, each off by up to a fifth, in whole seconds."""
    random = np.random.default_rng(0)
    places = random.uniform(0, 1000, (QUICK_CLIENTS, 2))
    times = np.linalg.norm(places[:, None] - places, axis=2) * random.uniform(0.8, 1.2, (QUICK_CLIENTS, QUICK_CLIENTS))
    np.fill_diagonal(times, 0.0)
    return np.rint(times)
