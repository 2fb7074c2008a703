"""`trimetric values plan`"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from trimetric.cli.general import Seeded, keep_inputs, output_file, unless_given
from trimetric.files.errors import InputError, check_inputs


@dataclass(frozen=True, kw_only=True)
class ValuesPlan:
    """Walk to goals that were not goals in training, by a model that trimetric values fit wrote.

      trimetric values plan model.safetensors model.transitions.npz
      trimetric values plan model.safetensors transitions.npz --picture plan.png --pairs 2000

    Each step takes the logged move for which its cost plus the learned distance from there to the goal is least.
    Reported are success and SPL: success weighted by the cost of a cheapest path over logged moves divided by the cost
    of the walk.
    """

    model: Annotated[Positional[Path], arg(metavar="MODEL")]
    """a model file that trimetric values fit wrote"""
    dataset: Annotated[Positional[Path], arg(metavar="TRANSITIONS")]
    """the .npz file that it was fitted to"""
    pairs: int = 1000
    """how many random starts, each with a random goal"""
    max_steps: int = 500
    """give up a walk after this many steps"""
    picture: Annotated[Path | None, unless_given("FILE")] = None
    """a .png with some walks and the learned distance to their goals"""
    general: Seeded = field(default_factory=Seeded)

    def run(self) -> int:
        picture = None if self.picture is None else output_file("--picture", self.picture, ".png", ".svg", ".pdf")
        if picture is not None:
            keep_inputs("--picture", picture, self.model, self.dataset)
        for option, value in (("--pairs", self.pairs), ("--max-steps", self.max_steps)):
            if value < 1:
                raise InputError(f"{option}: expected a positive whole number, got {value}")
        check_inputs(self.model, self.dataset)
        model = self.general.load(self.model)

        import torch

        from trimetric.cli.promises import caveat
        from trimetric.rl import KnownMoves, goal_pairs, hold_out_goals, judge, plan, read_transitions

        try:
            moves = KnownMoves(read_transitions(self.dataset))
        except ValueError as error:
            raise InputError(str(error)) from None
        notes = model.notes
        if not {"states", "moves", "settings"} <= notes.keys() or "held_out" not in notes["settings"]:
            raise InputError(f"{self.model}: expected a model that trimetric values fit wrote, got another kind")
        if notes.get("states") != moves.num_states or notes.get("moves") != len(moves.edges):
            raise InputError(
                f"{self.dataset}: expected the transitions that {self.model} was fitted to, "
                f"{notes.get('states')} states and {notes.get('moves')} moves, "
                f"got {moves.num_states} and {len(moves.edges)}"
            )
        known = "moves_digest" in notes  # files of earlier versions have none
        if known and notes["moves_digest"] != moves.digest():
            raise InputError(
                f"{self.dataset}: expected the transitions that {self.model} was fitted to, got as many states and "
                "moves, but other ones"
            )
        fraction, seed = (notes["settings"][name] for name in ("held_out", "seed"))
        _, held = hold_out_goals(moves, fraction, seed=seed)
        unseen = len(held) > 0
        pairs = goal_pairs(
            moves, held if unseen else torch.arange(moves.num_states), self.pairs, seed=self.general.seed
        )
        try:
            score = judge(moves, pairs, plan(model.network, moves, pairs, max_steps=self.max_steps))
        except ValueError as error:
            raise InputError(f"{self.dataset}: {error}") from None
        kind = "goals that were not goals in training" if unseen else "goals, all of them known from training"
        if not known:
            kind = (
                "goals (the model is of an earlier version, which did not note the log: unseen ones if it is this one)"
            )
        self.general.say(f"{score.pairs:,} walks to {kind}: success {score.success:.3f}, SPL {score.spl:.3f}")
        if moves.next_state.shape[1] == 1:
            self.general.say(
                "each state of this log has one move, so there was nothing to choose; see --bins of values fit"
            )
        if (text := caveat(model)) is not None:
            self.general.say(text)
        if picture is not None:
            from trimetric.rl.planning.pictures import save_plan

            try:
                save_plan(picture, {"walks": model.network}, moves, pairs[:6], max_steps=self.max_steps)
            except ValueError as error:
                raise InputError(f"--picture: {error}") from None
            self.general.say(f"written: {picture}")
        self.general.answer(
            success=score.success,
            spl=score.spl,
            pairs=score.pairs,
            unseen_goals=unseen if known else None,
            picture=None if picture is None else str(picture),
            promises=asdict(model.axioms),
        )
        return 0
