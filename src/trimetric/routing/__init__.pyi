# The public names of `trimetric.routing`, each listed once.  `__init__.py` imports them from here on first use.

from .auditing import BrokenTriangle as BrokenTriangle
from .auditing import MatrixAudit as MatrixAudit
from .auditing import audit_matrix as audit_matrix
from .costs import Annotation as Annotation
from .edge_snapping import snap_to_edges as snap_to_edges
from .large_matrices import WrittenMatrix as WrittenMatrix
from .large_matrices import write_matrix_file as write_matrix_file
from .matrices import TravelMatrix as TravelMatrix
from .matrices import reach as reach
from .matrices import travel_matrix as travel_matrix
from .pictures import audit_picture as audit_picture
from .places import Places as Places
from .places import read_places as read_places
from .positions import Positions as Positions
from .positions import positions_at_nodes as positions_at_nodes
from .road_map import RoadMap as RoadMap
from .road_map import Weight as Weight
from .road_map import read_roads as read_roads
from .routes import Route as Route
from .routes import route as route
