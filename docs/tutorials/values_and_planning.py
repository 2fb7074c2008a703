# %% [markdown]
# # Value functions and planning
#
# After this tutorial you can learn how far every goal is from every state, from a log of random steps alone, and walk
# to states that were never goals in training.
#
# The world has four rooms. Doors drawn as arrows are one-way.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
import torch

import trimetric as tm
from trimetric import rl

small = os.environ.get("TRIMETRIC_SMALL") == "1"  # a short run, for tests
steps, epochs, pairs = (600, 1, 500) if small else (15_000, 20, 20_000)

MAP = """
#################
#       #       #
#       #       #
#       >       #
#       #       #
#       #       #
#       #       #
#       #       #
####^########v###
#       #       #
#       #       #
#       #       #
#       #       #
#               #
#       #       #
#       #       #
#################
"""

world = rl.World(MAP)
cells = world.grid.cells
print(f"{world.num_states} cells")

# %% [markdown]
# From the upper left room you can step directly into the room on the right. The way back leads down, left and up again,
# through three doors. So the cost of the cheapest way is a distance that is far from symmetric.


# %%
def draw_map(axes: plt.Axes, values: np.ndarray | None = None) -> object:
    """Draw walls and one-way doors, and a number for each cell as its color."""
    signs = world.grid.signs
    shown = np.full(signs.shape, np.nan)
    if values is not None:
        shown[cells[:, 0], cells[:, 1]] = values
    image = axes.imshow(shown, cmap="viridis", vmin=0, vmax=float(world.distances.max()))
    axes.imshow(np.where(world.grid.walls, 1.0, np.nan), cmap="gray", vmin=0, vmax=3)
    for row, column in np.argwhere(np.isin(signs, list("^>v<"))):
        dark = values is None
        arrow = {"^": "↑", ">": "→", "v": "↓", "<": "←"}[signs[row, column]]
        axes.text(
            column, row, arrow, ha="center", va="center", weight="bold", fontsize=13, color="black" if dark else "white"
        )
    axes.set(xticks=[], yticks=[])
    return image


state_at = {tuple(cell): number for number, cell in enumerate(cells.tolist())}
left, right = state_at[3, 6], state_at[3, 10]
figure, panels = plt.subplots(1, 2, figsize=(8.4, 4), layout="constrained")
for axes, goal, name in zip(panels, (right, left), ("right room", "left room"), strict=True):
    image = draw_map(axes, world.distances[:, goal].numpy())
    axes.plot(cells[goal, 1], cells[goal, 0], "*", color="#E69F00", markersize=16, markeredgecolor="black")
    axes.set_title(f"true steps to a goal in the {name}")
figure.colorbar(image, ax=panels, shrink=0.8, label="steps to the star")
plt.show()
print(f"true steps: left to right {world.distances[left, right]:.0f}, right to left {world.distances[right, left]:.0f}")

# %% [markdown]
# ## A log of random steps
#
# The learner does not get the map. It gets a log: the observations before and after each step, and the cost of the
# step. Here the log is a random walk, which restarts at a random cell after 50 steps. An observation is a row
# and a column. A tenth of the cells will never be a goal in training.

# %%
random = np.random.default_rng(0)
moves_of_world, costs_of_world = world.next_state.numpy(), world.cost.numpy()
before, after, costs = [], [], []
state = 0
for step in range(steps):
    if step % 50 == 0:
        state = int(random.integers(world.num_states))
    action = int(random.choice(np.flatnonzero(moves_of_world[state] >= 0)))
    before.append(cells[state])
    costs.append(costs_of_world[state, action])
    state = int(moves_of_world[state, action])
    after.append(cells[state])
log = rl.Transitions(observations=np.array(before), next_observations=np.array(after), costs=np.array(costs))
moves = rl.KnownMoves(log)
print(f"{len(log):,} steps, {moves.num_states} of {world.num_states} cells and {len(moves.edges):,} moves seen")

# %% [markdown]
# ## Learn
#
# `learn_goal_distance` pushes random states and goals apart, but limits the distance of each logged step to its
# cost. The cheapest-path cost is the *largest* distance that keeps the triangle inequality under these limits. So a
# head that keeps the inequality finds the right answer, although nobody ever computed a path.
#
# The baseline is an MLP, an unconstrained function of state and goal, with the same encoder. The objective above would
# teach it nothing about far goals, so it gets more information: the exact distances to all training goals, computed by
# Dijkstra's algorithm over the log.

# %%
metric = rl.learn_goal_distance(log, epochs=epochs, pairs=pairs, seed=0, progress="silent")
unseen = metric.held_out
print(f"{len(unseen)} of {moves.num_states} states were never goals in training")

torch.manual_seed(0)
encoder = tm.MLP(2, 64, widths=(256, 256), waves=4)
encoder.standardize.measure(moves.states)
mlp = tm.Siamese(encoder, tm.Calibrated(tm.MLPDistance(64)))
seen_goals = torch.tensor(sorted(set(range(moves.num_states)) - set(unseen.tolist())))
taught = torch.cartesian_prod(torch.arange(moves.num_states), seen_goals)
exact = moves.distances_from(torch.arange(moves.num_states))
targets = exact[taught[:, 0], taught[:, 1]].float()
reachable = targets.isfinite()
tm.fit(
    mlp,
    taught[reachable],
    targets[reachable],
    objects=moves.states,
    config=rl.transitions_config(epochs=epochs),
    progress="silent",
)
networks = {"metric": metric.model.network, "MLP": mlp.eval()}

