# %% [markdown]
# # From a log of episodes to a policy
#
# After this tutorial you can learn how far every place is from every other place, from logged episodes alone, and turn
# that distance into policies: planners over logged states, and one small network that imitates them.
#
# The world is a square with a wall. A point moves up to 0.05 in a step.

# %%
import os
import tempfile

import matplotlib.pyplot as plt
import numpy as np
import torch

import trimetric as tm
from trimetric import rl

small = os.environ.get("TRIMETRIC_SMALL") == "1"  # a short run, for tests
episodes, distance_steps, policy_steps = (40, 50, 50) if small else (300, 1500, 1500)
random = np.random.default_rng(0)


def inside_wall(places):
    return (np.abs(places[:, 0] - 0.5) < 0.1) & (places[:, 1] < 0.7)


def step(here, actions):
    there = np.clip(here + 0.05 * np.clip(actions, -1, 1), 0, 1)
    return np.where(inside_wall(there)[:, None], here, there)


# %% [markdown]
# ## The log
#
# Each episode wanders for 60 steps in a direction that changes slowly, without any goal. `Trajectories` holds all
# episodes one after another; the last observation of each episode is a row without a step.

# %%
here, heading = random.random((episodes, 2)), random.random(episodes) * 2 * np.pi
here[inside_wall(here), 1] = 0.9
seen, done = [here], []
for _ in range(60):
    heading = heading + random.normal(size=episodes) * 0.4
    done.append(np.stack([np.cos(heading), np.sin(heading)], axis=1))
    here = step(here, done[-1])
    seen.append(here)
done.append(np.zeros((episodes, 2)))
log = rl.Trajectories(
    observations=np.stack(seen, axis=1).reshape(-1, 2).astype(np.float32),
    actions=np.stack(done, axis=1).reshape(-1, 2).astype(np.float32),
    ends=np.arange(1, episodes + 1) * 61 - 1,
    action_range=(-1.0, 1.0),
)
print(f"{log.num_transitions:,} steps in {log.num_episodes} episodes")


def draw_world(axes):
    axes.add_patch(plt.Rectangle((0.4, 0), 0.2, 0.7, color="0.35"))
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], aspect="equal")


figure, axes = plt.subplots(figsize=(4, 4), layout="constrained")
draw_world(axes)
for start, end in list(zip(log.starts, log.ends, strict=True))[:25]:
    axes.plot(*log.observations[start : end + 1].T, linewidth=1)
axes.set_title("25 episodes of the log")
plt.show()

# %% [markdown]
# An invalid log is refused, and the error names the place: rows with NaN, episodes with a single observation, actions
# out of range.

# %%
spoiled = log.observations.copy()
spoiled[1234, 1] = np.nan
try:
    rl.Trajectories(observations=spoiled, ends=log.ends)
except ValueError as error:
    print(error)

# %% [markdown]
# ## Learn the distance
#
# `Constrained` pushes random places apart, but limits the distance of each logged step to its cost, which is 1. The
# number of steps of a shortest way is the *largest* distance that keeps the triangle inequality under these limits. A
# head that keeps the inequality therefore learns the distance even between places that no episode ever connected.

# %%
train, held_out = log.split(0.1, seed=0)
model = rl.goal_model(train, dim=32, widths=(64, 64), waves=2, seed=0)
learned = rl.learn_distance(
    model,
    train,
    objective=rl.Constrained(push="linear", tolerance=0.01),
    steps=distance_steps,
    batch_size=128,
    learning_rate=2e-3,
    held_out=held_out,
    progress="silent",
)
measured = learned.history.epochs[-1].watched
print(f"mean distance of a logged step: {measured['one_step']:.2f}, held out: {measured['one_step_held_out']:.2f}")
print(tm.audit(model, torch.from_numpy(train.observations[::97])))

# %% [markdown]
# The distance to the star follows the way around the wall, although no episode tried to find that way.

# %%
grid = np.stack(np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 1, 60)), axis=-1).reshape(-1, 2).astype(np.float32)
goal = torch.tensor([[0.85, 0.2]])
with torch.no_grad():
    far = model(torch.from_numpy(grid), goal.expand(len(grid), 2)).numpy()
