"""What a distance can be learned by from a log of episodes."""

from trimetric.rl.objectives.constrained import Constrained as Constrained
from trimetric.rl.objectives.objective import Objective as Objective
