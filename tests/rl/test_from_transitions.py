"""Learning from logged transitions alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from one_way_world import network

import trimetric as tm
from trimetric.rl import (
    KnownMoves,
    Transitions,
    goal_pairs,
    hold_out_goals,
    judge,
    learn_from_transitions,
    plan,
    transitions_config,
)
from trimetric.rl.learning.constraints import constrained_loss, constraints, reach_of
from trimetric.rl.worlds.environment import GridEnvironment
from trimetric.training.losses import CustomLoss


def test_bounds_are_cheapest_paths_up_to_the_horizon(log: Transitions) -> None:
    moves = KnownMoves(log)
    exact = moves.distances_from(torch.arange(moves.num_states))
    ends, bounds = constraints(moves, 7.0, 400, seed=0)
    torch.testing.assert_close(exact[tuple(ends[len(moves.edges) :].T)], bounds[len(moves.edges) :])
    assert torch.equal(ends[: len(moves.edges)], moves.edges)
    assert bounds[len(moves.edges) :].max() <= 7
    assert len(ends) > 2 * len(moves.edges)
    assert len(ends[len(moves.edges) :].unique(dim=0)) == len(ends) - len(moves.edges)
    alone, costs = constraints(moves, 0.0, 400, seed=0)
    assert torch.equal(alone, moves.edges.repeat(400 // len(moves.edges), 1))
    assert torch.equal(costs[: len(moves.edges)], moves.costs)
    assert reach_of(moves) == exact[: moves.num_states].max()


def test_the_loss_is_a_push_or_a_hinge() -> None:
    loss = constrained_loss(10.0, (3.0, 12.0), 2.0).of
    predicted = torch.tensor([1.0, 6.0, 4.0, 30.0], requires_grad=True)
    targets = torch.tensor([2.0, 4.0, torch.inf, torch.inf])
    assert loss(predicted, targets, 0.5)[1] == 3.0
    value = loss(predicted, targets, 0.0)
    assert value[:2].tolist() == [0, 1.5]
    (gradient,) = torch.autograd.grad(value.sum(), predicted)
    assert gradient[0] == 0
    assert gradient[1] == pytest.approx(1.5)
    assert -0.5 < gradient[2] < -0.49  # almost 1 a unit of 2
    assert -1e-6 < gradient[3] <= 0


def test_learning_from_a_log_alone_finds_the_way_to_unseen_goals(log: Transitions) -> None:
    moves = KnownMoves(log)
    seen, held = hold_out_goals(moves, 0.2, seed=1)
    pairs = goal_pairs(moves, held, 200, seed=0)
    config = transitions_config(epochs=15, learning_rate=3e-3)
    model = network(log)
    learn_from_transitions(model, moves, goals=seen, pairs=8000, config=config, progress="silent")
    assert judge(moves, pairs, plan(model, moves, pairs)).success > 0.9
    # No distance is longer than a path, by more than its moves are: the triangle inequality.
    exact = moves.distances_from(torch.arange(moves.num_states))
    learned = tm.all_pairs(model, moves.states).double()
    excess = (learned[tuple(moves.edges.T)] / moves.costs).max().clamp(min=1)
    assert (learned <= excess * exact * (1 + 1e-5)).all()


def test_temporal_differences_over_known_moves(log: Transitions) -> None:
    moves = KnownMoves(log)
    pairs = goal_pairs(moves, torch.arange(moves.num_states), 200, seed=0)
    model = network(log)
    config = transitions_config(epochs=40, learning_rate=3e-3)
    learn_from_transitions(
        model,
        moves,
        method="td",
        pairs=2000,
        polyak=0.3,
        config=tm.TrainingConfig(**{**vars(config), "batch_size": 256}),
        progress="silent",
    )
    assert judge(moves, pairs, plan(model, moves, pairs)).success > 0.8


def test_a_table_of_points_reads_numbers(log: Transitions) -> None:
    moves = KnownMoves(log)
    torch.manual_seed(0)
    table = tm.Siamese(torch.nn.Embedding(moves.num_states, 8), tm.Calibrated(tm.WideNorm(8, components=4, width=4)))
    history = learn_from_transitions(
        table,
        moves,
        pairs=2000,
        penalty=(1, 1),  # a rising one raises the loss
        config=transitions_config(epochs=4, learning_rate=1e-2),
        progress="silent",
    )
    assert history.epochs[-1].loss < history.epochs[0].loss
    assert plan(table, moves, goal_pairs(moves, torch.arange(5), 10, seed=0), max_steps=3).paths.shape[1] <= 4
    short = tm.Siamese(torch.nn.Embedding(3, 8), tm.Euclidean(8))
    with pytest.raises(ValueError, match=r"model: expected a table of the \d+ states of the log, got 3"):
        learn_from_transitions(short, moves)


def test_an_interrupted_run_resumes_bit_for_bit(tmp_path: Path, log: Transitions) -> None:
    file, config = tmp_path / "run.safetensors", transitions_config(epochs=3)
    undisturbed, stopped = network(log), network(log)
    learn_from_transitions(undisturbed, log, pairs=2000, config=config, progress="silent")

    class StopError(Exception):
        pass

    calls = iter(range(100))

    def interrupt(*_: object) -> None:
        if next(calls) == 7:  # one call is of the calibration
            raise StopError

    hook = stopped.encoder.register_forward_hook(interrupt)
    often = tm.TrainingConfig(**{**vars(config), "checkpoint_seconds": 0.0})
    with pytest.raises(StopError):
        learn_from_transitions(stopped, log, pairs=2000, config=often, checkpoint=file, progress="silent")
    hook.remove()
    learn_from_transitions(stopped, log, pairs=2000, config=config, checkpoint=file, progress="silent")
    for name, value in undisturbed.state_dict().items():
        assert torch.equal(value, stopped.state_dict()[name])
    with pytest.raises(RuntimeError, match="belongs to another run: the custom loss differs"):
        learn_from_transitions(
            stopped, log, pairs=2000, penalty=(9, 9), config=config, checkpoint=file, progress="silent"
        )


def test_a_custom_loss_is_what_is_trained() -> None:
    torch.manual_seed(0)
    x, y, targets = torch.randn(50, 4), torch.randn(50, 4), torch.rand(50)
    losses = []
    for loss in (None, CustomLoss(lambda p, t, _: 3 * (p - t).square(), "three times")):
        torch.manual_seed(1)
        model = tm.NormInduced(tm.WideNorm(4, components=3, width=2))
        history = tm.fit(
            model, (x, y), targets, loss=loss, config=tm.TrainingConfig(epochs=1, batch_size=50), progress="silent"
        )
        losses.append(history.epochs[0].loss)
    assert losses[1] == pytest.approx(3 * losses[0])


def test_bad_arguments_are_named(log: Transitions) -> None:
    model = network(log)
    for arguments, message in [
        ({"method": "magic"}, "method: expected one of 'constrained', 'td', got 'magic'"),
        ({"reach": -1.0}, "reach: expected a finite number above 0"),
        ({"horizon": -1.0}, "horizon: expected a cost >= 0, got -1.0"),
        ({"goals": torch.tensor([10**6])}, "goals: expected numbers of states from 0 to"),
        ({"pairs": 0}, "pairs: expected a positive integer, got 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            learn_from_transitions(model, log, **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="fraction: expected a part from 0 to below 1, got 1"):
        hold_out_goals(KnownMoves(log), 1, seed=0)
    with pytest.raises(ValueError, match="observations: expected one of 'pictures', 'cells', got 'words'"):
        GridEnvironment(observations="words")  # type: ignore[arg-type]
