"""A hilly country to learn a distance of, and estimators that have learned it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hills_distance import uphill

if TYPE_CHECKING:
    from trimetric.integrations.sklearn import DistanceRegressor


@pytest.fixture(scope="session")
def hills() -> tuple[np.ndarray, np.ndarray]:
    pairs = np.random.default_rng(0).uniform(size=(1000, 2, 2))
    return pairs, uphill(pairs[:, 0], pairs[:, 1])


@pytest.fixture(scope="session")
def fitted(hills: tuple[np.ndarray, np.ndarray]) -> DistanceRegressor:
    from trimetric.integrations.sklearn import DistanceRegressor

    return DistanceRegressor(epochs=40, random_state=0).fit(*hills)


@pytest.fixture(scope="session")
def symmetric(hills: tuple[np.ndarray, np.ndarray]) -> DistanceRegressor:
    from trimetric.integrations.sklearn import DistanceRegressor

    return DistanceRegressor(epochs=3, symmetric=True, random_state=0).fit(*hills)


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(1).uniform(size=(40, 2))
