"""`trimetric values fit`"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from tyro.conf import arg

from trimetric._support.optional import needing
from trimetric.cli.effects import CONCAVE, Effects, Only
from trimetric.cli.general import CHECKPOINTS, Seeded, keep_inputs, output_file, unless_given
from trimetric.files.errors import InputError
from trimetric.models.heads import HeadName

if TYPE_CHECKING:
    from trimetric.rl import Transitions

OF_THE_LOG = {name: name for name in ("transitions", "observations", "goals")}
"""arguments of the library that come from the log, which errors call by their own names"""
WALKED = Only("with --env or --map", lambda options: options.env is not None or options.map is not None)


@dataclass(frozen=True, kw_only=True)
class ValuesFit:
    """Learn how far each goal is from each state, from logged transitions alone.

      trimetric values fit --env trimetric/Maze-v0 -o model.safetensors
      trimetric values fit --map rooms.txt --steps 100000 -o model.safetensors
      trimetric values fit --env MountainCar-v0 --repeat 5 --bins 40 -o model.safetensors
      trimetric values fit --dataset transitions.npz -o model.safetensors --head interval --epochs 80

    A dataset has the arrays observations and next_observations (n, ...), costs (above 0) or rewards (below 0) and,
    optionally, actions and terminals.  With --env or --map a random walk is logged first, to --dataset or beside the
    model.  A map is a text of # (wall), space (free) and the one-way doors ^ > v <.

    The method "constrained" pushes random states apart as far as the logged costs allow, "td" learns by temporal
    differences.  Some states are never goals in training: trimetric values plan walks to those.

    An interrupted run resumes when the same command is given again.
    """

    output: Annotated[Path, arg(aliases=["-o"], metavar="FILE")]
    """the model to write, a .safetensors file"""
    dataset: Annotated[Path | None, unless_given("FILE")] = None
    """an .npz file of transitions; with --env or --map, where to write them"""
    env: Annotated[str | None, unless_given("ID")] = None
    """a Gymnasium environment whose rewards are below 0"""
    map: Annotated[Path | None, unless_given("FILE")] = None
    """a text file with a map to walk on"""
    overwrite: bool = False
    """let the walk replace a file of --dataset that holds something else"""
    steps: int = 20_000
    """length of the random walk"""
    repeat: int = 1
    """how many times in a row it takes each action"""
    bins: Annotated[int | None, unless_given("INT")] = None
    """round each coordinate of an observation to this many bins, so that states recur"""

    method: Literal["constrained", "td"] = "constrained"
    """how to learn"""
    head: HeadName = "recommended"
    """the distance between points; mlp is a free network that promises nothing"""
    dim: int = 64
    """dimensions of the points"""
    widths: tuple[int, ...] = (256, 256)
    """hidden layers of the encoder of observations"""
    waves: int = 4
    """frequencies per coordinate for the encoder; more of them tell closer places apart, 0 for none"""
    concave_units: int = 0
    """learned concave units per component of the head; 0 for none"""

    epochs: int = 40
    """passes over the pairs"""
    pairs: Annotated[int | None, unless_given("INT")] = None
    """random pairs of a state and a goal (default: four for each move, at least 20,000)"""
    horizon: Annotated[float | None, unless_given("COST")] = None
    """largest cost of a path to constrain (default: a third of the longest)"""
    batch_size: int = 1024
    """pairs per step"""
    learning_rate: float = 1e-3
    """learning rate of Adam"""
    held_out: float = 0.1
    """share of the states that are never goals in training"""
    restart: bool = False
    """start over, even if an interrupted run could resume"""
    general: Seeded = field(default_factory=Seeded)

    effects: ClassVar[Effects] = {
        "overwrite": Only(
            "with --dataset and --env or --map", lambda options: options.dataset is not None and WALKED.holds(options)
        ),
        "steps": WALKED,
        "repeat": WALKED,
        "bins": WALKED,
        "horizon": Only("with --method constrained", lambda options: options.method == "constrained"),
        "concave_units": CONCAVE,
    }

    def run(self) -> int:
        output = output_file("--output", self.output, ".safetensors", beside=CHECKPOINTS)
        keep_inputs("--output", output, self.dataset, self.map)
        if not 0 <= self.held_out < 1:
            raise InputError(f"--held-out: expected a share from 0 to below 1, got {self.held_out}")
        if self.env is not None and self.map is not None:
            raise InputError("--map: expected --env, --map or --dataset alone, got --env too")
        walks = self.env is not None or self.map is not None
        for option, file in (("--map", self.map), ("--dataset", None if walks else self.dataset)):
            if file is not None and not file.is_file():
                raise InputError(f"{option}: {file}: no such file")
        return self._learn(self._transitions(output), output)

    def _learn(self, transitions: Transitions, output: Path) -> int:
        from trimetric.cli.promises import caveat
        from trimetric.cli.training import checkpoint_of, save, training
        from trimetric.rl import learn_goal_distance
        from trimetric.rl.learning.move_errors import move_errors_text

        general, checkpoint = self.general, checkpoint_of(output)
        with training(self, checkpoint, restart=self.restart, subjects=OF_THE_LOG):
            learned = learn_goal_distance(
                transitions,
                method=self.method,
                head=self.head,
                dim=self.dim,
                widths=self.widths,
                waves=self.waves,
                concave_units=self.concave_units,
                held_out=self.held_out,
                epochs=self.epochs,
                pairs=self.pairs,
                horizon=self.horizon,
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                seed=general.seed,
                checkpoint=checkpoint,
                progress=general.progress(),
                log=general.say,
            )
        model, moves, epochs = learned.model, learned.moves, learned.history.epochs
        model.notes |= {"settings": self.settings()}
        save(model, output)
        general.say(f"after {len(epochs)} epochs: {move_errors_text(epochs[-1].watched)}")
        if (text := caveat(model)) is not None:
            general.say(text)
        general.say(f"saved in {output}")
        general.answer(
            model=str(output),
            weights=sum(parameter.numel() for parameter in model.network.parameters()),
            states=moves.num_states,
            moves=len(moves.edges),
            epochs=len(epochs),
            loss=epochs[-1].loss,
            **epochs[-1].watched,
            promises=asdict(model.axioms),
        )
        return 0

    def settings(self) -> dict[str, object]:
        """Return the options for the notes of the model."""
        plain = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(self).items() if k != "general"}
        return {**plain, "seed": self.general.seed}

    def _transitions(self, output: Path) -> Transitions:
        from trimetric.rl import read_transitions

        if self.env is None and self.map is None:
            if self.dataset is None:
                raise InputError("--dataset: expected a file of transitions, or --env, or --map, got none of them")
            try:
                return read_transitions(self.dataset)
            except ValueError as error:
                raise InputError(f"--dataset: {error}") from None
        file = self.dataset or output.with_suffix(".transitions.npz")
        output_file("--dataset", file, ".npz")
        keep_inputs("--dataset", file, self.map)
        found = self._walk()
        try:
            # The log beside the model is replaced with it; a file that --dataset names may be someone's only copy.
            found.write(file, overwrite=self.overwrite or self.dataset is None)
        except FileExistsError as error:
            raise InputError(f"--dataset: {error}; --overwrite replaces it") from None
        self.general.say(f"{len(found):,} steps of a random walk in {file}")
        return found

    def _walk(self) -> Transitions:
        from trimetric.rl import bins_of, collect

        option = "--map" if self.map is not None else f"--env {self.env}"
        with needing(option, "values"):
            import gymnasium
            from gymnasium.wrappers import TimeLimit

        from trimetric.rl.worlds.environment import EPISODE_STEPS, GridEnvironment

        try:
            if self.map is not None:
                grid = GridEnvironment(self.map.read_text(encoding="utf-8"), observations="cells")
                # It starts over elsewhere now and then, or it would not get around on a large map.
                env: gymnasium.Env = TimeLimit(grid, EPISODE_STEPS)
            else:
                cells: dict[str, Any] = {"observations": "cells"} if str(self.env).startswith("trimetric/") else {}
                env = gymnasium.make(str(self.env), **cells)
            observe = None if self.bins is None else bins_of(env, self.bins)
            return collect(env, self.steps, seed=self.general.seed, repeat=self.repeat, observe=observe)
        except InputError:
            raise
        except (ValueError, gymnasium.error.Error) as error:
            raise InputError(f"{option}: {' '.join(str(error).split())}") from None
