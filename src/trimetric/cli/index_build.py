"""`trimetric index build`"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from trimetric.cli.effects import in_options
from trimetric.cli.general import Seeded, keep_inputs, output_file
from trimetric.files.errors import InputError


@dataclass(frozen=True, kw_only=True)
class IndexBuild:
    """Build an index of the objects of a model, by which their nearest ones are found without comparing with all.

      trimetric index build model.safetensors -o model.index
      trimetric index build city.safetensors -o city.index --json
      trimetric predict model.safetensors --from A1 --nearest 5 --index model.index

    The answers are those without the index: the triangle inequality excludes the other objects.  A model that does
    not promise it is refused.
    """

    model: Annotated[Positional[Path], arg(metavar="MODEL")]
    """a model file, as trimetric fit writes it"""
    output: Annotated[Path, arg(aliases=["-o"], metavar="FILE")]
    """the .index file to write"""
    pivots: Annotated[int, arg(metavar="N")] = 16
    """objects whose distances to and from all others are measured"""
    leaf_size: Annotated[int, arg(metavar="N")] = 256
    """most objects that are compared or skipped together"""
    general: Seeded = field(default_factory=Seeded)

    def run(self) -> int:
        output = output_file("--output", self.output, ".index")
        keep_inputs("--output", output, self.model)
        model = self.general.load(self.model)
        if model.ids is None:
            raise InputError(f"{self.model}: this model knows no objects by name, so there is nothing to search among")

        from trimetric.search import Index

        start = time.perf_counter()
        try:
            index = Index(model, pivots=self.pivots, leaf_size=self.leaf_size, seed=self.general.seed)
        except ValueError as error:
            raise in_options(self, error, {"distance": str(self.model), "points": str(self.model)}) from None
        index.save(output)
        seconds = time.perf_counter() - start
        self.general.say(
            f"{len(index):,} objects in {len(index.store.leaves):,} leaves, {index.bytes_per_point:.0f} bytes each, "
            f"in {seconds:.1f} s\nwritten: {output}"
        )
        self.general.answer(
            written=str(output),
            objects=len(index),
            leaves=len(index.store.leaves),
            pivots=len(index.store.pivots),
            bytes_per_object=index.bytes_per_point,
            promises=asdict(model.axioms),
        )
        return 0
