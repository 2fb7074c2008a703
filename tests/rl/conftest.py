"""The log of one world, for several tests."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def log():
    pytest.importorskip("gymnasium", reason="needs the extra `values`")
    from one_way_world import walk

    return walk(asymmetric=True)
