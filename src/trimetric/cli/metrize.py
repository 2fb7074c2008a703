"""`trimetric metrize`"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from tyro.conf import Positional, arg

from trimetric.cli.effects import Effects, Only
from trimetric.cli.general import CHECKPOINTS, SeededComputing, keep_inputs, output_file, unless_given
from trimetric.files.errors import InputError, check_inputs

if TYPE_CHECKING:
    from trimetric.files.pairs import PairTable
    from trimetric.training.distilling import DistillationConfig

OF_A_MODEL = Only("with a model", lambda options: options.of_a_model)
OF_A_TABLE = Only("with a table of pairs", lambda options: not options.of_a_model)


@dataclass(frozen=True, kw_only=True)
class Metrize:
    """Turn a model or a table of scores that breaks the triangle inequality into a distance that keeps it.

      trimetric metrize mlp.safetensors -o metric.safetensors
      trimetric metrize mlp.safetensors -o metric.safetensors --truth truth.csv --symmetric
      trimetric metrize scores.csv -o distances.csv --floor 2

    A quasimetric B learns to run near the values of the model, or near the scores, which are then kept between B + c
    and B + 2c.  No two different objects are closer than the floor c: it is the price of the guarantee, and is printed
    with the share of the pairs that were changed.

    A table has rows of from, to, distance; the output has the repaired distance, and the one given.  For a complete
    matrix, trimetric repair finds the nearest metric, without a floor.

    An interrupted run resumes when the same command is given again.
    """

    source: Annotated[Positional[Path], arg(metavar="MODEL_OR_TABLE")]
    """a model file (.safetensors), or a table of pairs (CSV, TSV, Parquet, NPZ)"""
    output: Annotated[Path, arg(aliases=["-o"], metavar="FILE")]
    """the model (.safetensors) or the table (.csv, .tsv, .parquet) to write"""
    floor: Annotated[float | None, unless_given("FLOAT")] = None
    """the smallest distance of different objects (default: chosen so that little is changed)"""
    symmetric: bool = False
    """make d(x, y) = d(y, x): a model is averaged over both directions, a table must have the same in both"""
    truth: Annotated[Path | None, unless_given("FILE")] = None
    """a table of pairs with known distances, which choose the floor and give the errors before and after"""
    from_column: str = "from"
    """column of the objects where scores start"""
    to_column: str = "to"
    """column of the objects where they end"""
    distance_column: str = "distance"
    """column of the scores"""
    steps: int = 3000
    """steps of the training"""
    learning_rate: Annotated[float | None, unless_given("FLOAT")] = None
    """learning rate of AdamW (default: 0.002, or 0.03 for objects without features)"""
    weight_decay: Annotated[float | None, unless_given("FLOAT")] = None
    """decoupled weight decay (default: 0.1, or 0 for objects without features)"""
    restart: bool = False
    """start over, even if an interrupted run could resume"""
    general: SeededComputing = field(default_factory=SeededComputing)

    effects: ClassVar[Effects] = {
        "truth": OF_A_MODEL,
        "from_column": OF_A_TABLE,
        "to_column": OF_A_TABLE,
        "distance_column": OF_A_TABLE,
    }

    @property
    def of_a_model(self) -> bool:
        """Whether the source is a model file."""
        return self.source.suffix.lower() == ".safetensors"

    def run(self) -> int:
        endings = (".safetensors",) if self.of_a_model else (".csv", ".tsv", ".parquet")
        output = output_file("--output", self.output, *endings, beside=CHECKPOINTS)
        keep_inputs("--output", output, self.source, self.truth)
        if self.floor is not None and not 0 <= self.floor < float("inf"):
            raise InputError(f"--floor: expected a number >= 0, got {self.floor}")
        check_inputs(self.source, self.truth)
        return self._of_model(output) if self.of_a_model else self._of_table(output)

    def _config(self) -> DistillationConfig:
        from trimetric.cli.effects import in_options
        from trimetric.training import DistillationConfig

        try:
            return DistillationConfig(
                steps=self.steps,
                learning_rate=self.learning_rate,
                weight_decay=self.weight_decay,
                seed=self.general.seed,
            )
        except ValueError as error:
            raise in_options(self, error) from None

    def _of_model(self, output: Path) -> int:
        config, model = self._config(), self.general.load(self.source)
        if model.ids is None or len(model.ids) < 2:
            raise InputError(f"{self.source}: expected a model that knows at least two objects, got none or one")

        import torch

        from trimetric.cli.training import checkpoint_of, save, training
        from trimetric.files.pairs import match_names
        from trimetric.metrizing import metrize
        from trimetric.models.model import Model

        known: dict[str, Any] = {}
        if self.truth is not None:
            table = match_names(_read_scores(self.truth), model.ids, str(self.source))
            if len(table) < 2:
                raise InputError(f"{self.truth}: expected at least two pairs of different objects, got {len(table)}")
            known = {
                "pairs": torch.from_numpy(table.ends).to(model.device),
                "targets": torch.tensor(table.distances, dtype=torch.float32, device=model.device),
            }
        with training(self, checkpoint_of(output), restart=self.restart, subjects={"f": str(self.source)}):
            result = metrize(
                model.network,
                model.objects(),
                floor="auto" if self.floor is None else self.floor,
                symmetric=self.symmetric,
                config=config,
                checkpoint=checkpoint_of(output),
                progress=self.general.progress(),
                warn=False,
                **known,
            )
        report = result.report
        notes = {**model.notes, "metrized": report.to_dict()}
        save(Model(result.distance, model.ids, model.features, notes, model.places), output)
        self.general.say(str(report))
        if self.general.as_json:
            self._warn(report.warnings)
        self.general.say(f"saved in {output}")
        self.general.answer(**report.to_dict(), holds=report.audit.holds, written=[str(output)])
        return 1 if report.audit.broken else 0

    def _of_table(self, output: Path) -> int:
        from trimetric.cli.fit_inputs import COLUMNS_HINT, learnable_distances
        from trimetric.files.pairs import check_directions

        columns = (self.from_column, self.to_column, self.distance_column)
        table = _read_scores(self.source, columns, hint=COLUMNS_HINT)
        if self.symmetric:
            check_directions(table, hint="; without --symmetric each direction has its own")
        scores, config = learnable_distances(table, self.source, positive=False), self._config()

        import torch

        from trimetric._support.tensor_files import remove_checkpoint
        from trimetric.cli.training import checkpoint_of, training
        from trimetric.files.writing import write_rows
        from trimetric.metrizing import metrize_scores

        device, checkpoint = self.general.torch_device(), checkpoint_of(output)
        with training(self, checkpoint, restart=self.restart, subjects={"scores": str(self.source)}):
            result = metrize_scores(
                torch.from_numpy(table.ends).to(device),
                torch.tensor(scores, dtype=torch.float32, device=device),
                objects=len(table.names),
                floor="auto" if self.floor is None else self.floor,
                symmetric=self.symmetric,
                config=config,
                checkpoint=checkpoint,
                progress=self.general.progress(),
            )
        rows = zip(table.ends.tolist(), result.distances.tolist(), scores.tolist(), strict=True)
        lines = ([table.names[a], table.names[b], f"{new:.7g}", repr(old)] for (a, b), new, old in rows)
        write_rows(output, (*table.columns, "distance", "given"), [lines], numbers=("distance", "given"))
        remove_checkpoint(checkpoint)
        self.general.say(
            f"triangle defect: {result.audit.triangle_defect:.4g} on {result.audit.triples:,} triples of objects\n"
            f"floor:           {result.floor:.4g}; {result.below_floor:.1%} of the scores were below\n"
            f"changed:         {result.clamped:.1%} of {len(scores):,} scores, mean squared change "
            f"{result.mean_squared_change:.4g}"
        )
        if result.changes is not None:
            self.general.say(
                f"nearest metric:  mean squared change {result.changes.least:.4g} on {result.changes.objects} objects; "
                f"this one {result.changes.own:.4g}"
            )
        self._warn(result.warnings)
        self.general.say(f"written: {output}")
        self.general.answer(
            floor=result.floor,
            clamped=result.clamped,
            below_floor=result.below_floor,
            mean_squared_change=result.mean_squared_change,
            triangle_defect=result.audit.triangle_defect,
            changes=None if result.changes is None else result.changes._asdict(),
            warnings=result.warnings,
            written=[str(output)],
        )
        return 1 if result.audit.broken else 0

    def _warn(self, texts: list[str] | tuple[str, ...]) -> None:
        for text in texts:
            self.general.note(f"warning: {text}")


def _read_scores(
    file: Path, columns: tuple[str, str, str] = ("from", "to", "distance"), *, hint: str = ""
) -> PairTable:
    """Read finite scores of pairs of different objects, each pair once."""
    from trimetric.files.pairs import drop_repeats, read_pairs

    source, target, distance = columns
    remedy = "leave out pairs without one"
    return drop_repeats(read_pairs(file, source=source, target=target, distance=distance, hint=hint, remedy=remedy))
