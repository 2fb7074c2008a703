# %% [markdown]
# # From a CSV to a distance
#
# After this tutorial you can learn a distance from a table of pairs, see where it is right and where it is wrong, and
# use it from Python.
#
# The table lists the minutes between the crossings of a small city. Its streets are one-way, and uphill takes longer,
# so the way back takes a different time than the way there.

# %%
import csv
import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import trimetric as tm
from trimetric.cli import main

small = os.environ.get("TRIMETRIC_SMALL") == "1"  # a short run, for tests
epochs = 3 if small else 100

folder = Path(tempfile.mkdtemp()) / "city"
main(["example", "--output", str(folder), "--quiet"])  # in a shell: trimetric example
print("\n".join((folder / "pairs.csv").read_text().splitlines()[:5]))

# %% [markdown]
# Each row is an ordered pair: `from`, `to`, and the minutes. A table of your own needs no more than that.

# %%
with (folder / "pairs.csv").open() as file:
    rows = list(csv.DictReader(file))
pairs = [(row["from"], row["to"]) for row in rows]
minutes = np.array([float(row["distance"]) for row in rows])
time_of = dict(zip(pairs, minutes, strict=True))

print(f"{len(pairs):,} pairs, {minutes.min():.1f} to {minutes.max():.1f} minutes")
print(f"A1 to H8: {time_of['A1', 'H8']:.1f} minutes, and back: {time_of['H8', 'A1']:.1f}")

# %% [markdown]
# ## Learn, with three heads
#
# `tm.learn_pairs` holds out a share of the pairs, trains on the others, measures the errors and audits the result.
# Here 30 % are held out. Both directions of a pair are held out together, because one direction would reveal much about
# the other.
#
# The head is the distance between the learned points. `"wide"` is the default. `"euclidean"` cannot distinguish the two
# directions. `"mlp"` is an unconstrained network, which promises nothing.

# %%
heads = ("wide", "euclidean", "mlp")
learned = {
    head: tm.learn_pairs(
        pairs, minutes, head=head, validation=0.3, epochs=epochs, unit="minutes", seed=0, progress="silent"
    )
    for head in heads
}
held_out = learned["wide"].split.held_out  # the same rows for all heads, as the seed is the same
print(f"{len(pairs) - len(held_out):,} pairs to train on, {len(held_out):,} held out")

# %% [markdown]
# ## Truth and prediction
#
# All points below are held-out pairs. On the gray line, the prediction is exact.

# %%
COLORS = {"wide": "#0072B2", "euclidean": "#E69F00", "mlp": "#CC79A7"}  # for color-blind readers too
asked = [pairs[row] for row in held_out]
truth = minutes[held_out]
predicted = {head: found.model.distances(*zip(*asked, strict=True)).numpy() for head, found in learned.items()}

figure, panels = plt.subplots(1, 3, figsize=(10, 3.6), sharex=True, sharey=True, layout="constrained")
for axes, (head, values) in zip(panels, predicted.items(), strict=True):
    axes.plot([0, truth.max()], [0, truth.max()], color="gray", linewidth=1, zorder=3)
    axes.scatter(truth, values, s=6, alpha=0.5, color=COLORS[head])
    axes.set(title=f"{head}: {np.abs(values / truth - 1).mean():.0%} off on average", xlabel="true minutes")
panels[0].set_ylabel("predicted minutes")
plt.show()

