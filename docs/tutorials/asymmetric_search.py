# %% [markdown]
# # Which hospital reaches me fastest?
#
# After this tutorial you can find exact nearest neighbors with a distance that is not symmetric, in both directions,
# without comparing each query with every point. You can also cluster by such a distance.
#
# It needs `pip install 'trimetric[graphs,sklearn]'`.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits

import trimetric as tm

small = os.environ.get("TRIMETRIC_SMALL") == "1"  # a short run, for tests
side, epochs = (10, 2) if small else (40, 8)
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#B0B0B0"

# %% [markdown]
# ## A city on a hill
#
# The city is a grid of streets. Uphill takes three times as long as downhill, and every second street is one-way. So
# the hospital from which an ambulance reaches you fastest need not be the one that you reach fastest.

# %%
random = np.random.default_rng(0)
corner = np.stack([np.arange(side**2) % side, np.arange(side**2) // side], axis=1)
height = np.exp(-((corner / side - 0.5) ** 2).sum(axis=1) / 0.08)
arcs = []
for here in range(side**2):
    x, y = corner[here]
    for line, there in ((y, here + 1 if x + 1 < side else None), (x, here + side if y + 1 < side else None)):
        if there is None:
            continue
        for start, end in ((here, there), (there, here)):
            if line % 4 == 1 and start > end and 0 < line < side - 1:
                continue  # a one-way street
            climb = max(0.0, height[end] - height[start])
            arcs.append((start, end, random.uniform(0.8, 1.2) * (1 + 3 * side * climb / 10)))
tails, heads, minutes = map(np.array, zip(*arcs, strict=True))
city = tm.graphs.Graph.from_arcs(side**2, tails, heads, minutes, directed=True).connected()
learned = tm.graphs.learn_graph(city, dim=16, epochs=epochs, sample=3000 if small else 60_000, progress="silent")
points, distance = learned.model.embed(), learned.model.network.head.requires_grad_(False)
print(f"mean relative error of the learned distance: {learned.candidates[0].accuracy.mean_relative_error:.1%}")

# %% [markdown]
# ## From me, or to me
#
# An index holds the hospitals. `direction="from"` measures distances from the query to the points, `direction="to"`
# distances from the points to the query. One index answers both, and both answers are exact for the learned distance.

# %%
hospitals = torch.from_numpy(random.choice(side**2, side // 2, replace=False))
index = tm.search.Index(distance, points[hospitals])
to_hospital = index.nearest(points, k=1)
ambulance = index.nearest(points, k=1, direction="to")
differ = (to_hospital.ids != ambulance.ids).float().mean()
print(f"at {differ:.0%} of the corners, the hospital that you reach first is not the one that reaches you first")

figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for axis, found, title in zip(
    axes, (to_hospital, ambulance), ("which do I reach first?", "which reaches me first?"), strict=True
):
    axis.scatter(*corner.T, c=found.ids[:, 0], cmap="tab20", s=22, marker="s")
    axis.scatter(*corner[hospitals].T, color="black", marker="P", s=70)
    axis.set(title=title, aspect="equal", xticks=[], yticks=[])
plt.show()

# %% [markdown]
# ## What is skipped
#
# With all corners in the index, the triangle inequality excludes most of them for each query. The answer is the same
# as by comparing with all.

# %%
everything = tm.search.Index(distance, points, leaf_size=32)
queries = points[::7]
found = everything.nearest(queries, k=5)
exact = tm.all_pairs(distance, queries, points).topk(5, largest=False).values
pairs = len(queries) * len(points)
print(f"{found.skipped / pairs:.0%} of {pairs:,} comparisons skipped")
print(f"same distances as by comparing with all: {torch.allclose(found.distances, exact, rtol=1e-5, atol=1e-6)}")

# %% [markdown]
# `within` finds all corners that can be reached in a given time.

# %%
minutes = 4 * float(exact.mean())
reach = everything.within(points[:1], minutes)
print(f"{int(reach.counts[0])} corners within {minutes:.1f} minutes, the farthest at {float(reach.distances[-1]):.1f}")

# %% [markdown]
# ## Where to build hospitals
#
# `k_medoids` places a few hospitals so that ambulances are fast on average. `k_center` keeps the longest way short.

# %%
for name, place in (("k_center", tm.search.k_center), ("k_medoids", tm.search.k_medoids)):
    chosen = place(distance, points, 6)
    print(f"{name:9}  mean {chosen.cost / len(points):5.2f} minutes, longest {chosen.radius:5.2f} minutes")

# %% [markdown]
# ## Images
#
# The same kind of index works for handwritten digits. Here the distance is a metric, and the nearest known image
# determines the digit.

# %%
digits, labels = load_digits(return_X_y=True)
images, labels = torch.tensor(digits / 16, dtype=torch.float32), torch.tensor(labels)
known, asked = images[:1400], images[1400 : 1400 + (50 if small else 397)]
search = tm.search.Index(tm.Euclidean(64), known, leaf_size=64)
near = search.nearest(asked, k=1)
right = (labels[near.ids[:, 0]] == labels[1400 : 1400 + len(asked)]).float().mean()
print(
    f"{right:.1%} of the digits recognized, {near.skipped / (len(asked) * len(known)):.0%} of the comparisons skipped"
)

# %% [markdown]
# In 64 dimensions the bounds exclude little, and the index compares with all points if that is cheaper. The index
# refuses a distance that breaks the triangle inequality, and names the points that break it.

# %%
try:
    tm.search.Index(lambda x, y: (x - y).square().sum(-1), images)
except ValueError as error:
    print(error)

# %% [markdown]
# ## Next
#
# - [Find nearest neighbors](../howto/find-neighbors.md): a shorter version, with files and commands.
# - [Why the answers are exact](../exact-search.md): the bounds, and rounding.
# - [Evidence](../evidence/search.md): how fast it is, and where it is not.
