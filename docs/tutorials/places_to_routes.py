# %% [markdown]
# # From a map and a list of places to routes
#
# After this tutorial you can turn a map file and a table of places into exact travel matrices, check them for broken
# triangles, repair them in whole numbers, and plan the routes of a fleet with PyVRP.
# The same steps on the command line are `trimetric matrix`, `trimetric audit` and `trimetric repair`.
#
# It needs `pip install 'trimetric[routing]'`.

# %%
import os
import tempfile
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyvrp
from pyvrp.stop import MaxIterations

import trimetric as tm
from trimetric import routing

small = os.environ.get("TRIMETRIC_SMALL") == "1"  # a short run, for tests
side, stops, iterations = (10, 9, 50) if small else (24, 40, 1000)
folder = Path(tempfile.mkdtemp())
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#B0B0B0"

# %% [markdown]
# ## A map file
#
# For a real city, skip this step and download an extract of OpenStreetMap as `.osm.pbf`. Here we write a small
# city in OpenStreetMap's XML: narrow streets, every second of them one-way, with a fast ring road around them.

# %%
random = np.random.default_rng(0)
nodes, ways = [], []
for row in range(side):
    for column in range(side):
        lon, lat = -8 + 0.0012 * column + random.normal() * 1e-4, 41 + 0.0009 * row + random.normal() * 1e-4
        nodes.append(f'<node id="{row * side + column + 1}" lat="{lat:.7f}" lon="{lon:.7f}"/>')
for line in range(side):
    for along in (True, False):
        refs = [line * side + i if along else i * side + line for i in range(side)]
        ring = line in (0, side - 1)
        tags = f'<tag k="highway" v="{"primary" if ring else "residential"}"/>'
        if ring:
            tags += '<tag k="maxspeed" v="80"/>'
        if not ring and line % 2:
            tags += f'<tag k="oneway" v="{"yes" if line % 4 == 1 else "-1"}"/>'
        points = "".join(f'<nd ref="{ref + 1}"/>' for ref in refs)
        ways.append(f'<way id="{2 * line + along + 1}">{points}{tags}</way>')
(folder / "city.osm").write_text(f'<osm version="0.6">{"".join(nodes)}{"".join(ways)}</osm>')

roads = routing.read_roads(folder / "city.osm")
print(roads)

# %% [markdown]
# ## A table of places
#
# The table has a depot and customers, as `id,lon,lat`. They are not on the streets; each is moved to the nearest point
# of a street. A place too far from every street would be an error that names its line.

# %%
low, high = roads.graph.coordinates.min(axis=0), roads.graph.coordinates.max(axis=0)
where = random.uniform(low, high, (stops + 1, 2))
where[0] = (low + high) / 2
lines = [f"{'depot' if i == 0 else f'customer {i}'},{lon:.6f},{lat:.6f}" for i, (lon, lat) in enumerate(where)]
(folder / "places.csv").write_text("\n".join(["id,lon,lat", *lines]))

places = routing.read_places(folder / "places.csv", roads)
print(places)

# %% [markdown]
# ## Durations and distances of the same routes
#
# `travel_matrix` computes the exact fastest route of every ordered pair, and returns both its duration and its length.
# Turn restrictions are ignored: every turn is allowed and takes no time.

# %%
matrix = routing.travel_matrix(roads, places.positions)
for name, costs in matrix.costs.items():
    print(f"\n{name}:\n{routing.audit_matrix(costs, names=places.names)}")

# %% [markdown]
# The durations keep the triangle inequality: the fastest way from a to c is never slower than the way through b. The
# distances do not. The fastest route may take the long ring road, while the fastest routes to and from a place in
# between take short streets. For a solver that minimizes distances, such a detour looks shorter than the direct way.
#
# ## Repair, in whole numbers
#
# Solvers need integers. Rounding to the nearest integers can break triangles; `integers=True` cannot. Which repair?
# A vehicle may drive the detour, so no distance needs to be longer than the shortest way through other places: use
# `decrease-only`. If the entries are noisy measurements, `active-set` finds the nearest metric instead.
# `increase-only` never makes a distance shorter than the given one.

