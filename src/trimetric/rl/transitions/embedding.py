"""How a model reads the states of a log."""

from __future__ import annotations

import torch
from torch import Tensor

from trimetric.distances import Distance, ObjectDistance
from trimetric.distances.encoder_inputs import ObjectNumbers, inputs_of
from trimetric.rl.transitions.known_moves import KnownMoves


def readable_states(model: ObjectDistance, moves: KnownMoves) -> Tensor | None:
    """Convert the states of a log to what a model reads.

    Args:
        model: a distance between observations, or a `Siamese` with an `nn.Embedding` of the states by number.
        moves: the moves of the log.

    Returns:
        The observations in the dtype of the model, or None for an `nn.Embedding`, which reads numbers of states.
    """
    reads = inputs_of(model.reader)
    if isinstance(reads, ObjectNumbers):
        if reads.count != moves.num_states:
            raise ValueError(f"model: expected a table of the {moves.num_states} states of the log, got {reads.count}")
        return None
    dtype = next((p.dtype for p in model.parameters()), moves.states.dtype)
    return moves.states.to(dtype)


@torch.no_grad()
def embed_states(model: ObjectDistance, moves: KnownMoves) -> tuple[Distance, Tensor]:
    """Embed all states of a log.

    Args:
        model: as for `readable_states`; it is set to evaluation mode.
        moves: the moves of the log.

    Returns:
        The distance of the model between points, and the point of each state.
    """
    model.eval()
    objects = readable_states(model, moves)
    objects = torch.arange(moves.num_states) if objects is None else objects
    return model.head, model.embed(objects)
