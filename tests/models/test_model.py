"""A saved model comes back the same, from plain data alone; exported ones agree with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import zoo
from safetensors.torch import save_file
from torch import nn

import trimetric as tm
from trimetric._support.described import build, describe
from trimetric._support.tensor_files import CheckpointError
from trimetric.norms.activations import ConcaveUnits

DIM = zoo.DIM
every_object = pytest.mark.parametrize("name", zoo.OBJECTS)


@every_object
def test_a_saved_model_comes_back_the_same(name: str, tmp_path: Path) -> None:
    network = zoo.reweight(zoo.OBJECTS[name](DIM), "normal").eval()
    tm.Model(network, notes={"unit": "minutes"}).save(tmp_path / "model.safetensors")
    loaded = tm.Model.load(tmp_path / "model.safetensors")
    x, y = torch.randn(5, DIM), torch.randn(5, DIM)
    assert torch.equal(loaded.network(x, y), network(x, y))
    assert loaded.notes == {"unit": "minutes"}
    assert loaded.axioms == network.axioms


@pytest.mark.parametrize("name", zoo.NORMS)
def test_a_description_is_json_and_builds_the_norm_again(name: str) -> None:
    norm = zoo.NORMS[name](DIM)
    again = build(json.loads(json.dumps(describe(norm))))
    again.load_state_dict(norm.state_dict())
    x = torch.randn(5, DIM)
    assert torch.equal(again(x), norm(x))


def named_model(features: bool) -> tm.Model:
    ids = [f"place {i}" for i in range(7)]
    encoder = tm.MLP(3, 4, widths=(8,)) if features else nn.Embedding(7, 4)
    network = tm.Siamese(encoder, tm.Calibrated(tm.NeuralMetric(tm.WideNorm(4, components=3, width=2))))
    return tm.Model(network.eval(), ids, torch.randn(7, 3) if features else None)


@pytest.mark.parametrize("features", [True, False])
def test_objects_are_asked_for_by_name(features: bool, tmp_path: Path) -> None:
    model = named_model(features)
    loaded = tm.Model.load(model.save(tmp_path / "model.safetensors"))
    every = loaded.all_pairs()
    assert every.shape == (7, 7)
    assert loaded.distances(["place 3"], ["place 5"]).item() == pytest.approx(every[3, 5].item(), rel=1e-5)
    assert loaded.all_pairs(["place 1", "place 6"], ["place 2"]).flatten().tolist() == pytest.approx(
        every[[1, 6], 2].tolist(), rel=1e-5
    )
    with pytest.raises(ValueError, match=r"names: 'nowhere' is not among the 7 objects"):
        loaded.distances(["place 1"], ["nowhere"])
    with pytest.raises(ValueError, match=r"targets: expected 1, as many as sources, got 2"):
        loaded.distances(["place 1"], ["place 1", "place 2"])


def test_what_cannot_be_saved_says_so(tmp_path: Path) -> None:
    class Own(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    with pytest.raises(TypeError, match=r"Own: expected a module of Trimetric.*Described.*Linear"):
        tm.Model(tm.Siamese(Own(), tm.Euclidean(3))).save(tmp_path / "m.safetensors")
    built_by_a_generator = tm.WideMetric(tm.Euclidean(3) for _ in range(2))
    with pytest.raises(TypeError, match=r"WideMetric.distances: expected .* got generator"):
        tm.Model(built_by_a_generator).save(tmp_path / "m.safetensors")
    changed = tm.Siamese(nn.Linear(3, 2), tm.Euclidean(2))
    changed.encoder = nn.Linear(5, 2)
    with pytest.raises(ValueError, match=r"network: expected the parts that it was built with"):
        tm.Model(changed).save(tmp_path / "m.safetensors")
    assert not list(tmp_path.iterdir())


def test_only_classes_known_by_name_are_built() -> None:
    for name in ("os.system", "builtins.eval", "torch.nn.Bilinear", "Nothing"):
        with pytest.raises(ValueError, match="is no class that this program knows"):
            build({"class": name, "arguments": {"command": "touch broken"}})
    with pytest.raises(ValueError, match="Euclidean cannot be built"):
        build({"class": "Euclidean", "arguments": {"dimension": 3}})
    with pytest.raises(ValueError, match="expected a class and its arguments"):
        build(["Euclidean", 3])


def test_files_that_are_no_model_are_refused(tmp_path: Path) -> None:
    path = named_model(features=True).save(tmp_path / "model.safetensors")
    whole = path.read_bytes()
    for name, damaged in {
        "truncated": whole[: len(whole) // 2],
        "text": b"from,to\n",
        "changed": whole[:-1] + b"x",
    }.items():
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(CheckpointError, match=name):
            tm.Model.load(tmp_path / name)
    save_file({"w": torch.zeros(2)}, tmp_path / "foreign")
    with pytest.raises(CheckpointError, match="expected a model of format trimetric-model-1"):
        tm.Model.load(tmp_path / "foreign")
    with pytest.raises(CheckpointError, match="no such file"):
        tm.Model.load(tmp_path / "absent")


EXPORTED = [
    "NeuralMetric",
    "NeuralMetric-Symmetrized",
    "WideMetric",
    "Calibrated",
    "NormInduced(PolyhedralNorm)",
    "NeuralMetric-intervals",
    "TollMetric",
    "BandMetric",
    "Siamese",
]


QUICKLY_EXPORTED = ("TollMetric", "NeuralMetric-intervals", "Siamese")


@pytest.mark.parametrize(
    "name", [each if each in QUICKLY_EXPORTED else pytest.param(each, marks=pytest.mark.slow) for each in EXPORTED]
)
def test_onnx_runtime_returns_the_same_distances(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxscript")
    onnxruntime = pytest.importorskip("onnxruntime")
    network = zoo.OBJECTS[name](DIM).eval()
    session = onnxruntime.InferenceSession(tm.export(network, tmp_path / "model.onnx"))
    for batch in (1, 7):
        x, y = torch.randn(batch, DIM), torch.randn(batch, DIM)
        (distance,) = session.run(["distance"], {"x": x.numpy(), "y": y.numpy()})
        torch.testing.assert_close(torch.from_numpy(distance), network(x, y).detach(), rtol=1e-4, atol=1e-5)
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


@pytest.mark.parametrize("features", [True, False])
@pytest.mark.parametrize("suffix", [".onnx", ".pt2"])
def test_a_model_with_names_exports_what_its_encoder_reads(features: bool, suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxscript")
    model = named_model(features)
    path = tm.export(model, tmp_path / f"model{suffix}")
    x, y = model.objects(["place 1", "place 2", "place 3"]), model.objects(["place 4", "place 4", "place 3"])
    if suffix == ".pt2":
        got = torch.export.load(path).module()(x, y)
    else:
        session = pytest.importorskip("onnxruntime").InferenceSession(path)
        got = torch.from_numpy(session.run(None, {"x": x.numpy(), "y": y.numpy()})[0])
    torch.testing.assert_close(got, model.network(x, y), rtol=1e-4, atol=1e-5)


def test_export_asks_for_what_it_cannot_tell(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"path: expected a name that ends in .onnx or .pt2, got 'model.bin'"):
        tm.export(tm.NormInduced(tm.Euclidean(3)), tmp_path / "model.bin")
    network = tm.Siamese(nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 4)), tm.Euclidean(4))
    with pytest.raises(ValueError, match="example: expected two objects"):
        tm.export(network, tmp_path / "model.pt2")
    tm.export(network, tmp_path / "model.pt2", example=torch.randn(1, 1, 4, 4))


def test_a_part_in_training_mode_is_evaluated() -> None:
    """The mode is set only where it is another, and a part may be in another mode than the whole."""
    encoder = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 4))
    model = tm.Model(tm.Siamese(encoder, tm.NormInduced(tm.Euclidean(4))), ["a", "b"], torch.randn(2, 3))
    model.network.eval()
    expected = model.distances(["a"], ["b"])
    encoder[1].train()
    assert not model.network.training
    for _ in range(5):
        torch.testing.assert_close(model.distances(["a"], ["b"]), expected, rtol=0, atol=0)
    assert not encoder[1].training


def test_the_second_argument_of_another_dtype_is_refused() -> None:
    distance = tm.NormInduced(tm.WideNorm(3))
    with pytest.raises(TypeError, match="y: expected the dtype of the weights of NormInduced"):
        distance(torch.zeros(2, 3), torch.zeros(2, 3, dtype=torch.float64))
    with pytest.raises(TypeError, match="x: expected the dtype of the weights of NormInduced"):
        distance(torch.zeros(2, 3, dtype=torch.float64), torch.zeros(2, 3, dtype=torch.float64))


def test_a_device_without_weights_and_with_them() -> None:
    assert tm.Model(tm.NormInduced(tm.Euclidean(2))).device == torch.device("cpu")
    network = tm.Siamese(torch.nn.Linear(2, 2, device="meta"), tm.NormInduced(tm.Euclidean(2)))
    assert tm.Model(network).device == torch.device("meta")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_concave_units_of_few_and_of_many_numbers_agree(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    units = ConcaveUnits(7, 5).to(dtype)
    components = torch.rand(3, 7, dtype=dtype)
    components[1, 2], components[0, 0] = torch.nan, 0.0
    with torch.no_grad():
        few = units(components)
        monkeypatch.setattr("trimetric.norms.activations.FEW", 0)
        torch.testing.assert_close(units(components), few, equal_nan=True)
    assert few.isnan().sum() == 1