# %%
meters = matrix.distances
repairs = {
    method: tm.nearness.nearest_metric(meters, method=method, integers=True)
    for method in ("decrease-only", "active-set", "increase-only")
}
for method, repair in repairs.items():
    print(f"{method:<13} changes J = {repair.distortion:.4f} of the matrix, broken triples: ", end="")
    print(tm.nearness.violations(repair.matrix)[1])

# %% [markdown]
# ## Routes
#
# PyVRP takes both matrices. Each route serves a limited number of customers, and the total distance is minimized.

# %%
distances = repairs["decrease-only"].matrix
durations = np.ceil(matrix.durations).astype(np.int64)  # rounded up: still a metric
model = pyvrp.Model()
locations = [model.add_location(x=int(1e6 * lon), y=int(1e6 * lat)) for lon, lat in where]
depot = model.add_depot(locations[0])
for place in locations[1:]:
    model.add_client(place, delivery=[1])
model.add_vehicle_type(stops, capacity=[max(3, stops // 4)], start_depot=depot, end_depot=depot)
for i, start in enumerate(locations):
    for j, end in enumerate(locations):
        if i != j:
            model.add_edge(start, end, distance=int(distances[i, j]), duration=int(durations[i, j]))
result = pyvrp.solve(model.data(), MaxIterations(iterations), seed=0, display=False)
tours = [[0, *(1 + stop.idx for stop in route if stop.is_client()), 0] for route in result.best.routes()]
print(f"{len(tours)} routes, {result.cost() / 1000:.1f} km, feasible: {result.is_feasible()}")

# %% [markdown]
# `routing.route` returns the streets of each leg, to draw them or to give them to a driver.

# %%
figure, axis = plt.subplots(figsize=(7, 6), layout="constrained")
ends = roads.graph.coordinates[roads.graph.tails], roads.graph.coordinates[roads.graph.indices]
axis.plot(*np.stack(ends, axis=1).transpose(2, 1, 0), color=GRAY, linewidth=0.5, zorder=0)
for number, tour in enumerate(tours):
    for i, j in pairwise(tour):
        leg = routing.route(roads, places.positions[i : i + 1], places.positions[j : j + 1])
        axis.plot(*leg.coordinates.T, color=plt.colormaps["tab10"](number % 10), linewidth=2)
axis.scatter(*where[1:].T, color=BLUE, s=18, zorder=3, label="customers")
axis.scatter(*where[0], color=ORANGE, marker="s", s=60, zorder=3, label="depot")
axis.set(aspect=1 / np.cos(np.radians(41)), xlabel="longitude", ylabel="latitude")
axis.legend(loc="upper right")
plt.show()

# %% [markdown]
# ## In one line each
#
# ```sh
# trimetric matrix city.osm.pbf places.csv -o instance.vrp --integers     # durations for any solver that reads VRPLIB
# trimetric matrix city.osm.pbf places.csv -o both.json --annotations duration distance
# trimetric audit both.json --cost distance --picture broken.png
# trimetric repair both.json --cost distance -o distances.csv --method decrease-only --integers
# ```

# %%
written = routing.write_matrix_file(folder / "instance.vrp", roads, places, integers=True, progress="silent")
print(f"PyVRP reads {pyvrp.read(written.file, round_func='round').num_clients} customers from {written.file.name}")

# %% [markdown]
# ## Next
#
# - [Travel matrices](../howto/travel-matrices.md): formats, matrices larger than memory, clusters.
# - [Are your routing matrices metric?](../evidence/routing.md): published instances, and what a solver gains.
# - [Repair a matrix](../howto/repair-a-matrix.md): how to choose a repair.
