# %% [markdown]
# # Labels and triplets
#
# After this tutorial you can train a distance from labels with pytorch-metric-learning, and from triplets with plain
# PyTorch, symmetric or not.
#
# The objects are scikit-learn's pictures of handwritten digits, of 8 x 8 pixels.
#
# It needs `pip install 'trimetric[metric-learning,sklearn]'`.

# %%
import os

import matplotlib.pyplot as plt
import torch
from pytorch_metric_learning import losses, miners
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor, nn

import trimetric as tm
from trimetric.integrations.pytorch_metric_learning import TriangleDistance

small = os.environ.get("TRIMETRIC_SMALL") == "1"  # a short run, for tests
label_steps, triplet_steps = (5, 20) if small else (300, 1500)

pictures, digits = load_digits(return_X_y=True)
pictures = torch.tensor(pictures / 16, dtype=torch.float32)  # 0 is paper, 1 is ink
digits = torch.tensor(digits)

figure, panels = plt.subplots(1, 10, figsize=(9, 1.3), layout="constrained")
for axes, picture, digit in zip(panels, pictures, digits, strict=False):
    axes.imshow(picture.view(8, 8).numpy(), cmap="gray_r")
    axes.set(title=str(digit.item()), xticks=[], yticks=[])
plt.show()

# %% [markdown]
# ## From labels
#
# A triplet loss pulls pictures of the same digit together and pushes others away. `TriangleDistance` turns any head
# of this library into a distance for the losses and miners of pytorch-metric-learning. Only 300 pictures have a label.

# %%
train, test, train_digits, test_digits = train_test_split(
    pictures, digits, train_size=300, stratify=digits, random_state=0
)


def learn_from_labels(head: tm.Distance) -> tm.Siamese:
    """Train an encoder and a head by the labels, with semihard triplets."""
    encoder = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 16))
    distance = TriangleDistance(head)
    miner = miners.BatchEasyHardMiner(neg_strategy="semihard", distance=distance)
    loss = losses.TripletMarginLoss(margin=0.2, distance=distance)
    optimizer = torch.optim.Adam([*encoder.parameters(), *loss.parameters()], lr=2e-3)  # the loss holds the head
    for _ in range(label_steps):
        batch = torch.randperm(len(train))[:128]
        points = encoder(train[batch])
        optimizer.zero_grad()
        loss(points, train_digits[batch], miner(points, train_digits[batch])).backward()
        optimizer.step()
    return tm.Siamese(encoder, head).eval()


torch.manual_seed(0)
euclidean = learn_from_labels(tm.NormInduced(tm.Euclidean(16)))
wide = learn_from_labels(tm.NormInduced(tm.WideNorm(16, components=8, width=8)))

# %% [markdown]
# ## Judge by nearest neighbors
#
# The five nearest labeled pictures vote. The baseline uses no learning at all: the same vote with the Euclidean
# distance of the raw pixels.


# %%
def accuracy(to_train: Tensor, within_train: Tensor) -> float:
    """Share of the test pictures whose five nearest labeled pictures vote for the right digit."""
    voters = KNeighborsClassifier(n_neighbors=5, metric="precomputed").fit(within_train.numpy(), train_digits)
    return voters.score(to_train.numpy(), test_digits)


with torch.no_grad():
    scores = {
        name: accuracy(tm.all_pairs(model, test, train), tm.all_pairs(model, train))
        for name, model in {"Euclidean Siamese": euclidean, "Wide Norm Siamese": wide}.items()
    }
scores = {"raw pixels": accuracy(torch.cdist(test, train), torch.cdist(train, train)), **scores}
for name, score in scores.items():
    print(f"{name:<20} {score:.1%} of {len(test):,} test pictures are right")
print(f"Wide Norm: triangle defect: {tm.audit(wide, test[:300]).triangle_defect:.3g}")

# %% [markdown]
# The three results are close together. Belonging to the same class is a symmetric relation, and pixels of such small
# pictures are good features, so a more flexible head cannot improve much here. Do not expect more from it where a
# Euclidean distance fits.
#
# ## From triplets that have a direction
#
# Suppose that people compared the *work* of turning one picture into another: "from this one, it is less work to get
# to the first than to the second". Drawing is easy and erasing is hard, so the work in the other direction differs.
# Nobody gives a number, only comparisons.
#
# Here a rule answers instead of people: a unit of ink costs 1 to add and 4 to erase. The models never see this rule.


# %%
def work(start: Tensor, end: Tensor) -> Tensor:
    """The hidden rule."""
    change = end - start
    return (change.relu() + 4 * (-change).relu()).sum(dim=-1)


