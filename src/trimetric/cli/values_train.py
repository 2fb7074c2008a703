"""What `trimetric values fit` does once it has its transitions."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import torch

import trimetric
from trimetric._support.tensor_files import CheckpointError, remove_checkpoint
from trimetric.cli.network import check_memory, make_network
from trimetric.cli.process import stopped
from trimetric.cli.promises import caveat
from trimetric.cli.train import about_an_option, how_to_go_on
from trimetric.distances.siamese import Siamese
from trimetric.files.errors import InputError
from trimetric.models.encoders import MLP
from trimetric.models.model import Model
from trimetric.rl import KnownMoves, Transitions, hold_out_goals, learn_from_transitions
from trimetric.rl.learning.move_errors import move_errors_text
from trimetric.training.config import TrainingConfig

if TYPE_CHECKING:
    from trimetric.cli.values_fit import ValuesFit


def train(options: ValuesFit, output: Path, transitions: Transitions) -> int:
    general = options.general
    try:
        moves = KnownMoves(transitions)
    except ValueError as error:
        raise InputError(str(error)) from None
    goals, held = hold_out_goals(moves, options.held_out, seed=general.seed)
    network = _network(options, moves)
    weights = sum(parameter.numel() for parameter in network.parameters())
    general.say(
        f"{len(transitions):,} transitions: {moves.num_states:,} states, {len(moves.edges):,} moves, "
        f"{len(held):,} states are no goals in training"
    )
    general.say(f"{options.head} head in {options.dim} dimensions, {weights:,} weights")
    checkpoint = output.with_name(output.name + ".checkpoint")
    if options.restart:
        remove_checkpoint(checkpoint)
    elif checkpoint.exists():
        general.say(f"going on from {checkpoint}")
    try:
        history = learn_from_transitions(
            network,
            moves,
            method=options.method,
            goals=goals,
            pairs=options.pairs,
            horizon=options.horizon,
            config=TrainingConfig(
                epochs=options.epochs,
                batch_size=options.batch_size,
                learning_rate=options.learning_rate,
                seed=general.seed,
            ),
            checkpoint=checkpoint,
            progress="silent" if general.quiet else "auto",
        )
    except CheckpointError as error:
        raise InputError(f"{error} --restart begins anew.") from None
    except ValueError as error:
        raise about_an_option(error) from None
    except (KeyboardInterrupt, SystemExit) as stop:
        raise stopped(stop, how_to_go_on(checkpoint)) from None
    if not all(bool(value.isfinite().all()) for value in network.state_dict().values()):
        remove_checkpoint(checkpoint)
        raise RuntimeError("the training diverged, and nothing was saved; try a lower --learning-rate")
    notes = {
        "made_by": f"trimetric {trimetric.__version__}",
        "settings": options.settings(),
        "transitions": len(transitions),
        "states": moves.num_states,
        "moves": len(moves.edges),
        "epochs": len(history.epochs),
    }
    model = Model(network.eval(), notes=notes)
    model.save(output)
    remove_checkpoint(checkpoint)
    last = history.epochs[-1]
    general.say(f"after {len(history.epochs)} epochs: {move_errors_text(last.watched)}")
    if (text := caveat(model)) is not None:
        general.say(text)
    general.say(f"saved in {output}")
    general.answer(
        model=str(output),
        weights=weights,
        states=moves.num_states,
        moves=len(moves.edges),
        epochs=len(history.epochs),
        loss=last.loss,
        **last.watched,
        promises=asdict(model.axioms),
    )
    return 0


def _network(options: ValuesFit, moves: KnownMoves) -> Siamese:
    torch.manual_seed(options.general.seed)
    if moves.states.ndim != 2:
        raise InputError(
            f"observations: expected rows of numbers, shape (n, features), got shape (n, "
            f"{', '.join(map(str, moves.states.shape[1:]))}); flatten them"
        )
    features = moves.states.shape[1]
    try:
        head = make_network(
            options.head,
            objects=1,
            features=features,
            dim=options.dim,
            widths=options.widths,
            symmetric=False,
            concave=options.concave_units,
        ).distance
        make_encoder = partial(MLP, features, options.dim, widths=options.widths, waves=options.waves)
        check_memory(make_encoder, "--dim, --widths, --waves")
        encoder = make_encoder()
    except (ValueError, RuntimeError) as error:
        raise error if isinstance(error, InputError) else about_an_option(error) from None
    encoder.standardize.measure(moves.states)
    return Siamese(encoder, head)
