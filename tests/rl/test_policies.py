"""Policies: batched, saved, and good at walking in a box with a wall."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_worlds import box_walks, gated_ring
from torch import Tensor, nn

from trimetric import Euclidean, NormInduced, Siamese, rl
from trimetric._support.tensor_files import CheckpointError

SHORT: dict[str, Any] = {"steps": 50, "batch_size": 32, "progress": "silent"}


def inside_wall(places: np.ndarray) -> np.ndarray:
    """Whether places are in the wall down the middle of the unit square, which is open at the top."""
    return (np.abs(places[:, 0] - 0.5) < 0.1) & (places[:, 1] < 0.7)


def step(here: np.ndarray, actions: np.ndarray) -> np.ndarray:
    there = np.clip(here + 0.05 * np.clip(actions, -1, 1), 0, 1)
    return np.where(inside_wall(there)[:, None], here, there)


@pytest.fixture(scope="module")
def log() -> rl.Trajectories:
    """Walks in directions that change slowly."""
    random = np.random.default_rng(0)
    here, angle = random.random((300, 2)), random.random(300) * 2 * np.pi
    here[inside_wall(here), 1] = 0.9
    seen, done = [here], []
    for _ in range(60):
        angle = angle + random.normal(size=300) * 0.4
        action = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        here = step(here, action)
        seen.append(here)
        done.append(action)
    done.append(np.zeros((300, 2)))
    return rl.Trajectories(
        observations=np.stack(seen, axis=1).reshape(-1, 2).astype(np.float32),
        ends=np.arange(1, 301) * 61 - 1,
        actions=np.stack(done, axis=1).reshape(-1, 2).astype(np.float32),
        action_range=(-1.0, 1.0),
    )


@pytest.fixture(scope="module")
def model(log: rl.Trajectories) -> Siamese:
    found = rl.goal_model(log, dim=32, widths=(64, 64), waves=2)
    objective = rl.Constrained(tolerance=0.01, push="linear")
    rl.learn_distance(
        found, log, objective=objective, steps=1500, batch_size=128, learning_rate=2e-3, progress="silent"
    )
    return found


@pytest.fixture(scope="module")
def local(log: rl.Trajectories) -> rl.LocalPolicy:
    return rl.learn_local_policy(log, horizon=5, steps=800, batch_size=128, progress="silent")


def success(policy: Any, count: int = 100, most: int = 100) -> float:
    """The part of the walks from the left half to the right half that arrive."""
    random = np.random.default_rng(1)
    here = random.uniform([0.05, 0.05], [0.35, 0.6], size=(count, 2))
    goal = random.uniform([0.65, 0.05], [0.95, 0.6], size=(count, 2))
    arrived = np.zeros(count, dtype=bool)
    for _ in range(most):
        actions = policy(torch.from_numpy(here).float(), torch.from_numpy(goal).float()).numpy()
        here = np.where(arrived[:, None], here, step(here, actions))
        arrived |= np.linalg.norm(here - goal, axis=1) < 0.08
    return float(arrived.mean())


def test_planners_walk_around_the_wall_and_their_actor_too(
    log: rl.Trajectories, model: Siamese, local: rl.LocalPolicy
) -> None:
    waypoints = rl.WaypointPolicy.from_log(model, log, local=local, states=300, horizon=5)
    graph = rl.GraphPolicy.from_log(model, log, local=local, states=300, horizon=5)
    assert success(local) < 0.5  # straight ahead is the wall
    assert success(waypoints) >= 0.9
    assert success(graph) >= 0.9
    actor = rl.distil_policy(
        graph, log, states=1024, goals=256, widths=(128, 128), steps=1500, batch_size=256, progress="silent"
    )
    assert success(actor) >= 0.85


def test_actors_go_by_the_distance_and_clones_by_the_log(log: rl.Trajectories, model: Siamese) -> None:
    clone = rl.clone_behavior(log, steps=800, batch_size=128, widths=(64, 64), progress="silent")
    weighted = rl.learn_actor(
        model, log, method="awr", strength=3.0, steps=1500, batch_size=256, waves=2, widths=(64, 64), progress="silent"
    )
    assert success(weighted) >= 0.5
    dynamics = rl.learn_dynamics(log, steps=800, batch_size=128, progress="silent")
    down = rl.learn_actor(
        model, log, dynamics=dynamics, steps=1500, batch_size=256, waves=2, widths=(64, 64), progress="silent"
    )
    assert success(down) >= 0.7
    assert success(clone) < 0.2


def policies(log: rl.Trajectories) -> dict[str, rl.Policy]:
    """One of each kind, hardly trained."""
    model = rl.goal_model(log, dim=8, widths=(8,))
    local = rl.learn_local_policy(log, horizon=5, widths=(8,), **SHORT)
    waypoints = rl.WaypointPolicy.from_log(model, log, local=local, states=20, horizon=5)
    dynamics = rl.learn_dynamics(log, widths=(8,), **SHORT)
    latent = rl.learn_dynamics(log, model=model, widths=(8,), **SHORT)
    candidates = torch.tensor([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])
    return {
        "local": local,
        "clone": rl.clone_behavior(log, widths=(8,), **SHORT),
        "awr": rl.learn_actor(model, log, method="awr", widths=(8,), **SHORT),
        "points": rl.learn_actor(model, log, method="awr", reads="points", widths=(8,), **SHORT),
        "ddpg": rl.learn_actor(model, log, dynamics=dynamics, widths=(8,), **SHORT),
        "latent": rl.learn_actor(model, log, dynamics=latent, widths=(8,), **SHORT),
        "waypoints": waypoints,
        "graph": rl.GraphPolicy.from_log(model, log, local=local, states=20, horizon=5),
        "distilled": rl.distil_policy(waypoints, log, states=50, goals=20, widths=(8,), **SHORT),
        "greedy": rl.GreedyPolicy(model=model, leads_to=dynamics, candidates=candidates),
        "greedy in points": rl.GreedyPolicy(model=model, leads_to=latent, candidates=candidates),
    }


@pytest.fixture(scope="module")
def every() -> dict[str, rl.Policy]:
    return policies(box_walks(20, 20))


KINDS = (
    *("local", "clone", "awr", "points", "ddpg", "latent", "waypoints", "graph", "distilled"),
    *("greedy", "greedy in points"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_each_row_is_decided_for_itself_and_files_give_the_same_policy(
    every: dict[str, rl.Policy], kind: str, tmp_path: Path
) -> None:
    policy = every[kind]
    here, goal = torch.rand(2, 40, 2, generator=torch.Generator().manual_seed(0))
    together = policy(here, goal)
    assert together.shape == (40, 2)
    assert bool((together.abs() <= 1).all())
    assert not together.requires_grad
    one = torch.cat([policy(here[i : i + 1], goal[i : i + 1]) for i in range(40)])
    torch.testing.assert_close(one, together, rtol=1e-4, atol=1e-4)
    assert torch.equal(policy(here, goal), together)  # no memory
    again = rl.load_policy(rl.save_policy(policy, tmp_path / "policy.safetensors"))
    assert type(again) is type(policy)
    assert torch.equal(again(here, goal), together)
    doubled = again.double()(here.double(), goal.double())
    torch.testing.assert_close(doubled.float(), together, rtol=1e-3, atol=1e-3)
    with pytest.raises(ValueError, match="goals: expected the shape of observations"):
        policy(here, goal[:, :1])


def test_policies_of_numbered_actions(tmp_path: Path) -> None:
    world = gated_ring()
    log = world.journeys(30, 20)
    model = rl.goal_model(log, dim=8, widths=(8,))
    local = rl.learn_local_policy(log, horizon=3, widths=(8,), **SHORT)
    planner = rl.GraphPolicy.from_log(model, log, local=local, states=12, horizon=3)
    found = {
        "awr": rl.learn_actor(model, log, method="awr", widths=(8,), **SHORT),
        "graph": planner,
        "distilled": rl.distil_policy(planner, log, states=20, goals=12, widths=(8,), **SHORT),
        "greedy": rl.GreedyPolicy(model=model, leads_to=rl.LoggedMoves.from_log(log)),
        "learned moves": rl.GreedyPolicy(model=model, leads_to=rl.learn_dynamics(log, widths=(8,), **SHORT)),
    }
    states = torch.from_numpy(world.features)
    for name, policy in found.items():
        actions = policy(states, states.flip(0))
        assert actions.shape == (12,), name
        assert set(actions.tolist()) <= {0, 1, 2}
        again = rl.load_policy(rl.save_policy(policy, tmp_path / "policy.safetensors"))
        assert torch.equal(again(states, states.flip(0)), actions)
    with pytest.raises(ValueError, match="observations: expected what the log has, got another in row 1"):
        found["greedy"](torch.stack([states[0], states[0] + 1]), states[:2])
    with pytest.raises(ValueError, match="method: expected 'awr' for actions that are numbers"):
        rl.learn_actor(model, log, dynamics=rl.learn_dynamics(log, widths=(8,), **SHORT), **SHORT)


def test_the_nearest_of_several_goals_is_walked_to(every: dict[str, rl.Policy]) -> None:
    log = box_walks(20, 20)
    model = rl.goal_model(log, dim=8, widths=(8,))
    policy = rl.NearestGoalPolicy(model=model, policy=every["clone"])
    here = torch.rand(10, 2, generator=torch.Generator().manual_seed(0))
    goals = torch.rand(10, 4, 2, generator=torch.Generator().manual_seed(1))
    found = policy(here, goals)
    with torch.no_grad():
        far = torch.stack([model(here, goals[:, i]) for i in range(4)], dim=1)
    assert torch.equal(found, every["clone"](here, goals[torch.arange(10), far.argmin(dim=1)]))
    with pytest.raises(ValueError, match=r"goals: expected sets \(b, k, ...\)"):
        policy(here, here)


def test_training_an_actor_resumes(tmp_path: Path) -> None:
    log = box_walks(20, 20)
    file = tmp_path / "run.safetensors"
    model = rl.goal_model(log, dim=8, widths=(8,))
    first = rl.learn_actor(model, log, method="awr", widths=(8,), checkpoint=file, **SHORT)
    again = rl.learn_actor(model, log, method="awr", widths=(8,), checkpoint=file, **SHORT)
    for name, value in first.state_dict().items():
        assert torch.equal(value, again.state_dict()[name])
    other = rl.goal_model(log, dim=8, widths=(8,), seed=1)
    with pytest.raises(CheckpointError, match="belongs to another run"):
        rl.learn_actor(other, log, method="awr", widths=(8,), checkpoint=file, **SHORT)


def test_any_function_can_be_a_teacher() -> None:
    def straight(here: Tensor, goal: Tensor) -> Tensor:
        return (goal - here).sign()

    log = box_walks(20, 20)
    actor = rl.distil_policy(straight, log, steps=600, batch_size=64, widths=(32,), waves=0, progress="silent")
    here, goal = torch.rand(2, 200, 2, generator=torch.Generator().manual_seed(0))
    assert (actor(here, goal).sign() == straight(here, goal)).float().mean() > 0.9


def test_a_policy_for_each_kind_in_one_call() -> None:
    log, held = box_walks(20, 20).split(0.2, seed=0)
    expected = {
        "actor": rl.ActorPolicy,
        "graph": rl.GraphPolicy,
        "waypoints": rl.WaypointPolicy,
        "awr": rl.ActorPolicy,
        "clone": rl.ActorPolicy,
    }
    few: dict[str, Any] = {"policy_steps": 50, "batch_size": 32, "progress": "silent"}
    for kind, own in expected.items():
        told: list[str] = []
        distance = {} if kind == "clone" else {"steps": 50, "dim": 8, "widths": (8,), "held_out": held}
        plan = {} if kind in ("clone", "awr") else {"states": 20, "horizon": 5}
        learned = rl.learn_policy(log, kind=kind, log=told.append, **few, **distance, **plan)  # type: ignore[arg-type]
        assert type(learned.policy) is own
        assert told
        if learned.distance is not None:
            assert "one_step_held_out" in learned.distance.history.epochs[-1].watched


def test_wrong_arguments_are_named(every: dict[str, rl.Policy], tmp_path: Path) -> None:
    log = box_walks(4, 8)
    model = rl.goal_model(log, dim=8, widths=(8,))
    silent: dict[str, Any] = {"progress": "silent"}
    bare = rl.Trajectories(observations=log.observations, ends=log.ends)
    for make, message in (
        (lambda: rl.clone_behavior(bare, **silent), "trajectories: expected a log with actions"),
        (lambda: rl.learn_policy(bare, **silent), "trajectories: expected a log with actions"),
        (lambda: rl.learn_actor(model, log, **silent), "dynamics: expected those of learn_dynamics"),
        (lambda: rl.WaypointPolicy.from_log(model, log, local=every["local"], horizon=9), "horizon: expected episodes"),
        (lambda: rl.GreedyPolicy(model=model, leads_to=every["greedy"].leads_to), "candidates: expected actions"),
        (lambda: rl.ActorPolicy(features=2, actions=1, saturate=True), "saturate: expected False where no limits"),
        (lambda: rl.LoggedMoves.from_log(log), "trajectories: expected actions that are numbers"),
        (lambda: rl.distil_policy(every["clone"], log, near=1.0, **silent), "near: expected a share"),
    ):
        with pytest.raises(ValueError, match=message):
            make()
    with pytest.raises(TypeError, match="policy: expected a Policy"):
        rl.save_policy(torch.add, tmp_path / "x.safetensors")  # type: ignore[arg-type]
    file = rl.save_policy(every["clone"], tmp_path / "x.safetensors")
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(CheckpointError, match="cannot be read, it is truncated or no policy"):
        rl.load_policy(file)


class Straight(nn.Module):
    def forward(self, here: Tensor, goal: Tensor) -> Tensor:
        return goal - here


@pytest.mark.parametrize(("lookahead", "arrives"), [(0.0, False), (5.0, True)])
def test_a_short_search_leaves_the_dips_of_a_distance(lookahead: float, arrives: bool) -> None:
    corners = np.array([[0, 3], [0, 0], [6, 0], [6, 3]], dtype=np.float32)  # around a wall, past which one can see
    parts = [np.linspace(start, end, 20) for start, end in itertools.pairwise(corners)]
    way = torch.from_numpy(np.concatenate(parts)).float()
    straight = nn.Linear(2, 2, bias=False)
    nn.init.eye_(straight.weight)
    model = Siamese(straight, NormInduced(Euclidean(2)))
    planner = rl.WaypointPolicy(
        model=model, local=Straight(), states=len(way), shape=(2,), radius=2.0, lookahead=lookahead
    ).walking_to(way)
    here, goal = way[:1], way[-1:]
    for _ in range(10):
        here = here + planner(here, goal)
    assert bool((here == goal).all()) == arrives
