# %% [markdown]
# # A city with one-way streets
#
# After this tutorial you can compute exact distances of a graph, learn them, judge whether learning was worth it, and
# speed up the search for paths without giving up exactness.
#
# It needs `pip install 'trimetric[graphs]'`.

# %%
import os
import time

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from trimetric import graphs

small = os.environ.get("TRIMETRIC_SMALL") == "1"  # a short run, for tests
side, epochs, steps = (8, 1, 5) if small else (40, 6, 300)
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#B0B0B0"

# %% [markdown]
# ## The city
#
# The city is a grid of streets, one-way in alternating directions. The ring around the city and every eighth street are
# two-way, and twice as fast. The length of a street is its travel time in minutes.

# %%
random = np.random.default_rng(0)
arcs = []
for y in range(side):
    for x in range(side):
        for line, (x2, y2) in ((y, (x + 1, y)), (x, (x, y + 1))):
            if max(x2, y2) == side:
                continue
            here, there, minutes = x + side * y, x2 + side * y2, random.uniform(0.5, 1.5)
            main_street = line % 8 == 0 or line == side - 1
            if main_street or line % 2 == 0:
                arcs.append((here, there, minutes / (2 if main_street else 1)))
            if main_street or line % 2 == 1:
                arcs.append((there, here, minutes / (2 if main_street else 1)))
