# %% [markdown]
# # A regressor becomes a metric
#
# After this tutorial you can turn any function of two objects, such as a gradient-boosted regressor, into a distance
# that keeps the triangle inequality, and use it where only such a distance is safe.
#
# The function here predicts the minutes of a trip from the coordinates of its ends. It was trained on noisy trips,
# knows nothing about the triangle inequality, and is a black box: we only call `predict`.
#
# It needs `pip install 'trimetric[sklearn]'`.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingRegressor

import trimetric as tm

small = os.environ.get("TRIMETRIC_SMALL") == "1"  # a short run, for tests
trips, rounds, count, steps = (500, 20, 60, 50) if small else (5_000, 200, 300, 2_000)
random = np.random.default_rng(0)


def true_minutes(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Four minutes to set off and park, then streets along a grid; up the hill in the north takes longer."""
    east, north = np.abs(end - start).T
    uphill = np.maximum(end[:, 1] - start[:, 1], 0)
    return 4 + 15 * east + 15 * north + 12 * uphill


def random_trips(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start, end and measured minutes of trips between random places of the unit square."""
    start, end = random.uniform(size=(2, count, 2))
    return start, end, true_minutes(start, end) * np.exp(0.3 * random.standard_normal(count))


start, end, measured = random_trips(trips)
regressor = HistGradientBoostingRegressor(max_iter=rounds, random_state=0).fit(np.hstack([start, end]), measured)


def minutes(x: torch.Tensor, y: torch.Tensor) -> np.ndarray:
    """The black box: two batches of places in, one number for each pair out."""
    return regressor.predict(np.hstack([x.numpy(), y.numpy()]))


places = torch.from_numpy(random.uniform(size=(count, 2))).float()

# %% [markdown]
# ## Is it a metric already?
#
# `tm.audit` checks all triples. Always check first: a function that keeps the inequality needs no repair.

# %%
before = tm.audit(tm.FunctionDistance(minutes, 2), places)
print(f"the regressor: triangle defect {before.triangle_defect:.2f} minutes on {before.triples:,} triples")
x, y, z = (places[i : i + 1] for i in before.worst_triple)
print(
    f"a trip of {minutes(x, z)[0]:.1f} minutes takes {minutes(x, y)[0] + minutes(y, z)[0]:.1f} with a stop on the way"
)

# %% [markdown]
# ## Make it one
#
# `tm.metrize` trains a quasimetric $B$ to stay close to $f$. It draws fresh pairs of places and evaluates $f$ on them.
# Then it clamps $f$ to the **corridor** between $B + c$ and $B + 2c$:
#
# $$d(x, y) = \mathrm{clamp}(f(x, y),\; B(x, y) + c,\; B(x, y) + 2c) \quad (x \ne y), \qquad d(x, x) = 0.$$
#
# One step costs at most $B(x, z) + 2c$; two cost at least $B(x, y) + c + B(y, z) + c$, which is no less. So $d$ keeps
# the inequality whatever $f$ does. Trips with known minutes are used to choose $c$, and to measure the errors before
# and after.

# %%
torch.manual_seed(0)
start, end, known = random_trips(2_000)
ends = torch.arange(4_000).view(2, 2_000).T  # the i-th pair is from row i to row 2,000 + i
objects = torch.cat([torch.from_numpy(start), torch.from_numpy(end)]).float()
result = tm.metrize(
    minutes,
    objects,
    pairs=ends,
    targets=torch.from_numpy(true_minutes(start, end)).float(),
    config=tm.DistillationConfig(steps=steps, batch_size=512),
    progress="silent",
    warn=False,  # the report says the same
)
print(result.report)
distance = result.distance
after = tm.audit(distance, places)  # places that were not among the objects
print(f"the metric: triangle defect {after.triangle_defect:g} on {after.triples:,} triples")

# %% [markdown]
# ## The picture
#
# The report warns that most values were clamped. This brought them nearer to the known minutes, because the regressor
# is noisy, and the base, a smooth quasimetric, does not follow the noise. With an accurate function, the accuracy would
# hardly change; only the guarantee would be new.
#
# Left: pairs of places, sorted by $B$. Values of $f$ (gray) in the corridor do not change; those outside move
# to its edge (blue). Right: the worst triangle of the regressor, before and after.

# %%
with torch.no_grad():
    rows = torch.randint(len(places), (2, 250), generator=torch.Generator().manual_seed(0))
    pairs = places[rows[0]], places[rows[1]]
    base, repaired = result.base(*pairs), distance(*pairs)
    worst = [distance(a, b).item() for a, b in ((x, z), (x, y), (y, z))]
apart = rows[0] != rows[1]
order = base[apart].argsort()
base, repaired, raw = (v[apart][order] for v in (base, repaired, torch.from_numpy(minutes(*pairs))))
floor, place = result.report.floor, np.arange(len(order))

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), width_ratios=(3, 2), layout="constrained")
left.fill_between(place, base + floor, base + 2 * floor, color="#CFE5F5", label="corridor, B + c to B + 2c")
left.plot(place, base, color="#56B4E9", linewidth=1, label="base B")
left.scatter(place, raw, s=9, color="#767676", label="f, the regressor")
moved = (repaired - raw).abs() > 1e-4
left.scatter(place[moved], repaired[moved], s=12, color="#0072B2", label="d, where it differs from f")
left.set(xlabel="pairs, sorted by B", ylabel="minutes", title="f in its corridor")
left.legend(loc="upper left", fontsize=8)
values = [minutes(a, b)[0] for a, b in ((x, z), (x, y), (y, z))]
for position, (direct, first, second) in enumerate((values, worst)):
    right.bar(3 * position, direct, color="#D55E00" if direct > first + second else "#009E73")
    right.bar(3 * position + 1, first, color="#A6A6A6")
    right.bar(3 * position + 1, second, bottom=first, color="#767676")
    right.text(3 * position, direct, f"{direct:.1f}", ha="center", va="bottom")
    right.text(3 * position + 1, first + second, f"{first + second:.1f}", ha="center", va="bottom")