# %%
there_and_back = [(x, y) for x, y in asked if x < y][:: max(1, len(asked) // 10)]
print(f"{'':<10}{'truth':>16}", *(f"{head:>16}" for head in heads))
for x, y in there_and_back:
    both = [learned[head].model.distances([x, y], [y, x]).tolist() for head in heads]
    cells = [f"{there:.1f} / {back:.1f}" for there, back in ([time_of[x, y], time_of[y, x]], *both)]
    print(f"{x} - {y:<5}", *(f"{cell:>16}" for cell in cells))

# %% [markdown]
# Each cell is "there / back". The Euclidean model gives the same number for both.
#
# ## A baseline without learning
#
# A path through known pairs is also a way to travel. So the shortest path over the pairs of the training set is an
# upper bound for each held-out pair, and needs no training. Always compare a new model with it.

# %%
number = {name: i for i, name in enumerate(learned["wide"].model.ids)}
known = np.full((len(number), len(number)), np.inf)
np.fill_diagonal(known, 0)
for row in learned["wide"].split.train:
    x, y = pairs[row]
    known[number[x], number[y]] = minutes[row]
closed = tm.nearness.closure(known)  # all shortest paths
predicted["shortest path"] = np.array([closed[number[x], number[y]] for x, y in asked])

print(f"{'on held-out pairs':<20}{'mean error':>12}{'relative':>10}")
for name, values in predicted.items():
    print(f"{name:<20}{np.abs(values - truth).mean():>8.2f} min{np.abs(values / truth - 1).mean():>10.1%}")

# %% [markdown]
# ## Errors by distance
#
# An average hides the short distances. Here they are, as `learn_pairs` measures them for the wide head:

# %%
print("\n".join(learned["wide"].errors.table()))

# %%
groups = np.array_split(np.argsort(truth), 8)  # from the shortest eighth to the longest
middle = [truth[group].mean() for group in groups]
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
styles = zip([*COLORS.values(), "black"], ["o", "s", "^", "x"], strict=True)
for (name, values), (color, marker) in zip(predicted.items(), styles, strict=True):
    errors = [np.abs(values[group] - truth[group]).mean() for group in groups]
    axes.plot(middle, errors, color=color, marker=marker, label=name)
axes.set(xlabel="true minutes", ylabel="mean error in minutes", ylim=(0, None))
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %% [markdown]
# The shortest paths over known pairs are hard to beat for long distances, where many known detours are exact. They
# fail for neighbors: without the street itself, only a long way around is left. The learned distance is accurate to
# within a fraction of a minute almost everywhere, but its relative error is largest for neighbors as well. If neighbors
# matter most to you, use `loss="relative"`, which weighs the relative errors of all distances equally.
#
# ## Audit
#
# A model that says "A to C takes 20 minutes, A to B takes 5 and B to C takes 5" is of no use to a planner. The audit
# looks for such triples among all crossings.

# %%
audits = {head: tm.audit(found.model.network, found.model.objects()) for head, found in learned.items()}
for head, audit in audits.items():
    print(f"{head:<10} triangle defect: {audit.triangle_defect:.3g} minutes in {audit.triples:,} triples")

# %%
worst = audits["mlp"].worst_triple
if worst is not None:
    model = learned["mlp"].model
    x, y, z = (model.ids[i] for i in worst)
    direct, first, second = model.distances([x, x, y], [z, y, z]).tolist()
    print(f"mlp: {x} to {z} takes {direct:.1f} minutes, but {first:.1f} + {second:.1f} through {y}")

# %% [markdown]
# ## Use it
#
# A model is one file. It predicts single pairs, all pairs, and the nearest objects in either direction.

# %%
file = folder / "model.safetensors"
learned["wide"].model.save(file)
model = tm.Model.load(file)

matrix = model.all_pairs()
print(f"all pairs: {tuple(matrix.shape)}, D4 to E5: {model.distances(['D4'], ['E5']).item():.1f} minutes")
order = matrix[model.ids.index("D4")].argsort()[1:4].tolist()
print("nearest to D4:", ", ".join(f"{model.ids[i]} ({time_of['D4', model.ids[i]]:.1f})" for i in order))

# %% [markdown]
# The true minutes are in parentheses. In a shell, the same job is three commands:
#
# ```sh
# trimetric example
# trimetric fit city/pairs.csv -o city/model.safetensors --validation 0.3
# trimetric predict city/model.safetensors --from D4 --nearest 3
# ```
#
# ## Next
#
# - [A city with one-way streets](one_way_city.py): when you have the streets, and not a table of distances.
# - [Repair a matrix](repair_a_matrix.py): when all distances are known, but some are wrong.