tails, heads, weights = map(np.array, zip(*arcs, strict=True))
corners = np.stack([np.arange(side**2) % side, np.arange(side**2) // side], axis=1)
city = graphs.Graph.from_arcs(side**2, tails, heads, weights, directed=True).connected()
print(city)

# %% [markdown]
# ## There and back are different ways

# %%
source, target = side * (side // 5) + side // 5 + 1, side * (side - 3) + side - 4
there, back = graphs.shortest_path(city, source, target), graphs.shortest_path(city, target, source)
print(f"there: {there.length:.1f} minutes, back: {back.length:.1f} minutes")

figure, axes = plt.subplots(figsize=(5.6, 5), layout="constrained")
axes.add_collection(LineCollection(corners[np.stack([tails, heads], axis=1)].tolist(), colors=GRAY, linewidths=0.6))
axes.plot(*corners[there.nodes].T, color=BLUE, linewidth=3, label=f"there: {there.length:.1f} minutes")
axes.plot(*corners[back.nodes].T, color=ORANGE, linewidth=2, linestyle="--", label=f"back: {back.length:.1f} minutes")
axes.scatter(*corners[[source, target]].T, color="black", zorder=3, s=45)
axes.annotate("start", corners[source], xytext=(-6, -14), textcoords="offset points", ha="right", weight="bold")
axes.annotate("end", corners[target], xytext=(8, 6), textcoords="offset points", weight="bold")
axes.set(aspect="equal", xticks=[], yticks=[])
axes.legend(loc="upper left", bbox_to_anchor=(0, -0.01), ncols=2, frameon=False)
plt.show()

# %% [markdown]
# ## The exact distances, all of them
#
# For a graph of this size, compute all distances. They are exact, and cheap.

# %%
graphs.all_distances(graphs.torus3d_directed(seed=0, side=3))  # compiles, which should not be timed
clock = time.perf_counter()
exact = graphs.all_distances(city)
print(f"{exact.size:,} exact distances in {time.perf_counter() - clock:.2f} s")
print(f"the way back differs by {np.abs(exact - exact.T)[exact > 0].mean():.2f} minutes on average")

# %% [markdown]
# ## Bounds from landmarks, without training
#
# A table of all pairs grows with the square of the number of nodes. For a large map, keep the distances to and from a
# few landmarks only. By the triangle inequality, these distances bound every other distance.

# %%
landmarks = graphs.choose_landmarks(city, 8 if small else 16)
pairs = graphs.random_pairs(city.num_nodes, 2000, seed=1)
lower, upper = graphs.landmark_bounds(landmarks, pairs)
truth = exact[pairs[:, 0], pairs[:, 1]]
print(f"{len(landmarks.nodes)} landmarks; the truth lies between the bounds for all of {len(pairs):,} pairs:", end=" ")
print(bool(np.all(lower <= truth + 1e-6) and np.all(truth <= upper + 1e-6)))

# %% [markdown]
# ## A learned distance
#
# `learn_graph` chooses landmarks that work well for trips of all lengths, starts with the distances to them, and trains
# these numbers on more such trips. On held-out pairs, it compares the result with the landmarks and with exact answers.
# The model takes no more memory than the landmarks.

# %%
learned = graphs.learn_graph(
    city, dim=32, sample=2000 if small else 60_000, epochs=epochs, unit="minutes", seed=0, progress="silent"
)
print(f"{'':<22}{'relative error':>15}{'too far':>9}{'bytes per node':>16}")
for row in learned.candidates:
    accuracy = row.accuracy
    print(
        f"{row.name:<22}{accuracy.mean_relative_error:>15.1%}{accuracy.over_estimated:>9.0%}{row.bytes_per_node:>16,}"
    )
print(f"triangle defect: {learned.audit.triangle_defect:.3g} in {learned.audit.triples:,} triples")

# %%
model = learned.model
predicted = model.distances(*(np.array(model.ids)[pairs[:, end]].tolist() for end in (0, 1))).numpy()
figure, panels = plt.subplots(1, 3, figsize=(10, 3.6), sharex=True, sharey=True, layout="constrained")
ways = {"landmarks from below": lower, "landmarks from above": upper, "learned": predicted}
for axes, (name, values), color in zip(panels, ways.items(), ("#E69F00", "#CC79A7", BLUE), strict=True):
    axes.scatter(truth, values, s=4, alpha=0.4, color=color)
    axes.plot([0, truth.max()], [0, truth.max()], color="black", linewidth=1)
    axes.set(title=f"{name}: {np.abs(values - truth).mean():.2f} min off", xlabel="true minutes")
panels[0].set(ylabel="predicted minutes", ylim=(0, 1.3 * truth.max()))
plt.show()

# %%
print("            truth   learned")
for name, (x, y) in {"there": (source, target), "back": (target, source)}.items():
    answer = model.distances([model.ids[x]], [model.ids[y]]).item()
    print(f"{name:<8}{exact[x, y]:>9.2f}{answer:>10.2f}")

# %% [markdown]
# ## Was it worth it?
#
# The verdict compares the model with both alternatives, the landmarks and the exact table:

# %%
print(learned.verdict)

# %% [markdown]
# Take this seriously. On a graph of a few thousand nodes, the exact table is the better choice. A learned distance pays
# off if the table no longer fits in memory: with hundreds of thousands of nodes, and many queries.
#
# ## Exact paths, found faster
#
# A learned distance may be too long, so A* must not use it directly. `learn_heuristic` learns *potentials*, and lowers
# them until no street is too steep: the potential never increases along a street by more than its length. `certify`
# checks every street. The paths stay exact; only the search is shorter.

# %%
sample = graphs.sample_pairs(
    city, 1000 if small else 5000, test=100, validation=100, paths=graphs.ShortestPaths(city, progress="silent")
)
heuristics = {
    "Dijkstra, no heuristic": None,
    "4 landmarks (ALT)": graphs.PotentialHeuristic.of_landmarks(landmarks.first(4)),
    "8 learned potentials": graphs.learn_heuristic(city, landmarks, sample, count=8, steps=steps),
}
queries = pairs[:200]
expanded = {name: graphs.count_expansions(city, queries, found).mean() for name, found in heuristics.items()}
for name, found in heuristics.items():
    holds = "" if found is None else f", admissible on all {city.num_arcs:,} arcs: {found.certify(city).holds}"
    print(f"{name:<24}{expanded[name]:>7.0f} nodes expanded per query{holds}")
lengths = [graphs.shortest_path(city, x, y, heuristics["8 learned potentials"]).length for x, y in queries.tolist()]
print(f"largest error of a path length: {np.abs(np.array(lengths) - truth[:200]).max():.1e} minutes")

# %% [markdown]
# Four landmarks, each with distances to and from it, take eight numbers per node, as many as the learned potentials.
#
# For a real map, `trimetric fit --graph city.osm.pbf -o city.safetensors` does all of this in one command.
#
# ## Next
#
# - [Value functions and planning](values_and_planning.py): when there is no map, only a log of steps.
# - [From a CSV to a distance](csv_to_distance.py): when there is only a table of distances.
