"""A model file that was crafted, or has numbers that are not finite, gets one clear line, and nothing is built."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

import trimetric as tm
from trimetric._support.tensor_files import CheckpointError, _digest, write_file
from trimetric.cli import main
from trimetric.models.files import FORMAT

IDS = ["a", "b", "c"]
NORM = {"class": "WideNorm", "arguments": {"dim": 2}}


def _deep(levels: int) -> Any:
    found: Any = {"class": "Euclidean", "arguments": {"dim": 2}}
    for _ in range(levels):
        found = {"class": "NormInduced", "arguments": {"norm": found}}
    return found


def _nested(levels: int) -> Any:
    found: Any = []
    for _ in range(levels):
        found = [found]
    return found


STATES: dict[str, tuple[dict[str, Any], str]] = {
    "no architecture": ({"architecture": None}, "architecture: expected a class and its arguments, got None"),
    "a list as architecture": ({"architecture": [1]}, "architecture: expected a class and its arguments, got [1]"),
    "a class that is a list": ({"architecture": {"class": [], "arguments": {}}}, "[] is no class that this program"),
    "a huge size": (
        {
            "architecture": {
                "class": "NormInduced",
                "arguments": {"norm": {"class": "WideNorm", "arguments": {"dim": 10**9}}},
            }
        },
        "expected no weight",
    ),
    "an absurd size": ({"architecture": {"class": "Mahalanobis", "arguments": {"dim": 10**30}}}, "cannot be built"),
    "a negative size": (
        {"architecture": {"class": "Euclidean", "arguments": {"dim": -1}}},
        "cannot be built: dim: exp",
    ),
    "a deep architecture": ({"architecture": _deep(150)}, "expected"),
    "deep notes": ({"notes": {"x": _nested(300)}}, "nested at most 200 deep"),
    "repeated ids": ({"ids": ["a", "b", "b"]}, "ids: expected different ones, got 1 repeated"),
    "ids by name": ({"ids": {"a": 1}}, "ids: expected a sequence of texts, got {'a': 1}"),
    "numbers as ids": ({"ids": [1, 2, 3]}, "ids[0]: expected text, got 1"),
    "lists as ids": ({"ids": [[], [], []]}, "ids[0]: expected text, got []"),
    "text as ids": ({"ids": "abc"}, "ids: expected a sequence of texts, got 'abc'"),
    "too few ids": ({"ids": ["a", "b"]}, "ids: expected 3, one for each row of the encoder's table, got 2"),
    "half a character": ({"ids": ["a", "b", "\ud800"]}, "ids: expected text that UTF-8 can hold"),
    "text as notes": ({"notes": "text"}, "notes: expected a dictionary, got str"),
}
TENSORS: dict[str, tuple[dict[str, Tensor | None], str]] = {
    "a missing weight": ({"network.encoder.weight": None}, "expected a weight 'encoder.weight', got none"),
    "a weight too many": ({"network.x": torch.zeros(1)}, "expected no weight 'x', got one"),
    "another shape": (
        {"network.encoder.weight": torch.zeros(2, 2)},
        "encoder.weight: expected shape (3, 2), got (2, 2)",
    ),
    "whole numbers": (
        {"network.encoder.weight": torch.zeros(3, 2, dtype=torch.int64)},
        "encoder.weight: expected dtype torch.float32, got torch.int64",
    ),
    "a tensor too many": ({"else": torch.zeros(1)}, "got ['else']"),
    "NaN": (
        {"network.encoder.weight": torch.full((3, 2), torch.nan)},
        "encoder.weight: expected finite numbers, got 6",
    ),
    "infinity": (
        {"network.encoder.weight": torch.tensor([[0, 1], [2, 3], [4, torch.inf]])},
        "network.encoder.weight: expected finite numbers, got 1 NaN or infinite of 6",
    ),
    "places that are none": ({"places": torch.zeros(3)}, "places: expected 2 columns, got shape (3,)"),
    "too few places": ({"places": torch.zeros(2, 2)}, "ids: expected one for each row of places (shape (2, 2)), got 3"),
    "features of NaN": ({"features": torch.full((3, 2), torch.nan)}, "features: expected finite numbers, got 6"),
}


def _file(state: dict[str, Any], tensors: dict[str, Tensor | None]) -> Path:
    """A model of three objects, with what is given in place of its own, and with a true checksum."""
    whole = {"architecture": _SIAMESE, "ids": IDS, "notes": {}} | state
    values = {"network.encoder.weight": torch.randn(3, 2)} | tensors
    write_file(Path("m.safetensors"), {k: v for k, v in values.items() if v is not None}, whole, form=FORMAT)
    return Path("m.safetensors")


_SIAMESE = {
    "class": "Siamese",
    "arguments": {
        "encoder": {"class": "torch.nn.Embedding", "arguments": {"num_embeddings": 3, "embedding_dim": 2}},
        "distance": {"class": "Euclidean", "arguments": {"dim": 2}},
    },
}


def _raw(metadata: dict[str, str]) -> Path:
    weights = {"network.encoder.weight": torch.zeros(3, 2)}
    save_file(weights, "m.safetensors", metadata={"sha256": _digest(weights, metadata.get("state", "")), **metadata})
    return Path("m.safetensors")


CRAFTED: dict[str, tuple[Callable[[], Path], str]] = {
    **{name: (lambda state=state: _file(state, {}), message) for name, (state, message) in STATES.items()},
    **{name: (lambda tensors=tensors: _file({}, tensors), message) for name, (tensors, message) in TENSORS.items()},
    "no state": (lambda: _raw({"format": FORMAT}), "expected its state beside the tensors, got none"),
    "no JSON": (lambda: _raw({"format": FORMAT, "state": "\x1b{" * 99}), "expected its state as JSON, got '"),
    "a list as state": (lambda: _raw({"format": FORMAT, "state": "[1]"}), "expected its state by name, got [1]"),
    "an empty state": (lambda: _raw({"format": FORMAT, "state": "{}"}), "expected 'architecture' in its state, got []"),
    "deep JSON": (lambda: _raw({"format": FORMAT, "state": "[" * 10**5}), "expected its state as JSON"),
    "another format": (
        lambda: _raw({"format": "\x1b" * 999}),
        "expected a model of format trimetric-model-1, got \\x1b",
    ),
}


@pytest.mark.parametrize("case", CRAFTED)
@pytest.mark.usefixtures("empty_folder")
def test_a_crafted_file_gets_one_line(case: str, capfd: pytest.CaptureFixture[str]) -> None:
    make, message = CRAFTED[case]
    file = make()
    with pytest.raises(CheckpointError, match=r"^m.safetensors: "):
        tm.Model.load(file)
    for words in (["info"], ["predict", "--from", "a"], ["audit"], ["export", "-o", "m.pt2"]):
        assert main([words[0], str(file), *words[1:]]) == 2
        out, err = capfd.readouterr()
        assert out == ""
        assert err.startswith("error: m.safetensors: ")
        assert message in err
        assert err.count("\n") == 1
        assert len(err) < 600
    assert [found.name for found in Path().iterdir()] == ["m.safetensors"]


@pytest.mark.usefixtures("empty_folder")
def test_the_file_that_is_crafted_here_is_a_model_but_for_that() -> None:
    assert tm.Model.load(_file({}, {})).all_pairs().shape == (3, 3)


@pytest.mark.usefixtures("empty_folder")
def test_a_small_file_cannot_ask_for_much_memory() -> None:
    """4 GB of weights, in a process that may have 1 more than it has after its imports."""
    _file({"architecture": {"class": "NormInduced", "arguments": {"norm": {**NORM, "arguments": {"dim": 10**9}}}}}, {})
    code = (
        "import resource, trimetric as tm, trimetric.models\n"
        "from trimetric._support.tensor_files import CheckpointError\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**30,) * 2)\n"
        "try: tm.Model.load('m.safetensors')\n"
        "except CheckpointError as error: print('refused')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "refused\n", run.stderr


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_weights_that_are_not_finite_are_not_saved(value: float, tmp_path: Path) -> None:
    network = tm.Siamese(nn.Linear(3, 2), tm.Euclidean(2))
    network.encoder.weight.data[0, 0] = value
    with pytest.raises(ValueError, match=r"encoder.weight: expected finite numbers, got 1 NaN or infinite of 6"):
        tm.Model(network).save(tmp_path / "m.safetensors")
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("empty_folder")
def test_a_prediction_that_is_not_finite_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    network = tm.Siamese(nn.Linear(1, 2), tm.Euclidean(2))
    network.encoder.weight.data.fill_(1e3)
    tm.Model(network, IDS, torch.tensor([[1.0], [2.0], [3e38]])).save("m.safetensors")
    Path("pairs.csv").write_text("from,to\na,b\nb,c\n")
    Path("new.csv").write_text("id,x\na,1\nd,3e38\n")
    for words, where in {
        ("pairs.csv",): "pairs.csv, line 3: expected a finite distance from 'b' to 'c', got",
        ("--from", "a"): "'c': expected a finite point, got NaN or infinity",
        ("--from", "a", "--nearest", "1"): "'c': expected a finite point, got NaN or infinity",
        ("--features", "new.csv", "--all-pairs", "-o", "out.csv"): "'d': expected a finite point, got NaN or infinity",
    }.items():
        assert main(["predict", "m.safetensors", *words]) == 2
        err = capfd.readouterr().err
        assert err.startswith(f"error: {where}")
        assert err.count("\n") == 1
    assert main(["audit", "m.safetensors"]) == 2
    assert "expected finite points" in capfd.readouterr().err
    assert not Path("out.csv").exists()
    network.encoder.weight.data.fill_(1.0)  # the points are finite then, and their distances are not
    tm.Model(network, IDS, torch.tensor([[1.0], [2.0], [3e38]])).save("m.safetensors")
    for words in ([], ["--nearest", "2"], ["--nearest", "2", "--reverse"]):
        assert main(["predict", "m.safetensors", "--from", "a", *words]) == 2
        assert "error: expected a finite distance from" in capfd.readouterr().err


TABLE = tm.Siamese(nn.Embedding(3, 2), tm.Euclidean(2))
WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "numbers": ({"ids": [10, 20, 30]}, TypeError, r"ids\[0\]: expected text, got 10; \[str\(i\)"),
    "too many": ({"ids": ["a", "b", "c", "d"]}, ValueError, "ids: expected 3, one for each row of the encoder's table"),
    "text": ({"ids": "abc"}, TypeError, "ids: expected a sequence of texts, got 'abc'"),
    "rows": ({"ids": IDS, "network": tm.Euclidean}, TypeError, "network: expected a Siamese or a Distance"),
    "none read": (
        {"ids": IDS, "network": tm.NormInduced(tm.Euclidean(2))},
        ValueError,
        "features: expected what the ne",
    ),
    "columns": (
        {"ids": IDS, "network": tm.NormInduced(tm.Euclidean(2)), "features": torch.zeros(3, 4)},
        ValueError,
        r"features: expected 2 columns, got shape \(3, 4\)",
    ),
    "arrays": (
        {"ids": IDS, "network": tm.NormInduced(tm.Euclidean(2)), "features": [[0, 0]] * 3},
        TypeError,
        "features: expected a torch.Tensor or a NumPy array, got list",
    ),
    "notes": ({"notes": "text"}, TypeError, "notes: expected a dictionary, got str"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_model_of_wrong_parts_names_the_part(case: str) -> None:
    given, kind, message = WRONG[case]
    with pytest.raises(kind, match=message):
        tm.Model(**({"network": TABLE} | given))


def _trained(checkpoint: Path) -> None:
    torch.manual_seed(0)
    network = tm.Siamese(nn.Embedding(3, 2), tm.Calibrated(tm.Euclidean(2)))
    pairs = torch.tensor([[0, 1], [1, 2], [2, 0]])
    config = tm.TrainingConfig(epochs=2, batch_size=2, checkpoint_seconds=0.0)
    tm.fit(network, pairs, torch.ones(3), config=config, checkpoint=checkpoint, progress="silent")


CHANGED: dict[str, Callable[[dict[str, Tensor], dict[str, Any]], object]] = {
    "no identity": lambda _, state: state.pop("identity"),
    "identity as text": lambda _, state: state.update(identity="text"),
    "no histories": lambda _, state: state.pop("histories"),
    "histories as numbers": lambda _, state: state.update(histories=[1]),
    "a far position": lambda _, state: state.update(position=10**9),
    "position as text": lambda _, state: state.update(position="1"),
    "no weights": lambda tensors, _: tensors.pop("parameter.encoder.weight"),
    "other weights": lambda tensors, _: tensors.update({"parameter.encoder.weight": torch.zeros(1)}),
    "other moments": lambda tensors, _: tensors.update({"optimiser.encoder.weight.exp_avg": torch.zeros(1)}),
    "no generator": lambda tensors, _: tensors.update({"generator": torch.zeros(3)}),
}


@pytest.mark.parametrize("case", CHANGED)
def test_a_crafted_checkpoint_is_refused(case: str, tmp_path: Path) -> None:
    from trimetric._support.tensor_files import CHECKPOINT, read_checkpoint

    file = tmp_path / "run.safetensors"
    _trained(file)
    tensors, state = read_checkpoint(file)
    CHANGED[case](tensors, state)
    write_file(file, tensors, state, form=CHECKPOINT)
    with pytest.raises(CheckpointError, match=r"run.safetensors: (is no whole checkpoint|belongs to another)"):
        _trained(file)


def test_saving_does_not_change_the_network(tmp_path: Path) -> None:
    """A table with a `max_norm` rescales the rows that a forward pass reads."""
    network = tm.Siamese(nn.Embedding(5, 3, max_norm=0.1), tm.Euclidean(3)).train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    tm.Model(network, list("abcde")).save(tmp_path / "model.safetensors")
    assert network.training
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
