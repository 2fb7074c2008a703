"""The min-plus product and its middles against their definition, in machine code and without it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from trimetric.kernels import min_plus as module
from trimetric.kernels.min_plus import count_violations, min_plus, shortest_detours

SIZES = [1, 2, 3, 5, 31, 33, 63, 64, 65, 130]
DTYPES = [np.float32, np.float64]


@pytest.fixture(params=[True, False], ids=["machine code", "NumPy"])
def machine_code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param and not module.HAS_NUMBA:
        pytest.skip("numba is not installed")
    monkeypatch.setattr(module, "HAS_NUMBA", request.param)
    return request.param


def sums(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """i, k, j"""
    return x[:, :, None] + y[None]


def check_detours(x: np.ndarray, tolerance: float) -> None:
    n = len(x)
    detours = sums(x, x)
    expected, first = detours.min(axis=1), detours.argmin(axis=1)
    sought = (x - expected > tolerance) & ~np.eye(n, dtype=bool)
    product, middle = shortest_detours(x, tolerance)
    assert product.dtype == x.dtype
    assert np.array_equal(product, expected)
    assert np.array_equal(middle, np.where(sought, first, -1))
    product, middle = shortest_detours(x, tolerance, upper=True)
    assert np.array_equal(np.triu(product), np.triu(expected))
    assert np.array_equal(middle, np.where(np.triu(sought, 1), first, -1))


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_the_product_and_its_middles_are_those_of_the_definition(n: int, dtype: type) -> None:
    x, y = np.random.default_rng(n).random((2, n, n)).astype(dtype)
    expected = sums(x, y).min(axis=1)
    assert np.array_equal(min_plus(x, y), expected)
    assert np.array_equal(np.triu(min_plus(x, y, upper=True)), np.triu(expected))
    check_detours(x, 0.0)
    check_detours(x, 0.25)


@pytest.mark.usefixtures("machine_code")
def test_more_middles_than_one_panel() -> None:
    generator = np.random.default_rng(0)
    x = generator.random((module._PANEL + 37,) * 2)
    some = [0, 1, 300, len(x) - 1]
    product, middle = shortest_detours(x, 0.0)
    detours = x[some][:, :, None] + x[None]
    assert np.array_equal(product[some], detours.min(axis=1))
    sought = x[some] > product[some]
    sought[np.arange(len(some)), some] = False
    assert np.array_equal(middle[some], np.where(sought, detours.argmin(axis=1), -1))
    assert (middle > module._PANEL).any()


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("dtype", DTYPES)
def test_of_several_equal_detours_the_first_middle_counts(dtype: type) -> None:
    check_detours(np.random.default_rng(1).integers(0, 4, (97, 97)).astype(dtype), 0.0)
    check_detours(np.full((70, 70), 2, dtype=dtype) - np.eye(70, dtype=dtype), 0.0)


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("dtype", DTYPES)
def test_infinite_and_negative_entries(dtype: type) -> None:
    generator = np.random.default_rng(2)
    x = generator.normal(size=(83, 83)).astype(dtype)
    x[generator.random(x.shape) < 0.7] = np.inf
    x[5] = np.inf
    with np.errstate(invalid="ignore"):
        check_detours(x, 0.0)


@pytest.mark.usefixtures("machine_code")
def test_views_that_are_not_contiguous() -> None:
    base = np.random.default_rng(3).random((140, 140))
    for x in (base[::2, ::2], base[:70, :70].T, base[69::-1, 5:75]):
        check_detours(x, 0.0)
        assert np.array_equal(min_plus(x, x.T), sums(x, x.T).min(axis=1))


def test_no_objects() -> None:
    product, middle = shortest_detours(np.empty((0, 0)), 0.0)
    assert product.shape == middle.shape == (0, 0)


@pytest.mark.skipif(not module.HAS_NUMBA, reason="numba is not installed")
def test_a_nan_is_no_minimum() -> None:
    """Who needs NaN to spread, as the audit does, asks for it elsewhere."""
    x = np.random.default_rng(4).random((67, 67))
    x[3, 60] = np.nan
    with np.errstate(invalid="ignore"):
        expected = np.nanmin(sums(x, x), axis=1)
    assert np.array_equal(min_plus(x), expected)


@pytest.mark.parametrize("blocks", [1, 3, 8])
def test_any_division_of_the_rows_gives_the_same(blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As threads divide them; a block may have an odd number of rows, and end above the diagonal."""
    x = np.random.default_rng(5).random((131, 131))
    whole = shortest_detours(x, 0.0), shortest_detours(x, 0.0, upper=True)

    def divided(work, n: int) -> None:
        edges = np.linspace(0, n, blocks + 1).astype(int)
        for first, last in pairwise(edges):
            work(int(first), int(last))

    monkeypatch.setattr(module, "run_on_rows", divided)
    for upper, (product, middle) in zip((False, True), whole, strict=True):
        again = shortest_detours(x, 0.0, upper=upper)
        wanted = np.triu if upper else np.asarray
        assert np.array_equal(wanted(again[0]), wanted(product))
        assert np.array_equal(again[1], middle)


@pytest.mark.usefixtures("machine_code")
def test_violations_of_an_odd_size() -> None:
    x = np.random.default_rng(6).random((67, 67))
    np.fill_diagonal(x, 0.0)
    excess = x[:, None, :] - sums(x, x)
    assert count_violations(x, 0.1) == (excess.max(), (excess > 0.1).sum())
