"""The fast inner loops: projections, blocks of pairs, compiled code.  Each is tested against its slow definition."""
