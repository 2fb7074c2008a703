"""Exact shortest paths: engines and their kernels, trees, landmarks, and samples of pairs with their distances."""
