"""Runs of `nearest_metric`: interrupted, limited in time, in threads, and without numba."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from matrices import random_matrix, triangles_hold

from trimetric.nearness import active_set, dual, nearest_metric


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("method", ["active-set", "dykstra", "learned"])
def test_an_interrupt_returns_the_best_so_far(method: Any, number: int) -> None:
    d = random_matrix(40, 0, symmetric=False)
    handler = signal.getsignal(number)
    sent = []

    def report(entry: object) -> None:
        if not sent:
            sent.append(entry)
            signal.raise_signal(number)

    result = nearest_metric(d, method=method, tolerance=1e-300, report=report)
    assert (result.converged, result.stopped) == (False, "interrupted")
    assert triangles_hold(result.matrix)
    assert 0 < result.gap <= 1
    assert signal.getsignal(number) is handler


def test_an_interrupt_ends_the_round_in_which_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round may take seconds: no sweep over the inequalities, and no search for more of them, follows."""
    pytest.importorskip("numba")
    done: list[str] = []

    def sweep(*given: Any) -> None:
        whole_sweep(*given)
        done.append("sweep")
        if done.count("sweep") == 2:
            signal.raise_signal(signal.SIGINT)

    def search(*given: Any) -> Any:
        done.append("search")
        return whole_search(*given)

    whole_sweep, whole_search = dual.sweep_triangles, active_set.broken_inequalities
    monkeypatch.setattr(dual, "sweep_triangles", sweep)
    monkeypatch.setattr(active_set, "broken_inequalities", search)
    result = nearest_metric(random_matrix(40, 0, symmetric=False), tolerance=1e-300)
    assert result.stopped == "interrupted"
    assert done == ["search", "sweep", "sweep"]


def test_time_limit() -> None:
    d = random_matrix(40, 0, symmetric=True)
    result = nearest_metric(d, symmetric=True, tolerance=1e-300, max_seconds=1e-6)
    assert result.stopped == "time"
    assert triangles_hold(result.matrix)


def test_from_another_thread() -> None:
    d = random_matrix(20, 0, symmetric=True)
    results = []
    thread = threading.Thread(target=lambda: results.append(nearest_metric(d, symmetric=True)))
    thread.start()
    thread.join()
    assert results[0].converged


def test_several_threads_give_the_same() -> None:
    pytest.importorskip("numba")
    d = random_matrix(150, 0, symmetric=False)
    one = nearest_metric(d, tolerance=1e-3)
    torch.set_num_threads(2)
    try:
        two = nearest_metric(d, tolerance=1e-3)
    finally:
        torch.set_num_threads(1)
    assert (one.matrix == two.matrix).all()


WITHOUT_NUMBA = """
import sys, warnings
sys.modules["numba"] = None
import numpy as np
from trimetric.nearness import nearest_metric
d = np.load(sys.argv[1])
missing = np.random.default_rng(0).random(d.shape) < 0.2
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    plain = nearest_metric(d, tolerance=1e-8)
    holes = nearest_metric(d, missing=missing, tolerance=1e-8)
    fixed = nearest_metric(d[:8, :8], tolerance=1e-8, method="dykstra")
assert len([w for w in caught if "needs numba" in str(w.message)]) == 1, caught
assert plain.converged and holes.converged and fixed.converged
np.savez(sys.argv[2], plain=plain.matrix, holes=holes.matrix, fixed=fixed.matrix)
"""


def test_without_numba_the_same_with_one_warning(tmp_path: Path) -> None:
    d = random_matrix(20, 3, symmetric=False)
    np.save(tmp_path / "d.npy", d)
    arguments = [sys.executable, "-c", WITHOUT_NUMBA, str(tmp_path / "d.npy"), str(tmp_path / "x.npz")]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = np.load(tmp_path / "x.npz")
    missing = np.random.default_rng(0).random(d.shape) < 0.2
    np.testing.assert_allclose(found["plain"], nearest_metric(d, tolerance=1e-8).matrix, atol=1e-4)
    np.testing.assert_allclose(found["holes"], nearest_metric(d, missing=missing, tolerance=1e-8).matrix, atol=1e-4)
    np.testing.assert_allclose(found["fixed"], nearest_metric(d[:8, :8], tolerance=1e-8).matrix, atol=1e-4)
    assert all(triangles_hold(found[name]) for name in found.files)
