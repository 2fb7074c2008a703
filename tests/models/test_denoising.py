"""Features predicted from each other, as the first layer of an encoder."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import trimetric as tm


def noisy(rows: int = 600) -> tuple[torch.Tensor, torch.Tensor]:
    """Six measurements of two hidden numbers, and three distractors."""
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(rows, 2, generator=generator)
    clean = (hidden @ torch.randn(2, 6, generator=generator)).repeat(1, 1)
    seen = clean + 0.4 * clean.std(dim=0) * torch.randn(rows, 6, generator=generator)
    return clean, torch.cat([5 + 3 * seen, torch.randn(rows, 3, generator=generator)], dim=1)


def test_predictions_have_less_noise_and_distractors_are_left_out(tmp_path: Path) -> None:
    clean, features = noisy()
    denoiser = tm.Denoiser.learn(features, steps=400, width=32)
    assert denoiser.kept == (0, 1, 2, 3, 4, 5)
    out = denoiser(features)
    truth = (clean - clean.mean(dim=0)) / clean.std(dim=0)

    def unexplained(x: torch.Tensor) -> float:
        fitted = [torch.corrcoef(torch.stack([x[:, i], truth[:, i]]))[0, 1] for i in range(6)]
        return float(1 - torch.stack(fitted).square().mean())

    assert unexplained(out[:, :6]) < 0.8 * unexplained(out[:, 6:])
    torch.testing.assert_close(out[:, 6:], denoiser.standardize(features)[:, :6])

    model = tm.Siamese(torch.nn.Sequential(denoiser, tm.MLP(12, 4)), tm.WideNorm(4))
    trained = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert not any(name.startswith("encoder.0.") for name in trained)
    names = [str(i) for i in range(10)]
    tm.Model(model, names, features[:10]).save(tmp_path / "model.safetensors")
    again = tm.Model.load(tmp_path / "model.safetensors")
    assert torch.equal(again.all_pairs(), tm.Model(model, names, features[:10]).all_pairs())


def test_a_feature_is_not_predicted_from_itself() -> None:
    _, features = noisy(50)
    torch.manual_seed(0)
    denoiser = tm.Denoiser(9, range(9), width=16)
    changed = features.clone()
    changed[:, 4] += 100
    torch.testing.assert_close(denoiser.predict(changed)[:, 4], denoiser.predict(features)[:, 4])
    assert not torch.allclose(denoiser.predict(changed)[:, 3], denoiser.predict(features)[:, 3])


def test_learning_repeats_and_leaves_the_random_numbers_alone() -> None:
    _, features = noisy(100)
    before = torch.get_rng_state()
    one, other = (tm.Denoiser.learn(features, steps=80, width=16) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))


def test_independent_features_are_refused() -> None:
    with pytest.raises(ValueError, match="objects: expected features that tell something about each other"):
        tm.Denoiser.learn(torch.randn(300, 5, generator=torch.Generator().manual_seed(0)), steps=20, width=8)
    # A network that learns these few objects by heart predicts them, and no others.
    with pytest.raises(ValueError, match="objects: expected features that tell something about each other"):
        tm.Denoiser.learn(torch.randn(100, 20, generator=torch.Generator().manual_seed(0)), steps=600, width=64)


def test_refuses_wrong_arguments() -> None:
    for kept in ([3], [0, 0], [True], []):
        with pytest.raises(ValueError, match="kept: expected different numbers of features from 0 to 2"):
            tm.Denoiser(3, kept)
    with pytest.raises(TypeError, match="kept: expected a sequence of numbers of features, got 3"):
        tm.Denoiser(6, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="objects: expected at least 20, got 2"):
        tm.Denoiser.learn(torch.randn(2, 6))
    with pytest.raises(TypeError, match="objects: expected a floating-point tensor"):
        tm.Denoiser.learn(torch.ones(30, 6, dtype=torch.long))
    for name, value in (("batch_size", 0), ("learning_rate", -1.0), ("learning_rate", "a"), ("steps", 0)):
        with pytest.raises(ValueError, match=f"{name}: expected"):
            tm.Denoiser.learn(torch.randn(30, 6), **{name: value})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"models: expected models that read the same objects, got some of \[2, 3\]"):
        tm.ensemble([tm.Siamese(tm.MLP(width, 4), tm.Euclidean(4)) for width in (2, 3)])
