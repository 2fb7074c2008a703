"""From a log to a policy in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Literal, get_args

from trimetric._support import checks
from trimetric._support.progress import Shown
from trimetric.distances import Distance
from trimetric.models.heads import HeadName
from trimetric.norms import Norm
from trimetric.rl.learning.distance import LearnedDistance, learn_distance
from trimetric.rl.learning.goal_models import goal_model
from trimetric.rl.objectives.objective import Objective
from trimetric.rl.policies.distilling import distil_policy
from trimetric.rl.policies.graph import GraphPolicy
from trimetric.rl.policies.learning import clone_behavior, learn_actor, learn_local_policy
from trimetric.rl.policies.policy import Policy
from trimetric.rl.policies.waypoints import WaypointPolicy
from trimetric.rl.trajectories.trajectories import Trajectories
from trimetric.training.recipes import Log, say_nothing

PolicyKind = Literal["actor", "graph", "waypoints", "awr", "clone", "none"]


WITHOUT_EFFECT: dict[PolicyKind, tuple[str, ...]] = {
    "clone": ("objective", "head", "dim", "widths", "steps", "learning_rate", "horizon", "states", "held_out"),
    "awr": ("horizon", "states"),
    "none": ("horizon", "states", "policy_steps"),
}
"""arguments that a kind of policy does not use"""


@dataclass(frozen=True, eq=False)
class LearnedPolicy:
    """What `learn_policy` returns.

    Attributes:
        policy: from observations and goals to actions; None with kind="none".
        distance: the learned distance that it uses; None for behavior cloning.

    Examples:
        >>> import numpy as np
        >>> log = Trajectories(observations=np.zeros((9, 2)), ends=np.array([8]), actions=np.ones((9, 1)))
        >>> learned = learn_policy(log, kind="clone", policy_steps=50, batch_size=8, progress="silent")
        >>> learned.distance is None
        True
    """

    policy: Policy | None
    distance: LearnedDistance | None


def learn_policy(
    trajectories: Trajectories,
    *,
    kind: PolicyKind = "actor",
    objective: Objective | None = None,
    head: HeadName | Norm | Distance | None = None,
    dim: int = 64,
    widths: Sequence[int] = (128, 128),
    waves: int = 3,
    steps: int = 10_000,
    policy_steps: int = 5000,
    batch_size: int = 512,
    learning_rate: float = 1e-3,
    horizon: int = 20,
    states: int = 1000,
    held_out: Trajectories | None = None,
    seed: int = 0,
    checkpoint: Path | str | None = None,
    progress: Shown = "auto",
    log: Log | None = None,
) -> LearnedPolicy:
    """Learn a distance from a log, and a policy that uses it.

    Arguments that a kind of policy does not use are refused.

    Args:
        trajectories: the log; it must have actions, unless no policy is learned.
        kind: "graph" and "waypoints" plan over logged states (`GraphPolicy`, `WaypointPolicy`), "actor" is a network
            that imitates the graph planner (`distil_policy`), "awr" a network that was cloned with weights
            (`learn_actor`), "clone" a network that uses no distance (`clone_behavior`); "none" learns the distance
            alone.
        objective: how to learn the distance; `Constrained()` by default.
        head: as in `goal_model`.
        dim: dimensions of the points.
        widths: hidden layers of the encoder.
        waves: frequencies per feature that encoder and actor read as well.
        steps: training steps of the distance.
        policy_steps: training steps of an actor, and of the policy that walks to near states.
        batch_size: logged steps per training step.
        learning_rate: of Adam.
        horizon: how many logged steps away the next waypoint may be.
        states: how many waypoints to choose.
        held_out: a log that is not trained on, see `learn_distance`.
        seed: of everything random.
        checkpoint: a file to keep the state of the run in; later stages write to files next to it.
        progress: "silent" shows no progress bar.
        log: called with a line of text before each stage.

    Returns:
        The policy and the distance.

    Examples:
        >>> import numpy as np
        >>> line = Trajectories(
        ...     observations=np.arange(60.0)[:, None], ends=np.array([59]), actions=np.ones((60, 1), dtype=np.float32)
        ... )
        >>> learned = learn_policy(
        ...     line, kind="graph", steps=50, policy_steps=50, dim=8, widths=(8,), batch_size=16, states=20, horizon=5,
        ...     progress="silent",
        ... )
        >>> type(learned.policy).__name__, learned.distance.model.axioms.triangle
        ('GraphPolicy', True)
    """
    checks.one_of("kind", kind, get_args(PolicyKind))
    checks.instance("trajectories", trajectories, Trajectories)
    if trajectories.actions is None and kind != "none":
        raise ValueError("trajectories: expected a log with actions, got one without")
    given: dict[str, object] = {
        "objective": objective,
        "head": head,
        "dim": dim,
        "widths": tuple(widths) if isinstance(widths, Sequence) else widths,
        "steps": steps,
        "learning_rate": learning_rate,
        "horizon": horizon,
        "states": states,
        "held_out": held_out,
        "policy_steps": policy_steps,
    }
    _check_effects(kind, given)
    if kind != "none" and trajectories.observations.ndim != 2:
        raise ValueError(
            f"kind: expected 'none' for observations that are not vectors, got {kind!r} with observations of shape "
            f"{trajectories.observations.shape}"
        )
    say = log or say_nothing
    file = None if checkpoint is None else checks.path("checkpoint", checkpoint)
    shared = {"batch_size": batch_size, "seed": seed, "progress": progress}
    say(f"{trajectories.num_transitions:,} logged steps in {trajectories.num_episodes:,} episodes")
    if kind == "clone":
        say("cloning the behavior")
        stage = stage_file(file, "actor")
        return LearnedPolicy(
            clone_behavior(trajectories, steps=policy_steps, waves=waves, checkpoint=stage, **shared), None
        )
    model = goal_model(trajectories, head=head, dim=dim, widths=widths, waves=waves, seed=seed)
    say("learning the distance")
    distance = learn_distance(
        model,
        trajectories,
        objective=objective,
        steps=steps,
        learning_rate=learning_rate,
        held_out=held_out,
        checkpoint=file,
        **shared,
    )
    if kind == "none":
        return LearnedPolicy(None, distance)
    if kind == "awr":
        say("cloning what comes closer to goals")
        stage = stage_file(file, "actor")
        actor = learn_actor(
            model, trajectories, method="awr", steps=policy_steps, waves=waves, checkpoint=stage, **shared
        )
        return LearnedPolicy(actor, distance)
    say("learning to walk to near states")
    stage = stage_file(file, "local")
    local = learn_local_policy(trajectories, horizon=horizon, steps=policy_steps, checkpoint=stage, **shared)
    planner: GraphPolicy | WaypointPolicy
    if kind == "waypoints":
        planner = WaypointPolicy.from_log(model, trajectories, local=local, states=states, horizon=horizon, seed=seed)
        return LearnedPolicy(planner, distance)
    planner = GraphPolicy.from_log(model, trajectories, local=local, states=states, horizon=horizon, seed=seed)
    if kind == "graph":
        return LearnedPolicy(planner, distance)
    say("teaching an actor what the planner does")
    stage = stage_file(file, "actor")
    actor = distil_policy(planner, trajectories, steps=policy_steps, waves=waves, checkpoint=stage, **shared)
    return LearnedPolicy(actor, distance)


def _check_effects(kind: PolicyKind, given: Mapping[str, object]) -> None:
    usual = {name: one.default for name, one in signature(learn_policy).parameters.items()}
    for name in WITHOUT_EFFECT.get(kind, ()):
        if given[name] is not usual[name] and given[name] != usual[name]:
            raise ValueError(
                f"{name}: expected {usual[name]!r}, as it has no effect with kind={kind!r}, got {given[name]!r}"
            )


def stage_file(checkpoint: Path | None, stage: Literal["local", "actor"]) -> Path | None:
    """Name the checkpoint of a stage after the one of the distance.

    Args:
        checkpoint: where the distance keeps its state.
        stage: which one.
    """
    return None if checkpoint is None else checkpoint.with_name(f"{checkpoint.stem}.{stage}{checkpoint.suffix}")
