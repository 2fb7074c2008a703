"""Learning the distances of a graph: features of nodes, landmark bounds as baselines, accuracy, and the verdict."""
