"""Graphs and their shortest paths: generated, from maps and files, exactly and learned."""

from trimetric.graphs.accuracy import Accuracy as Accuracy
from trimetric.graphs.bounds import AffineBounds as AffineBounds
from trimetric.graphs.bounds import landmark_bounds as landmark_bounds
from trimetric.graphs.convert import from_networkx as from_networkx
from trimetric.graphs.convert import from_scipy as from_scipy
from trimetric.graphs.convert import to_networkx as to_networkx
from trimetric.graphs.dimacs import read_dimacs as read_dimacs
from trimetric.graphs.edge_lists import read_edge_list as read_edge_list
from trimetric.graphs.features import landmark_features as landmark_features
from trimetric.graphs.files import read_graph as read_graph
from trimetric.graphs.graph import Graph as Graph
from trimetric.graphs.grid_worlds import push as push
from trimetric.graphs.grid_worlds import taxi as taxi
from trimetric.graphs.landmarks import Landmarks as Landmarks
from trimetric.graphs.landmarks import choose_landmarks as choose_landmarks
from trimetric.graphs.landmarks import landmarks_at as landmarks_at
from trimetric.graphs.osm import read_osm as read_osm
from trimetric.graphs.pair_sampling import PairSample as PairSample
from trimetric.graphs.pair_sampling import random_pairs as random_pairs
from trimetric.graphs.pair_sampling import sample_pairs as sample_pairs
from trimetric.graphs.shortest_paths import ShortestPaths as ShortestPaths
from trimetric.graphs.torus import torus3d as torus3d
from trimetric.graphs.torus import torus3d_directed as torus3d_directed
from trimetric.graphs.torus import torus3d_pruned as torus3d_pruned
