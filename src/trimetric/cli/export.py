"""`trimetric export`"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from trimetric.cli.general import Computing, keep_inputs, output_file
from trimetric.files.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Export:
    """Export a model as a file that runs without this package: ONNX, or a program of torch.export.

      trimetric export model.safetensors -o model.onnx
      trimetric export model.safetensors -o model.pt2

    The inputs x and y are rows of features, or, for a model without features, the numbers of the objects in the order
    of trimetric info --json.  The output is their distances.
    """

    model: Annotated[Positional[Path], arg(metavar="MODEL")]
    """a model file, as trimetric fit writes it"""
    output: Annotated[Path, arg(aliases=["-o"], metavar="FILE")]
    """the .onnx or .pt2 file to write"""
    general: Computing = field(default_factory=Computing)

    def run(self) -> int:
        output = output_file("--output", self.output, ".onnx", ".pt2")
        keep_inputs("--output", output, self.model)
        model = self.general.load(self.model)

        from trimetric.cli.promises import caveat
        from trimetric.models.exporting import export

        try:
            export(model, output)
        except ValueError as error:
            raise InputError(f"{self.model}: {error}") from None
        if (text := caveat(model)) is not None:
            self.general.say(text)
        self.general.say(f"written: {output}")
        self.general.answer(written=str(output), unit=model.notes.get("unit"), promises=asdict(model.axioms))
        return 0
