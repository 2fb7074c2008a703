"""Exact search and clustering with any distance that keeps the triangle inequality, asymmetric ones included."""

from trimetric.search.index import Index as Index
from trimetric.search.results import InRange as InRange
from trimetric.search.results import Neighbors as Neighbors
