# %% [markdown]
# # A first distance
#
# After this tutorial you can train a distance that keeps the triangle inequality, and check that it does.
#
# The example is a graph with four nodes that no Euclidean space can represent.

# %%
import math
import os

import matplotlib.pyplot as plt
import torch
from torch import nn

import trimetric as tm

small = os.environ.get("TRIMETRIC_SMALL") == "1"  # a short run, for tests
steps = 100 if small else 1500
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#767676"

# %% [markdown]
# ## The graph
#
# A and D are each 1 away from both B and C. B and C are 2 apart, and so are A and D.

# %%
NAMES = "ABCD"
distances = torch.tensor([[0.0, 1, 1, 2], [1, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]])
places = {"A": (0, 1), "B": (-1, 0), "C": (1, 0), "D": (0, -1)}

figure, axes = plt.subplots(figsize=(3.4, 3.4), layout="constrained")
for first, second in ("AB", "AC", "DB", "DC"):
    (x0, y0), (x1, y1) = places[first], places[second]
    axes.plot([x0, x1], [y0, y1], color=GRAY, linewidth=2)
    axes.text(0.62 * (x0 + x1), 0.62 * (y0 + y1), "1", ha="center", va="center", fontsize=12)
for name, (x, y) in places.items():
    axes.scatter(x, y, s=500, color=BLUE, zorder=2)
    axes.text(x, y, name, color="white", ha="center", va="center", fontsize=13, weight="bold")
axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal", title="four streets, each of length 1")
axes.axis("off")
plt.show()

# %% [markdown]
# In a Euclidean space of any dimension, a point that is 1 away from both B and C lies exactly halfway between them.
# So A and D would be the same point, but they are 2 apart. The best compromise is a square. Its mean squared error over
# the six pairs is (3 - 2 sqrt 2) / 3, and no Euclidean embedding does better.

# %%
floor = (3 - 2 * math.sqrt(2)) / 3
print(f"the smallest possible mean squared error of a Euclidean space: {floor:.4f}")

# %% [markdown]
# ## Train three distances
#
# A model has two parts: an encoder, which maps an object to a point, and a distance between points.
# `tm.Siamese` joins them, and `tm.fit` trains both on pairs.
#
# - The **Euclidean** norm keeps the triangle inequality, but has only one shape.
# - A **Wide Norm** keeps it too, and learns its shape.
# - An **MLP** of both points can learn any function, but guarantees nothing.


# %%
def train(distance: tm.Distance, dim: int, seed: int) -> tm.Siamese:
    """Train a linear embedding of the four nodes, together with the distance between the points."""
    torch.manual_seed(seed)
    model = tm.Siamese(nn.Linear(4, dim, bias=False), distance)
    config = tm.TrainingConfig(epochs=steps, batch_size=6, learning_rate=0.02)
    tm.fit(model, pairs, targets, objects=nodes, config=config, progress="silent")
    return model


nodes = torch.eye(4)  # each node is a one-hot vector
pairs = torch.triu_indices(4, 4, offset=1).mT.contiguous()  # AB, AC, AD, BC, BD, CD
targets = distances[pairs[:, 0], pairs[:, 1]]

torch.manual_seed(0)
models = {
    "Euclidean": train(tm.NormInduced(tm.Euclidean(2)), dim=2, seed=0),
    "Wide Norm": train(tm.NormInduced(tm.WideNorm(2, components=16, width=2, symmetric=True)), dim=2, seed=0),
    "MLP": train(tm.MLPDistance(2, widths=(32, 32)), dim=2, seed=0),
}

# %% [markdown]
# ## Truth and prediction

# %%
with torch.no_grad():
    predictions = {name: model(nodes[pairs[:, 0]], nodes[pairs[:, 1]]) for name, model in models.items()}

print(f"{'pair':<6}{'truth':>8}", *(f"{name:>12}" for name in models))
for row, (i, j) in enumerate(pairs.tolist()):
    print(f"{NAMES[i]}-{NAMES[j]:<4}{targets[row]:>8.0f}", *(f"{found[row]:>12.3f}" for found in predictions.values()))
print(f"{'MSE':<14}", *(f"{(found - targets).square().mean():>12.4f}" for found in predictions.values()))

# %% [markdown]
# The error of the Euclidean model stays at or above its lower bound. The Wide Norm and the MLP fit the six distances.
#
# More dimensions do not help the Euclidean model:

# %%
for dim in (2, 3, 10):
    wider = train(tm.NormInduced(tm.Euclidean(dim)), dim=dim, seed=0)
    with torch.no_grad():
        mse = (wider(nodes[pairs[:, 0]], nodes[pairs[:, 1]]) - targets).square().mean()
    print(f"Euclidean in {dim:>2} dimensions: MSE {mse:.4f}   (floor {floor:.4f})")

# %% [markdown]
# ## What the Wide Norm has learned
#
# The solid line is everything at distance 1 from A, the dashed line everything at distance 2. The Euclidean ball is
# round. The Wide Norm has learned a ball with corners, in which B and C are 1 away from A, and D is 2 away.

# %%
turn = torch.linspace(0, 2 * math.pi, 361)
directions = torch.stack([turn.cos(), turn.sin()], dim=1)

figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained")
for axes, name in zip(panels, ("Euclidean", "Wide Norm"), strict=True):
    with torch.no_grad():
        points = models[name].encoder(nodes)
        points = points - points[0]  # A is the center
        ball = directions / models[name].distance(torch.zeros(2), directions).unsqueeze(1)
    axes.plot(ball[:, 0], ball[:, 1], color=ORANGE, label="distance 1 from A")
    axes.plot(2 * ball[:, 0], 2 * ball[:, 1], color=ORANGE, linestyle="--", label="distance 2 from A")
    axes.scatter(points[:, 0], points[:, 1], color=BLUE, s=50, zorder=3)
    for node, (x, y) in zip(NAMES, points.tolist(), strict=True):
        axes.annotate(node, (x, y), xytext=(6, 6), textcoords="offset points", color=BLUE, fontsize=13, weight="bold")
    axes.set(title=name, aspect="equal", xticks=[], yticks=[])
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
plt.show()

# %% [markdown]
# ## Audit the promise
#
# The MLP has fitted the six pairs as well. Its distances between *other* points are another matter. `tm.audit` measures
# every triple x, y, z of the given points: how much longer than the detour through y is the direct way from x to z?
# The points here are the four nodes, and 200 points around them.

# %%
cloud = torch.randn(200, 2, generator=torch.Generator().manual_seed(0))
for name, model in models.items():
    with torch.no_grad():
        points = model.encoder(nodes)
    report = tm.audit(model.distance, torch.cat([points, cloud * points.std()]))
    print(f"{name:<10} triangle defect: {report.triangle_defect:.3g} in {report.triples:,} triples; {report.verdict}")

# %% [markdown]
# The zeros are neither luck nor the result of training. They hold for *every* value of the weights. If you edit the
# weights by hand, you break the fit, but not the guarantee:

# %%
edited = models["Wide Norm"]
with torch.no_grad():
    for weight in edited.distance.parameters():
        weight.add_(torch.randn_like(weight))
    spoiled = (edited(nodes[pairs[:, 0]], nodes[pairs[:, 1]]) - targets).square().mean()
report = tm.audit(edited.distance, cloud)
print(f"after random edits: MSE {spoiled:.2f}, triangle defect: {report.triangle_defect:.3g}")

# %% [markdown]
# ## Next
#
# - [From a CSV to a distance](csv_to_distance.py): a table of travel times, in which the way back differs.
# - [Repair a matrix](repair_a_matrix.py): fix distances that break the triangle inequality.
