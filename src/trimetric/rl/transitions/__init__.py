"""Logged transitions: collect them, read and write them, and the graph of the moves that were seen."""

from trimetric.rl.transitions.collecting import bins_of as bins_of
from trimetric.rl.transitions.collecting import collect as collect
from trimetric.rl.transitions.known_moves import KnownMoves as KnownMoves
from trimetric.rl.transitions.log import Transitions as Transitions
from trimetric.rl.transitions.log import read_transitions as read_transitions
