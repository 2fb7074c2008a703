"""A trained distance as a file that runs without this package: ONNX, or a program of `torch.export`."""

from __future__ import annotations

import logging
import warnings
from io import BytesIO
from pathlib import Path

import torch
from torch import Tensor

from trimetric._support import checks
from trimetric._support.atomic import replacing
from trimetric._support.optional import needing
from trimetric.distances import Distance, ObjectDistance
from trimetric.distances.encoder_inputs import example_objects, explain_unreadable
from trimetric.distances.siamese import Siamese
from trimetric.models.model import Model


def export(model: Model | ObjectDistance, path: Path | str, *, example: Tensor | None = None) -> Path:
    """Write the map from two batches of objects to their distances, for batches of any size.

    The suffix of `path` selects the format: `.onnx` (inputs `x` and `y`, output `distance`; needs the extra `onnx`) or
    `.pt2` (for `torch.export.load`).

    Args:
        model: what to export.
        path: the file to write.
        example: two or more objects as the network reads them; needed only if this cannot be inferred from the model.

    Returns:
        The path of the file.

    Examples:
        >>> import tempfile
        >>> import trimetric as tm
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tm.export(tm.NormInduced(tm.Euclidean(3)), f"{folder}/distance.pt2").name
        'distance.pt2'
    """
    checks.instance("model", model, Model, Siamese, Distance)
    file = checks.path("path", path)
    if file.suffix not in (".onnx", ".pt2"):
        raise ValueError(f"path: expected a name that ends in .onnx or .pt2, got {file.name!r}")
    network = model.network if isinstance(model, Model) else model
    rows = _example(model) if example is None else checks.as_tensor("example", example, network)
    _check_readable(network, rows)
    if len(rows) < 2:
        rows = rows.repeat(2, *[1] * (rows.ndim - 1))
    file.parent.mkdir(parents=True, exist_ok=True)
    batch = torch.export.Dim("batch", min=1)
    shapes = {"x": {0: batch}, "y": {0: batch}}
    inputs = (rows[:2], rows[:2].clone())
    was_training = network.training
    try:
        program = torch.export.export(network.eval(), inputs, dynamic_shapes=shapes)
        content = _program(program) if file.suffix == ".pt2" else _onnx(program)
    finally:
        network.train(was_training)
    with replacing(file) as stream:
        stream.write(content)
    return file


def _check_readable(network: ObjectDistance, rows: Tensor) -> None:
    was_training = network.training
    try:
        with torch.no_grad():
            network.eval()(rows[:1], rows[:1])
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        reason = explain_unreadable("example", rows, network.reader)
        raise reason or ValueError(f"example: expected two objects as the network reads them: {error}") from None
    finally:
        network.train(was_training)


def _program(program: torch.export.ExportedProgram) -> bytes:
    buffer = BytesIO()
    torch.export.save(program, buffer)
    return buffer.getvalue()


def _onnx(program: torch.export.ExportedProgram) -> bytes:
    with needing("export to ONNX", "onnx"):
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401
    # The exporter warns about itself, and about packages that it could have used.
    logging.getLogger("torch.onnx._internal.exporter._registration").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.onnx.export(
            program, input_names=["x", "y"], output_names=["distance"], dynamo=True, verbose=False
        )
        if exported is None:
            raise RuntimeError("torch.onnx.export: expected a program, got none")
        return exported.model_proto.SerializeToString()


def _example(model: Model | ObjectDistance) -> Tensor:
    """Objects such as the network reads."""
    if isinstance(model, Model):
        return model.objects()[:2] if model.ids is not None else _example(model.network)
    found = example_objects(model.reader)
    if found is not None:
        return found
    raise ValueError("example: expected two objects as the encoder reads them, since they cannot be told from it")
