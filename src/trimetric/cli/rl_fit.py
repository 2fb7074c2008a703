"""`trimetric rl fit`"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from tyro.conf import Positional, arg

from trimetric.cli.effects import Effects, Only
from trimetric.cli.general import CHECKPOINTS, Seeded, keep_inputs, output_file, unless_given
from trimetric.files.errors import InputError
from trimetric.models.heads import HeadName

if TYPE_CHECKING:
    from trimetric.rl import LearnedPolicy, Objective, Trajectories

ObjectiveName = Literal["constrained", "td", "contrastive", "action-invariant", "multistep", "eikonal"]
DISCOUNTED = ("contrastive", "action-invariant", "multistep")
OF_THE_LOG = {name: name for name in ("trajectories", "observations", "actions", "ends", "costs")} | {
    "fraction": "--held-out",
    "kind": "--policy",
}
"""arguments of the library that come from the log, which errors call by their own names"""


@dataclass(frozen=True, kw_only=True)
class RlFit:
    """Learn from logged episodes how far goals are, and a policy that walks to them.

      trimetric rl fit log.npz -o model.safetensors
      trimetric rl fit log/ -o model.safetensors --policy graph --steps 20000
      trimetric rl fit log.npz -o model.safetensors --objective contrastive --discount 0.99 --policy none

    The log is a file that Trajectories.write wrote, or an .npz file of OGBench (observations, actions, terminals).  The
    model is a distance like that of any other command; the policy is written beside it, to model.policy.safetensors.

    An interrupted run resumes when the same command is given again.
    """

    dataset: Annotated[Positional[Path], arg(metavar="LOG")]
    """an .npz file of episodes, or a folder of .npy files"""
    output: Annotated[Path, arg(aliases=["-o"], metavar="FILE")]
    """the model to write, a .safetensors file"""

    objective: ObjectiveName = "constrained"
    """how the distance is learned"""
    push: Literal["log", "sqrt", "linear"] = "sqrt"
    """how much far goals count"""
    discount: float = 0.99
    """how much the next step counts less"""
    head: Annotated[HeadName | None, unless_given("NAME")] = None
    """the distance between points: wide, deep, interval, mahalanobis, euclidean, recommended, or mlp, a free network
    that promises nothing (default: a grouped metric residual)"""
    dim: int = 64
    """dimensions of the points"""
    widths: tuple[int, ...] = (128, 128)
    """hidden layers of the encoder of observations"""
    waves: int = 3
    """frequencies per coordinate for the encoder; more of them tell closer places apart, 0 for none"""
    steps: int = 10_000
    """training steps of the distance"""
    batch_size: int = 512
    """logged steps per training step"""
    learning_rate: float = 1e-3
    """learning rate of Adam"""
    held_out: float = 0.0
    """share of the episodes that are not trained on, whose steps are measured"""

    policy: Literal["actor", "graph", "waypoints", "awr", "none"] = "actor"
    """an actor that has learned from the graph planner, a planner, an actor cloned with weights, or none"""
    policy_steps: int = 5000
    """training steps of the actor, and of the policy that walks to near states"""
    horizon: int = 20
    """how many logged steps away the next waypoint of a planner may be"""
    states: int = 1000
    """how many logged states a planner walks to"""
    restart: bool = False
    """start over, even if an interrupted run could resume"""
    general: Seeded = field(default_factory=Seeded)

    effects: ClassVar[Effects] = {
        "push": Only("with --objective constrained or eikonal", lambda o: o.objective in ("constrained", "eikonal")),
        "discount": Only(f"with --objective {', '.join(DISCOUNTED)}", lambda o: o.objective in DISCOUNTED),
        "policy_steps": Only("with a --policy other than none", lambda o: o.policy != "none"),
        "horizon": Only("with --policy actor, graph or waypoints", lambda o: o.policy not in ("awr", "none")),
        "states": Only("with --policy actor, graph or waypoints", lambda o: o.policy not in ("awr", "none")),
    }

    def run(self) -> int:
        output = output_file("--output", self.output, ".safetensors", beside=CHECKPOINTS)
        beside = output_file("--output", policy_file(output), ".safetensors")
        if not self.dataset.exists():
            raise InputError(f"{self.dataset}: no such file")
        keep_inputs("--output", output, self.dataset)
        if not 0 <= self.held_out < 1:
            raise InputError(f"--held-out: expected a share from 0 to below 1, got {self.held_out}")
        return self._learn(self._read(), output, beside)

    def _read(self) -> Trajectories:
        from trimetric.rl import read_trajectories

        try:
            return read_trajectories(self.dataset)
        except ValueError as error:
            raise InputError(str(error)) from None

    def _learn(self, log: Trajectories, output: Path, beside: Path) -> int:
        from trimetric._support.tensor_files import remove_checkpoint
        from trimetric.cli.promises import caveat
        from trimetric.cli.training import checkpoint_of, save, training
        from trimetric.models.model import Model
        from trimetric.rl import save_policy
        from trimetric.rl.policies.recipe import stage_file
        from trimetric.training.loop import DivergedError

        general, checkpoint = self.general, checkpoint_of(output)
        stages = [file for stage in ("local", "actor") if (file := stage_file(checkpoint, stage)) is not None]
        for file in stages if self.restart else ():
            remove_checkpoint(file)
        with training(self, checkpoint, restart=self.restart, subjects=OF_THE_LOG):
            try:
                learned = self._stages(log, checkpoint)
            except DivergedError as error:
                raise InputError(f"--learning-rate: {error}") from None
        distance = learned.distance
        assert distance is not None
        watched = distance.history.epochs[-1].watched
        notes = {"objective": repr(distance.objective), "settings": self.settings(), "measured": watched}
        model = Model(distance.model.eval(), notes=notes)
        if learned.policy is not None:
            save_policy(learned.policy, beside)
        save(model, output)
        for file in stages:
            remove_checkpoint(file)
        general.say(
            f"a logged step is {watched['one_step']:.2f} times its cost, random states are {watched['far']:.4g} apart"
        )
        if (text := caveat(model)) is not None:
            general.say(text)
        general.say(f"saved in {output}" + ("" if self.policy == "none" else f", its policy in {beside}"))
        general.answer(
            model=str(output),
            policy=None if self.policy == "none" else str(beside),
            weights=sum(parameter.numel() for parameter in model.network.parameters()),
            objective=notes["objective"],
            logged_steps=log.num_transitions,
            episodes=log.num_episodes,
            **watched,
            promises=asdict(model.axioms),
        )
        return 0

    def _stages(self, log: Trajectories, checkpoint: Path) -> LearnedPolicy:
        from trimetric.rl import learn_policy

        general, held = self.general, None
        if self.held_out:
            log, held = log.split(self.held_out, seed=general.seed)
        return learn_policy(
            log,
            kind=self.policy,
            objective=self._objective(),
            head=self.head,
            dim=self.dim,
            widths=self.widths,
            waves=self.waves,
            steps=self.steps,
            policy_steps=self.policy_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            horizon=self.horizon,
            states=self.states,
            held_out=held,
            seed=general.seed,
            checkpoint=checkpoint,
            progress=general.progress(),
            log=general.say,
        )

    def _objective(self) -> Objective:
        from trimetric import rl

        makers = {
            "constrained": lambda: rl.Constrained(push=self.push),
            "td": rl.TemporalDifference,
            "contrastive": lambda: rl.Contrastive(discount=self.discount),
            "action-invariant": lambda: rl.ActionInvariant(discount=self.discount),
            "multistep": lambda: rl.Multistep(discount=self.discount),
            "eikonal": lambda: rl.Eikonal(push=self.push),
        }
        return makers[self.objective]()

    def settings(self) -> dict[str, object]:
        """Return the options for the notes of the model."""
        plain = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(self).items() if k != "general"}
        return {**plain, "seed": self.general.seed}


def policy_file(output: Path) -> Path:
    """Name the file of the policy after that of the model.

    Args:
        output: the model.
    """
    return output.with_suffix(".policy.safetensors")