def compare(objects: Tensor, count: int, seed: int) -> Tensor:
    """Draw triplets (start, nearer, farther) as numbers of objects."""
    start, first, second = torch.randint(len(objects), (3, count), generator=torch.Generator().manual_seed(seed))
    swap = work(objects[start], objects[first]) > work(objects[start], objects[second])
    return torch.stack([start, torch.where(swap, second, first), torch.where(swap, first, second)], dim=1)


seen, unseen = pictures[:1000], pictures[1000:]
triplets = compare(seen, 20_000, seed=0)
questions = compare(unseen, 5_000, seed=1)

figure, panels = plt.subplots(1, 2, figsize=(4.2, 2.3), layout="constrained")
one, eight = seen[digits[:1000] == 1][0], seen[digits[:1000] == 8][0]
for axes, picture, title in zip(panels, (one, eight), ("a one", "an eight"), strict=True):
    axes.imshow(picture.view(8, 8).numpy(), cmap="gray_r")
    axes.set(title=title, xticks=[], yticks=[])
figure.suptitle(f"one to eight: {work(one, eight):.0f}, eight to one: {work(eight, one):.0f} units of work")
plt.show()

# %% [markdown]
# PyTorch has a triplet loss for any distance, and a `Siamese` is one.


# %%
def learn_from_triplets(head: tm.Distance) -> tm.Siamese:
    """Train an encoder and a head by comparisons alone."""
    model = tm.Siamese(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32)), head)
    loss = nn.TripletMarginWithDistanceLoss(distance_function=model, margin=0.2)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(triplet_steps):
        start, nearer, farther = seen[triplets[torch.randint(len(triplets), (256,))]].unbind(dim=1)
        optimizer.zero_grad()
        loss(start, nearer, farther).backward()
        optimizer.step()
    return model.eval()


torch.manual_seed(0)
learned = {
    "Euclidean": learn_from_triplets(tm.NormInduced(tm.Euclidean(32))),
    "Wide Norm": learn_from_triplets(tm.NormInduced(tm.WideNorm(32, components=16, width=8))),
    "MLP": learn_from_triplets(tm.MLPDistance(32)),
}

# %% [markdown]
# ## Truth and prediction
#
# We ask two questions about pictures that no model has seen. *Which is nearer?* is the kind of question that the models
# were trained on. *Which way is less work, there or back?* was never asked in training.

# %%
start, nearer, farther = unseen[questions].unbind(dim=1)
different = work(start, nearer) != work(nearer, start)
results, predictions = {}, {}
with torch.no_grad():
    for name, distance in {"raw pixels": lambda x, y: (y - x).norm(dim=-1), **learned}.items():
        which = (distance(start, nearer) < distance(start, farther)).float().mean().item()
        forth, back = distance(start, nearer)[different], distance(nearer, start)[different]
        true_way = (work(start, nearer) < work(nearer, start))[different]
        way = torch.where(forth == back, 0.5, ((forth < back) == true_way).float()).mean().item()
        defect = tm.audit(distance, unseen[:300]).triangle_defect
        results[name], predictions[name] = (which, way, defect), distance(start, farther)

print(f"{'':<12}{'which is nearer':>16}{'there or back':>15}{'triangle defect':>17}")
for name, (which, way, defect) in results.items():
    print(f"{name:<12}{which:>16.1%}{way:>15.1%}{defect:>17.3g}")

# %% [markdown]
# A symmetric distance cannot answer the second question: it can only guess. A distance learned from triplets has
# arbitrary units, but it should increase with the true work:

# %%
figure, panels = plt.subplots(1, 3, figsize=(10, 3.4), sharex=True, layout="constrained")
truth = work(start, farther)
for axes, name, color in zip(panels, learned, ("#E69F00", "#0072B2", "#CC79A7"), strict=True):
    axes.scatter(truth[:1500], predictions[name][:1500], s=5, alpha=0.5, color=color)
    correlation = torch.corrcoef(torch.stack([truth, predictions[name]]))[0, 1]
    axes.set(title=f"{name}: correlation {correlation:.2f}", xlabel="true work (never seen)")
panels[0].set_ylabel("learned distance")
plt.show()

# %% [markdown]
# ## Next
#
# - [Learn from labels](../howto/learn-from-labels.md): the same with scikit-learn's estimators, in three lines.
# - [From a CSV to a distance](csv_to_distance.py): when you know the distances, and not only which is nearer.
# - [Value functions and planning](values_and_planning.py): distances for planning.
