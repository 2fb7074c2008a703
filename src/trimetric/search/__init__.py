"""Exact search and clustering with any distance that keeps the triangle inequality, asymmetric ones included."""

from trimetric.search.density import DensityClusters as DensityClusters
from trimetric.search.density import density_clusters as density_clusters
from trimetric.search.index import Index as Index
from trimetric.search.k_center import Centers as Centers
from trimetric.search.k_center import k_center as k_center
from trimetric.search.k_medoids import k_medoids as k_medoids
from trimetric.search.plain import plain_vectors as plain_vectors
from trimetric.search.recall import leaves_for_recall as leaves_for_recall
from trimetric.search.results import InRange as InRange
from trimetric.search.results import Neighbors as Neighbors
from trimetric.search.shards import Shards as Shards