far[inside_wall(grid)] = np.nan
straight = np.linalg.norm(grid - goal.numpy(), axis=1) / 0.05
straight[inside_wall(grid)] = np.nan

figure, panels = plt.subplots(1, 2, figsize=(8.4, 4), layout="constrained")
for axes, values, name in zip(panels, (straight, far), ("straight line", "learned"), strict=True):
    image = axes.contourf(values.reshape(60, 60), levels=16, extent=(0, 1, 0, 1), vmin=0, vmax=np.nanmax(far))
    draw_world(axes)
    axes.plot(*goal[0], "*", color="#E69F00", markersize=16, markeredgecolor="black")
    axes.set_title(f"steps to the star: {name}")
figure.colorbar(image, ax=panels, shrink=0.8)
plt.show()

# %% [markdown]
# ## Policies
#
# A step into the wall leads nowhere and costs 1 all the same, so the mean distance of a step stays below 1.
#
# A *local* policy is cloned from steps to places that were seen at most five steps later. A planner gives it the next
# place to walk to. `GraphPolicy` searches over logged places, with learned distances as edges. `distil_policy`
# trains one network to imitate the planner; this network needs neither the log nor a search.

# %%
options = {"steps": policy_steps, "batch_size": 128, "progress": "silent"}
local = rl.learn_local_policy(train, horizon=5, **options | {"steps": max(50, policy_steps // 2)})
graph = rl.GraphPolicy.from_log(model, train, local=local, states=300, horizon=5)
actor = rl.distil_policy(graph, train, states=1024, goals=256, widths=(128, 128), **options)
clone = rl.clone_behavior(train, widths=(64, 64), **options | {"steps": max(50, policy_steps // 2)})


def walk(policy, here, goals, most=100):
    paths, arrived = [here], np.zeros(len(here), dtype=bool)
    for _ in range(most):
        actions = policy(torch.from_numpy(here).float(), torch.from_numpy(goals).float()).numpy()
        here = np.where(arrived[:, None], here, step(here, actions))
        arrived |= np.linalg.norm(here - goals, axis=1) < 0.08
        paths.append(here)
    return np.stack(paths), arrived


starts = random.uniform([0.05, 0.05], [0.35, 0.6], size=(100, 2))
goals = random.uniform([0.65, 0.05], [0.95, 0.6], size=(100, 2))
paths = {}
for name, policy in {"local": local, "clone": clone, "graph planner": graph, "actor": actor}.items():
    paths[name], arrived = walk(policy, starts, goals)
    print(f"{name:14} arrives in {arrived.mean():4.0%} of 100 walks around the wall")

# %% [markdown]
# The local policy walks straight into the wall. So does the clone, because no episode goes to the other side on
# purpose. The planner and its actor go around the wall.

# %%
figure, panels = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
for axes, name in zip(panels, ("clone", "graph planner", "actor"), strict=True):
    draw_world(axes)
    for i in range(8):
        axes.plot(*paths[name][:, i].T, linewidth=1.5)
        axes.plot(*goals[i], "*", color="#E69F00", markersize=11, markeredgecolor="black")
    axes.set_title(name)
plt.show()

# %% [markdown]
# ## Save it
#
# A policy file holds the networks and their settings. Nothing in it is executed when it is read.

# %%
with tempfile.TemporaryDirectory() as folder:
    again = rl.load_policy(rl.save_policy(actor, f"{folder}/actor.safetensors"))
both = torch.from_numpy(starts).float(), torch.from_numpy(goals).float()
print("the same policy:", torch.equal(again(*both), actor(*both)))

# %% [markdown]
# On the command line, `trimetric rl fit log.npz -o model.safetensors` does all of this.
#
# ## Next
#
# - [Learn a policy from episodes](../howto/learn-a-policy-from-episodes.md): how to choose an objective and a policy.
# - [Value functions and planning](values_and_planning.py): grid worlds, where states recur.
