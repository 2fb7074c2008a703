"""Build the page: a model, its objects and the runtime in one HTML file that opens from disk.

npm install --prefix build onnxruntime-web
python -m examples.browser.build model.safetensors --runtime build/node_modules/onnxruntime-web/dist -o page.html
"""

from __future__ import annotations

import base64
import gzip
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

import trimetric as tm

PAGE = Path(__file__).with_name("page.html")
RUNTIME, WASM = "ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm"


@dataclass(frozen=True, kw_only=True)
class Build:
    """Write a page that answers the distances of a model offline."""

    model: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="MODEL")]
    """a model file whose objects have names"""
    runtime: Path
    """the folder `dist` of the npm package onnxruntime-web"""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("distances.html")
    """the page to write"""


def write_page(model: tm.Model, runtime: Path, output: Path) -> Path:
    """Write one HTML file with the model, its objects and the runtime.

    Args:
        model: with named objects, and features as vectors or none.
        runtime: the folder `dist` of the npm package onnxruntime-web.
        output: the file to write.

    Returns:
        The file.
    """
    if model.ids is None:
        raise ValueError("model: expected one whose objects have names, got one without")
    if model.features is not None and model.features.ndim != 2:
        raise ValueError(f"model: expected a vector of features for each object, got {tuple(model.features.shape)}")
    missing = [name for name in (RUNTIME, WASM) if not (runtime / name).is_file()]
    if missing:
        raise FileNotFoundError(f"runtime: expected the dist of onnxruntime-web, got {runtime} without {missing}")
    with tempfile.TemporaryDirectory() as folder:
        content = tm.export(model, Path(folder) / "model.onnx").read_bytes()
    promise = "The triangle inequality holds for all of them." if model.axioms.triangle else "Nothing is promised."
    data = {
        "ids": list(model.ids),
        "unit": model.notes.get("unit"),
        "promise": promise,
        "objects": None if model.features is None else _packed(model.features.float().cpu().numpy().tobytes()),
        "model": _packed(content),
        "runtime": _packed((runtime / RUNTIME).read_bytes()),
        "wasm": _packed((runtime / WASM).read_bytes()),
    }
    # No text in it may end the element that holds it.
    output.write_text(PAGE.read_text().replace("@DATA@", json.dumps(data).replace("<", "\\u003c")))
    return output


def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()


def main() -> None:
    """Read the options and write the page."""
    options = tyro.cli(Build)
    try:
        written = write_page(tm.Model.load(options.model), options.runtime, options.output)
    except (RuntimeError, ValueError, OSError) as error:
        raise SystemExit(str(error)) from None
    print(f"{written}: {written.stat().st_size / 1e6:.1f} MB, opens from disk")


if __name__ == "__main__":
    main()
