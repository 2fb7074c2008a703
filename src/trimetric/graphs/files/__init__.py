"""Graphs from files and from other libraries, the table of file formats, and a cache of computed arrays."""

from trimetric._support.renamed import old_names as _old_names

__getattr__ = _old_names(__name__, {"read_graph": "trimetric.graphs.read_graph"})
