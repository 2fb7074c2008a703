# The public names of `trimetric.routing`, each listed once.  `__init__.py` imports them from here on first use.

from .edge_snapping import snap_to_edges as snap_to_edges
from .matrices import TravelMatrix as TravelMatrix
from .matrices import reach as reach
from .matrices import travel_matrix as travel_matrix
from .positions import Positions as Positions
from .positions import positions_at_nodes as positions_at_nodes
from .road_map import RoadMap as RoadMap
from .road_map import Weight as Weight
from .road_map import read_roads as read_roads
from .routes import Route as Route
from .routes import route as route
