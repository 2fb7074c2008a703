"""Five data sets of scikit-learn, split into parts for training, validation and test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.model_selection import train_test_split

Labeled = tuple[NDArray[np.float64], NDArray[np.int64]]


def generated() -> Labeled:
    """Four classes of two clusters each, in 6 of 20 features."""
    return make_classification(
        n_samples=600,
        n_features=20,
        n_informative=6,
        n_redundant=4,
        n_classes=4,
        n_clusters_per_class=2,
        class_sep=1.2,
        random_state=0,
    )


def digits() -> Labeled:
    """600 of the 1,797 pictures, so that every method takes seconds."""
    X, y = load_digits(return_X_y=True)  # noqa: N806
    few, _, labels, _ = train_test_split(X, y, train_size=600, stratify=y, random_state=0)
    return few, labels


DATASETS: dict[str, Callable[[], Labeled]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": digits,
    "generated": generated,
}


@dataclass(frozen=True)
class Split:
    """60 % of the objects for training, 20 % for choices, 20 % for the test; classes have equal shares in each."""

    train: Labeled
    validation: Labeled
    test: Labeled


def split(name: str, seed: int) -> Split:
    """Split a data set, and bring its features to one scale by the training part alone.

    Features have mean 0 and variance 1; the pixels of the digits, which have one unit already, are divided by 16.

    Args:
        name: of the data set.
        seed: of the split.
    """
    X, y = DATASETS[name]()  # noqa: N806
    rest, test, y_rest, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)
    train, validation, y_train, y_validation = train_test_split(
        rest, y_rest, test_size=0.25, stratify=y_rest, random_state=seed
    )
    mean, scale = (0.0, 16.0) if name == "digits" else (train.mean(axis=0), train.std(axis=0))
    parts = [((part - mean) / scale, labels) for part, labels in ((train, y_train), (validation, y_validation))]
    return Split(parts[0], parts[1], ((test - mean) / scale, y_test))
