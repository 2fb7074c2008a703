# %% [markdown]
# # Repair a matrix
#
# After this tutorial you can turn a matrix of noisy distances into the nearest one that keeps the triangle inequality,
# and prove how near it is.
#
# The matrix is synthetic, so that the truth is known: 60 places in a plane. Each distance was measured once, with an
# error of about 10 %, and 2 % of the entries lack a digit.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np

import trimetric as tm

small = os.environ.get("TRIMETRIC_SMALL") == "1"  # a short run, for tests
count = 15 if small else 60

random = np.random.default_rng(0)
places = random.uniform(0, 10, (count, 2))
truth = np.linalg.norm(places[:, None] - places[None], axis=-1)
measured = truth * np.exp(0.1 * random.standard_normal(truth.shape))
measured = np.where(random.random(truth.shape) < 0.02, measured / 10, measured)
measured = np.triu(measured, 1) + np.triu(measured, 1).T  # the same in both directions

largest, broken = tm.nearness.violations(measured)
print(f"{broken:,} of {count**3:,} ordered triples break the triangle inequality, by up to {largest:.2f}")

# %% [markdown]
# ## Why it matters
#
# Search trees, bounds and most clustering methods rely on the triangle inequality. Where it fails, they give wrong
# answers without a warning. An example from the matrix above:

# %%
detours = measured[:, :, None] + measured[None, :, :]  # from i through j to k
i, j, k = np.unravel_index((measured[:, None, :] - detours).argmax(), detours.shape)
print(f"from {i} to {k}: {measured[i, k]:.2f}   (true: {truth[i, k]:.2f})")
print(f"through {j}: {measured[i, j]:.2f} + {measured[j, k]:.2f} = {detours[i, j, k]:.2f}")

# %% [markdown]
# ## Repair it
#
# `nearest_metric` finds the metric with the smallest sum of squared changes. The result breaks no triangle at all, in
# floating point, without a tolerance.

# %%
result = tm.nearness.nearest_metric(measured, symmetric=True)
print(tm.nearness.repair_report(result, measured))
print(
    f"is a metric: {tm.nearness.is_metric(result.matrix)}, broken triples: {tm.nearness.violations(result.matrix)[1]}"
)

# %% [markdown]
# ## The certificate
#
# The metrics form a convex cone, so the solver can prove a lower bound: no metric of any kind has a smaller sum of
# squared changes. The gap between the bound and the result is the largest possible improvement.

# %%
print(f"sum of squared changes: {result.objective:.6f}")
print(f"no metric has less than {result.lower_bound:.6f}")
print(f"relative gap:           {result.gap:.1e}, found in {result.seconds:.2f} s")

# %% [markdown]
# ## The usual shortcut
#
# The well-known repair replaces each distance by the shortest path over the matrix (Floyd-Warshall). It is exact and
# fast, and it is a metric. But it can only *lower* entries. One entry that is far too short becomes a shortcut for
# all others.

# %%
closure = tm.nearness.closure(measured, symmetric=True)
off_diagonal = ~np.eye(count, dtype=bool)


def error(one: np.ndarray, other: np.ndarray) -> float:
    """The root of the mean squared difference between the entries of two matrices."""
    return float(np.sqrt(np.mean((one - other)[off_diagonal] ** 2)))


print(f"{'RMS difference':<16}{'to the measurements':>20}{'to the truth':>16}{'metric':>9}")
for name, matrix in {"measurements": measured, "shortest paths": closure, "nearest metric": result.matrix}.items():
    metric = "yes" if tm.nearness.is_metric(matrix) else "no"
    print(f"{name:<16}{error(matrix, measured):>20.3f}{error(matrix, truth):>16.3f}{metric:>9}")

# %% [markdown]
# The repair does not know the true distances. Still, its result is closer to them than the measurements, because most
# of the noise pointed out of the cone of metrics.
#
# ## What changed

# %%
figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.5), sharey=True, layout="constrained")
reach = truth.max()
changes = {
    "truth": truth - measured,
    "shortest paths": closure - measured,
    "nearest metric": result.matrix - measured,
}
for axes, (name, change) in zip(panels, changes.items(), strict=True):
    image = axes.imshow(change, cmap="RdBu_r", vmin=-reach, vmax=reach, interpolation="nearest")
    axes.set(title=f"{name} - measurements", xlabel="to")
panels[0].set_ylabel("from")
figure.colorbar(image, ax=panels, shrink=0.9, label="change of the distance")
plt.show()

# %% [markdown]
# The left panel is what a perfect repair would do: raise the entries that lost a digit (dark red), and little else.
# The nearest metric finds them. The shortest paths lower everything around them instead.

# %%
figure, panels = plt.subplots(1, 3, figsize=(10, 3.5), sharex=True, sharey=True, layout="constrained")
colors = ("#767676", "#E69F00", "#0072B2")
matrices = {"measurements": measured, "shortest paths": closure, "nearest metric": result.matrix}
for axes, (name, matrix), color in zip(panels, matrices.items(), colors, strict=True):
    axes.scatter(truth[off_diagonal], matrix[off_diagonal], s=4, alpha=0.4, color=color)
    axes.plot([0, reach], [0, reach], color="black", linewidth=1)
    axes.set(title=f"{name}: RMS error {error(matrix, truth):.2f}", xlabel="true distance")
panels[0].set_ylabel("distance in the matrix")
plt.show()

# %% [markdown]
# ## Missing entries, and entries that you trust
#
# Mark unknown entries by NaN. They are filled in with the longest distances that the other entries allow. Weights say
# how much each measurement counts. Here a fifth of the entries are missing, and the distances between the first ten
# places were measured with care.

# %%
holes = measured.copy()
unknown = np.triu(random.random(truth.shape) < 0.2, 1)
holes[unknown | unknown.T] = np.nan
weights = np.ones_like(measured)
weights[:10, :10] = 100.0
holes[:10, :10] = truth[:10, :10]

filled = tm.nearness.nearest_metric(holes, symmetric=True, weights=weights, missing="nan")
gap = np.isnan(holes)
print(f"{int(gap.sum())} entries filled in, {error(filled.matrix, truth):.3f} from the truth over all entries")
print(f"of the trusted entries, the largest change is {np.abs(filled.matrix - truth)[:10, :10].max():.3f}")
print(f"broken triples: {tm.nearness.violations(filled.matrix)[1]}, relative gap {filled.gap:.1e}")

# %% [markdown]
# In a shell, `trimetric repair D.csv -o X.npy --symmetric --picture change.png` does the same, and draws the picture.
#
# When is this *not* worth it? If every error makes a distance longer, the shortest paths are the better repair, because
# they only shorten distances.
#
# ## Next
#
# - [From a CSV to a distance](csv_to_distance.py): predict the distances of pairs that were never measured.
# - [A city with one-way streets](one_way_city.py): distances of a graph, exact and learned.
