"""The fast inner loops: projections, blocks of pairs, loops in machine code; each tested against its definition."""
