"""Objectives by which a distance can be learned from a log of episodes."""

from trimetric.rl.objectives.action_invariant import ActionInvariant as ActionInvariant
from trimetric.rl.objectives.constrained import Constrained as Constrained
from trimetric.rl.objectives.contrastive import Contrastive as Contrastive
from trimetric.rl.objectives.eikonal import Eikonal as Eikonal
from trimetric.rl.objectives.multistep import Multistep as Multistep
from trimetric.rl.objectives.objective import Objective as Objective
from trimetric.rl.objectives.temporal_difference import TemporalDifference as TemporalDifference
