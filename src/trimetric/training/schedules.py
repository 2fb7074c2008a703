"""Learning-rate schedules as functions of the position in the run, so that a resumed run needs no saved state."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from trimetric._support import checks

ScheduleName = Literal["constant", "step", "thirds", "cosine", "one_cycle"]
Schedule = Callable[[float], float]

WARM_UP = 0.3
STEP_FACTOR = 1 / 5
STEPS = 4
THIRDS = (1.0, 0.3, 0.1)


def make_schedule(name: ScheduleName) -> Schedule:
    r"""Return the function from the completed fraction of the training, in [0, 1], to a factor on the learning rate.

    - `constant` 1;
    - `step` divided by 5 after each quarter, as in the paper's graph experiments (1000 epochs, every 250);
    - `thirds` 1, 0.3 and 0.1, as in its metric nearness (1500 epochs at 1e-3, 3e-4 and 1e-4);
    - `cosine` from 1 to 0;
    - `one_cycle` up from 1/25 over the first 30 %, then down to 0, both along cosines.

    Args:
        name: one of these.

    Examples:
        >>> make_schedule("step")(0.6)
        0.04000000000000001
    """
    checks.one_of("schedule", name, SCHEDULES)
    return SCHEDULES[name]


def _cosine(start: float, end: float, part: float) -> float:
    return end + (start - end) * (1 + math.cos(math.pi * part)) / 2


def _one_cycle(done: float) -> float:
    if done < WARM_UP:
        return _cosine(1 / 25, 1, done / WARM_UP)
    return _cosine(1, 0, (done - WARM_UP) / (1 - WARM_UP))


SCHEDULES: dict[ScheduleName, Schedule] = {
    "constant": lambda _: 1.0,
    "step": lambda done: STEP_FACTOR ** min(STEPS - 1, int(STEPS * done)),
    "thirds": lambda done: THIRDS[min(len(THIRDS) - 1, int(len(THIRDS) * done))],
    "cosine": lambda done: _cosine(1, 0, done),
    "one_cycle": _one_cycle,
}