# %% [markdown]
# ## Truth and prediction

# %%
number_of = [state_at[tuple(cell)] for cell in moves.states.long().tolist()]  # logged states in the order of the map
true_steps = world.distances[number_of][:, number_of]
with torch.no_grad():
    predicted = {name: tm.all_pairs(network, moves.states) for name, network in networks.items()}

figure, panels = plt.subplots(1, 2, figsize=(8, 3.8), sharex=True, sharey=True, layout="constrained")
for axes, (name, values), color in zip(panels, predicted.items(), ("#0072B2", "#CC79A7"), strict=True):
    error = (values - true_steps)[:, unseen].abs().mean()
    axes.scatter(true_steps[:, unseen], values[:, unseen], s=3, alpha=0.3, color=color)
    axes.plot([0, true_steps.max()], [0, true_steps.max()], color="black", linewidth=1)
    axes.set(title=f"{name}: {error:.1f} steps off on average", xlabel="true steps to an unseen goal")
panels[0].set_ylabel("predicted steps")
plt.show()

# %%
row_of = {number: row for row, number in enumerate(number_of)}
print(f"{'steps':<16}{'truth':>8}", *(f"{name:>8}" for name in predicted))
for name, (x, y) in {"left to right": (left, right), "right to left": (right, left)}.items():
    if x in row_of and y in row_of:
        answers = [values[row_of[x], row_of[y]].item() for values in predicted.values()]
        print(f"{name:<16}{world.distances[x, y]:>8.0f}", *(f"{answer:>8.1f}" for answer in answers))

# %%
for name, network in networks.items():
    report = tm.audit(network, moves.states)
    print(f"{name:<8} triangle defect: {report.triangle_defect:.3g} in {report.triples:,} triples")

# %% [markdown]
# ## Plan
#
# In each state, a plan takes the logged move with the smallest cost plus remaining distance. SPL (success weighted by
# path length) is 1 if every walk arrives by a cheapest path, and 0 if none arrives. The exact reference is Dijkstra's
# algorithm over the logged moves.

# %%
walks = rl.goal_pairs(moves, unseen, 500, seed=0)
scores = {}
for name, network in networks.items():
    scores[name] = rl.judge(moves, walks, rl.plan(network, moves, walks, max_steps=100))
print(f"{'':<22}{'arrived':>9}{'SPL':>8}")
for name, score in scores.items():
    print(f"{name:<22}{score.success:>9.1%}{score.spl:>8.3f}")
print(f"{'Dijkstra over the log':<22}{1:>9.1%}{1:>8.3f}")

# %%
goal = int(unseen[(moves.states[unseen] - torch.tensor([2.0, 2.0])).abs().sum(dim=1).argmin()])
starts = [row_of[state_at[cell]] for cell in ((1, 15), (6, 10), (12, 14), (15, 2)) if state_at[cell] in row_of]
asked = torch.tensor([[start, goal] for start in starts])
figure, panels = plt.subplots(1, 2, figsize=(8.4, 4), layout="constrained")
for axes, (name, network) in zip(panels, networks.items(), strict=True):
    values = np.full(world.num_states, np.nan)
    values[number_of] = predicted[name][:, goal].numpy()
    image = draw_map(axes, values)
    plan = rl.plan(network, moves, asked, max_steps=100)
    best = moves.distances_from(asked[:, 0])[range(len(asked)), goal]
    for walk, arrived in enumerate(plan.reached.tolist()):
        path = moves.states[plan.path(walk)]
        style = {"color": "white"} if arrived else {"color": "#D55E00", "linestyle": "--"}
        axes.plot(path[:, 1].numpy(), path[:, 0].numpy(), linewidth=2, **style)
        axes.plot(path[0, 1].item(), path[0, 0].item(), "o", markersize=6, **style)
    row, column = moves.states[goal].tolist()
    axes.plot(column, row, "*", color="#E69F00", markersize=16, markeredgecolor="black")
    axes.set_title(f"{name}: {int(plan.reached.sum())} of {len(asked)} walks arrive")
    arrived_cost, best_cost = plan.cost[plan.reached].sum(), best[plan.reached].sum()
    print(f"{name}: the walks that arrive take {arrived_cost:.0f} steps, the cheapest paths {best_cost:.0f}")
figure.colorbar(image, ax=panels, shrink=0.8, label="learned steps to the star")
plt.show()

# %% [markdown]
# White walks arrive, dashed ones do not. The picture shows one unseen goal, the table above all of them. The MLP was
# trained on exact distances, so its predictions are often more accurate. But a walk needs the right *order* of
# neighbors in every cell on its way, and one dead end is enough to fail. A metric that is too short by a constant
# factor still leads to the goal.
#
# In a world of this size, Dijkstra's algorithm over the logged moves is exact and faster than any learning. A learned
# distance pays off if there are too many states to list, or if states are seen only once, so that an encoder must
# generalize.
#
# ## Next
#
# - [A city with one-way streets](one_way_city.py): when the map is known.
# - [A first distance](first_distance.py): why the triangle inequality holds for every value of the weights.
