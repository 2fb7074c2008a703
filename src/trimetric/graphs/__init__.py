"""Graphs and their distances: read from files or generated, exact shortest paths, search, and learned distances.

The public names are listed once, in `__init__.pyi`, and imported on first use, so that reading a table of edges does
not have to wait until torch is loaded.
"""

import lazy_loader as _lazy

from trimetric._support.renamed import old_names as _old_names

_public_name, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
_old_name = _old_names(
    __name__,
    {
        "expansions": "count_expansions",
        "learned_heuristic": "learn_heuristic",
        "selected_potentials": "select_potentials",
    },
)


def __getattr__(name: str) -> object:
    try:
        return _public_name(name)
    except AttributeError:
        return _old_name(name)
