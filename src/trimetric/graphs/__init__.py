"""Graphs and their shortest paths: generated, from maps and files, exactly and learned."""

from trimetric.graphs.convert import from_networkx as from_networkx
from trimetric.graphs.convert import from_scipy as from_scipy
from trimetric.graphs.convert import to_networkx as to_networkx
from trimetric.graphs.dimacs import read_dimacs as read_dimacs
from trimetric.graphs.edge_lists import read_edge_list as read_edge_list
from trimetric.graphs.files import read_graph as read_graph
from trimetric.graphs.graph import Graph as Graph
from trimetric.graphs.grid_worlds import push as push
from trimetric.graphs.grid_worlds import taxi as taxi
from trimetric.graphs.osm import read_osm as read_osm
from trimetric.graphs.torus import torus3d as torus3d
from trimetric.graphs.torus import torus3d_directed as torus3d_directed
from trimetric.graphs.torus import torus3d_pruned as torus3d_pruned
