"""How the names of matrix files end, known before NumPy has loaded."""

from __future__ import annotations

MATRIX_SUFFIXES = (".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet", ".json", ".atsp", ".tsp", ".vrp")
