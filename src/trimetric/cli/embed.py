"""`trimetric embed`"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from tyro.conf import Positional, arg

from trimetric.cli.effects import Effects, Only
from trimetric.cli.general import Computing, keep_inputs, output_file, unless_given
from trimetric.files.errors import InputError, check_inputs

if TYPE_CHECKING:
    from torch import Tensor

ROWS_AT_ONCE = 4096


@dataclass(frozen=True, kw_only=True)
class Embed:
    """Write the points of objects: the vectors between which the distance of a model is measured.

      trimetric embed model.safetensors -o points.csv
      trimetric embed model.safetensors --features new.csv -o points.parquet
      trimetric embed model.safetensors -o points.csv --picture points.png

    A table has the columns id, x0, x1, ...; an .npz file has the arrays ids and points.

    The picture shows the two principal axes of the points.  It shows points, not distances: by a head other than
    euclidean, what looks far apart may be near, and the way there may differ from the way back.
    """

    model: Annotated[Positional[Path], arg(metavar="MODEL")]
    """a model file, as trimetric fit writes it"""
    output: Annotated[Path, arg(aliases=["-o"], metavar="FILE")]
    """the .csv, .tsv, .parquet or .npz file to write"""
    features: Annotated[Path | None, unless_given("FILE")] = None
    """features of other objects, to use instead of those that the model knows"""
    id_column: str = "id"
    """column of the ids in the file of features"""
    picture: Annotated[Path | None, unless_given("FILE")] = None
    """a .png, .svg or .pdf of the points; up to 40 objects are named in it"""
    general: Computing = field(default_factory=Computing)

    effects: ClassVar[Effects] = {"id_column": Only("with --features", lambda options: options.features)}

    def run(self) -> int:
        output = output_file("--output", self.output, ".csv", ".tsv", ".parquet", ".npz")
        keep_inputs("--output", output, self.model, self.features)
        if self.picture is not None:
            output_file("--picture", self.picture, ".png", ".svg", ".pdf")
            keep_inputs("--picture", self.picture, self.model, self.features, output)
        check_inputs(self.model, self.features)

        from trimetric.cli.queries import model_of_objects

        model = model_of_objects(self.general, self.model, self.features, self.id_column)
        ids, points = list(model.ids or ()), model.embed().cpu()
        if output.suffix.lower() == ".npz":
            _write_arrays(output, ids, points)
        else:
            from trimetric.files.writing import write_rows

            header = ("id", *(f"x{i}" for i in range(points.shape[1])))
            write_rows(output, header, _blocks(ids, points), numbers=header[1:])
        self.general.say(f"{len(ids):,} points of {points.shape[1]} numbers written to {output}")
        if self.picture is not None:
            from trimetric.models import draw_points, save_figure

            try:
                save_figure(draw_points(points, names=ids), self.picture)
            except ValueError as error:
                raise InputError(f"--picture: {error}") from None
            self.general.say(f"picture: {self.picture}")
        drawn = {} if self.picture is None else {"picture": str(self.picture)}
        self.general.answer(written=str(output), rows=len(ids), dim=points.shape[1], **drawn)
        return 0


def _blocks(ids: list[str], points: Tensor) -> Iterator[list[tuple[str, ...]]]:
    for start in range(0, len(ids), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        yield [(name, *map(repr, row)) for name, row in zip(ids[part], points[part].tolist(), strict=True)]


def _write_arrays(file: Path, ids: list[str], points: Tensor) -> None:
    import numpy as np

    from trimetric._support.atomic import replacing

    with replacing(file) as stream:
        np.savez(stream, ids=np.array(ids), points=points.numpy())
