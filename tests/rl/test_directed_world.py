"""The directed world: its physics, its exact distances, and that straight lines fail in it."""

from __future__ import annotations

import numpy as np
import pytest

from trimetric.rl import DirectedPoint, ExactDistances, Flow, directed_trajectories

PLAIN = ("######\n#    #\n#    #\n######", "\n".join(["      "] * 4))
GATE = ("#######\n#  >  #\n#######", "       \n       \n       ")
BELT = ("########\n#      #\n########", "        \n >>>>>> \n        ")


def test_walls_stop_and_slide() -> None:
    flow = Flow(*PLAIN)
    places = np.array([[0.55, 1.0]])
    after = flow.move(places, np.array([[-1.0, 0.5]]))
    assert after[0, 0] == 0.55
    assert after[0, 1] > 1.0


def test_long_actions_are_shortened() -> None:
    after = Flow(*PLAIN).move(np.array([[2.0, 1.0]]), np.array([[3.0, 4.0]]))
    assert np.allclose(after, [[2.06, 1.08]])


def test_nobody_gets_backwards_through_a_gate() -> None:
    flow, place = Flow(*GATE), np.array([[4.0, 1.0]])
    for _ in range(200):
        place = flow.move(place, np.array([[-1.0, 0.0]]))
    assert place[0, 0] > 3.3
    forward = np.array([[2.0, 1.0]])
    for _ in range(30):
        forward = flow.move(forward, np.array([[1.0, 0.0]]))
    assert forward[0, 0] > 4.0


def test_a_gate_is_infinitely_far_from_behind() -> None:
    there, back = ExactDistances(Flow(*GATE)).between(
        np.array([[1.0, 1.0], [5.0, 1.0]]), np.array([[5.0, 1.0], [1.0, 1.0]])
    )
    assert there[0] == pytest.approx(10 * 3 + 10 / 2.5, rel=0.02)
    assert np.isinf(back[1])


def test_a_belt_is_three_times_faster_along_than_against() -> None:
    ends = np.array([[1.0, 1.0], [6.0, 1.0]])
    exact = ExactDistances(Flow(*BELT)).between(ends, ends)
    assert exact[0, 1] == pytest.approx(50 / 1.5, rel=0.02)
    assert exact[1, 0] == pytest.approx(50 / 0.5, rel=0.02)


def test_exact_distances_keep_the_triangle_inequality() -> None:
    exact = DirectedPoint().exact
    places = exact.places[np.random.default_rng(0).integers(len(exact.places), size=25)]
    d = exact.between(places, places)
    assert np.isfinite(d).all()
    assert (d[:, None] <= d[:, :, None] + d[None] + 1e-9).all()
    assert np.abs(d - d.T).max() > 100, "the world is directed"


def test_a_finer_grid_hardly_changes_them() -> None:
    world = DirectedPoint()
    coarse, fine = ExactDistances(world.flow, spacing=0.2), world.exact
    starts = fine.places[np.random.default_rng(1).integers(len(fine.places), size=200)]
    goals = np.array([task.goal for task in world.tasks])
    a, b = coarse.between(starts, goals), fine.between(starts, goals)
    far = b > 20
    assert np.abs(a[far] / b[far] - 1).mean() < 0.03


def test_going_down_the_exact_distances_takes_that_many_steps() -> None:
    world = DirectedPoint()
    count = len(world.tasks)
    world.reset(np.arange(count), np.random.default_rng(0))
    best, tree = world.optimal_costs(), world.exact._tree
    fields = [world.exact.to(np.array(task.goal)) for task in world.tasks]
    angles = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    actions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    steps = np.full(count, np.inf)
    for step in range(1, world.max_steps + 1):
        ahead = np.stack([world.flow.move(world.places, np.tile(action, (count, 1))) for action in actions])
        gaps, near = tree.query(ahead, k=4)
        weights = 1 / np.maximum(gaps, 1e-3)
        values = np.stack([field[near[:, task]] for task, field in enumerate(fields)], axis=1)
        _, arrived = world.step(actions[((values * weights).sum(axis=-1) / weights.sum(axis=-1)).argmin(axis=0)])
        steps = np.where(arrived & np.isinf(steps), step, steps)
        if np.isfinite(steps).all():
            break
    assert (steps >= 0.97 * best).all()
    assert (steps <= 1.10 * best + 2).all()


def test_straight_lines_do_not_arrive() -> None:
    world = DirectedPoint()
    _, goals = world.reset(np.arange(8), np.random.default_rng(0))
    assert (world.optimal_costs() < 200).all()
    arrived = np.zeros(8, dtype=bool)
    for _ in range(world.max_steps):
        _, now = world.step(goals - world.places)
        arrived |= now
    assert not arrived.any()


def test_data_visit_all_rooms_and_run_into_walls() -> None:
    train, held_out = directed_trajectories(episodes=60)
    assert (train.num_episodes, held_out.num_episodes) == (60, 6)
    cells = np.unique(np.floor(train.observations + 0.5).astype(int), axis=0)
    assert len(cells) == len(DirectedPoint().flow.grid.cells)
    assert train.actions is not None
    rows = train.transition_rows
    world = DirectedPoint()
    after = world.flow.move(train.observations[rows].astype(float), train.actions[rows].astype(float))
    assert np.abs(after - train.observations[rows + 1]).max() < 0.2  # float32 may fall into the next cell
    assert np.median(np.abs(after - train.observations[rows + 1])) < 1e-6
    moved = np.linalg.norm(train.observations[rows + 1] - train.observations[rows], axis=1)
    assert (moved < 1e-6).mean() > 0.005, "some steps must end at a wall"


def test_maps_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="belts: expected 3 lines of 7 characters"):
        Flow(GATE[0], "   \n   \n   ")
    with pytest.raises(ValueError, match="spacing"):
        ExactDistances(Flow(*PLAIN), spacing=0.0)