labels = [f"{name}({path})" for name in "fd" for path in ("x, z", "x, y, z")]
right.set_xticks([0, 1, 3, 4], labels)
right.set(ylabel="minutes", title="the worst triangle: direct, and through y")
plt.show()

# %% [markdown]
# ## Compare with the exact answer
#
# For a finite set of places, `tm.nearness.nearest_metric` finds the metric that changes the values least. The report
# includes this smallest change, so that you see how much of the clamping was necessary. The nearest metric changes the
# values far less, but it keeps as much of the noise as the triangle inequality allows, and covers only these places.

# %%
matrix = tm.all_pairs(tm.FunctionDistance(minutes, 2), places).double().fill_diagonal_(0)
nearest = tm.nearness.nearest_metric(matrix.numpy(), tolerance=1e-3).matrix
truth = true_minutes(places.numpy()[:, None].repeat(count, 1).reshape(-1, 2), np.tile(places.numpy(), (count, 1)))
different = ~np.eye(count, dtype=bool)
with torch.no_grad():
    found = {
        "the regressor": matrix.numpy(),
        "its nearest metric": nearest,
        "the metric": tm.all_pairs(distance, places),
    }
for name, values in found.items():
    off = (np.asarray(values) - truth.reshape(count, count))[different]
    changed = (np.asarray(values) - matrix.numpy())[different]
    print(f"{name}: mean squared error {np.mean(off**2):.2f}, mean squared change {np.mean(changed**2):.2f}")

# %% [markdown]
# ## What it is good for
#
# **Search with pruning.** Which places are within nine minutes? A pivot $l$ with known distances gives the bound
# $d(q, p) \ge d(q, l) - d(p, l)$, so most distances need not be computed. The bound follows from the triangle
# inequality: for the regressor it is false, and pruning silently loses places.

# %%
limit, pivots = 9.0, places[:24]
with torch.no_grad():
    for name, measure in {"the regressor": tm.FunctionDistance(minutes, 2), "the metric": distance}.items():
        full = tm.all_pairs(measure, places)
        to_pivot = tm.all_pairs(measure, places, pivots)
        bound = (to_pivot[:, None, :] - to_pivot[None, :, :]).amax(dim=-1)  # of d(q, p), for all q and p
        asked = bound <= limit
        lost = int(((full <= limit) & ~asked).sum())
        print(f"pruned by {name}: {1 - asked.float().mean():.0%} of the questions saved, {lost} places missed")

# %% [markdown]
# **Clustering with a guarantee.** Greedy k-center, which opens the next depot where the longest trip ends, is at most
# twice as bad as the best choice of depots. The proof uses the triangle inequality, so it holds for the metric (made
# symmetric by taking the longer of both directions), but not for the regressor.

# %%
with torch.no_grad():
    there = tm.all_pairs(distance, places)
both = torch.maximum(there, there.T)
depots = [0]
while len(depots) < 6:
    depots.append(int(both[:, depots].amin(dim=1).argmax()))
reach = both[:, depots].amin(dim=1)
print(f"6 depots: every place within {reach.max():.1f} minutes; no 6 depots can do better than {reach.max() / 2:.1f}")

figure, axes = plt.subplots(figsize=(5, 4.2), layout="constrained")
image = axes.scatter(*places.T, c=reach, s=14, cmap="viridis")
axes.scatter(*places[depots].T, marker="*", s=160, color="#D55E00")
axes.set(title="six depots and the minutes to the nearest", xlabel="east", ylabel="north")
figure.colorbar(image, label="minutes, the longer way")
plt.show()

# %% [markdown]
# ## The price
#
# No two different places are closer than the floor $c$. That is right here, because every trip takes at least four
# minutes, but it would be wrong for neighbors on one street. The report warns if many pairs are below the floor.
# `tm.distil` trains a metric on the same fresh pairs instead; it has no floor, but follows $f$ a little less closely.
#
# ## Next
#
# - [Below the floor](../metrize.md): why the floor is there, what was tried to lower it, and when to distil instead.
# - [Repair a matrix](repair_a_matrix.py): for a complete matrix, the nearest metric is exact and has no floor.
