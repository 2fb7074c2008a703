"""Graphs made by recipe: grids on a torus and the states of small grid worlds, as in the paper."""
