"""How the documentation site is made: pages beyond those in `docs/`, and a check of the result."""
