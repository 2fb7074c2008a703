"""A* search and its heuristics: potentials of landmarks, learned potentials, and their certificates."""
