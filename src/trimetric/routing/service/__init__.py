"""The HTTP service: OSRM's `table`, `nearest` and `route` for one map, endpoints of its own, and a map page."""
