"""OGBench's pointmaze: an exact simulator of many instances at once, and its data by the public recipe."""
