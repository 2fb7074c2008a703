"""Five data sets of scikit-learn, split into parts for training, validation and test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.model_selection import train_test_split

Labeled = tuple[NDArray[np.float64], NDArray[np.int64]]


def _labeled(given: Any) -> Labeled:
    """What scikit-learn gives for `return_X_y=True`, whose types its functions leave open."""
    objects, classes = given
    return np.asarray(objects, np.float64), np.asarray(classes, np.int64)


def _parts(given: Labeled, size: float, seed: int) -> tuple[Labeled, Labeled]:
    """Split objects in two, with equal shares of the classes; `size` is that of the second, a share or a number."""
    one, other, of_one, of_other = train_test_split(*given, test_size=size, stratify=given[1], random_state=seed)
    return _labeled((one, of_one)), _labeled((other, of_other))


def generated() -> Labeled:
    """Four classes of two clusters each, in 6 of 20 features."""
    return _labeled(
        make_classification(
            n_samples=600,
            n_features=20,
            n_informative=6,
            n_redundant=4,
            n_classes=4,
            n_clusters_per_class=2,
            class_sep=1.2,
            random_state=0,
        )
    )


def digits() -> Labeled:
    """600 of the 1,797 pictures, so that every method takes seconds."""
    return _parts(_labeled(load_digits(return_X_y=True)), 1197, 0)[0]


DATASETS: dict[str, Callable[[], Labeled]] = {
    "iris": lambda: _labeled(load_iris(return_X_y=True)),
    "wine": lambda: _labeled(load_wine(return_X_y=True)),
    "breast cancer": lambda: _labeled(load_breast_cancer(return_X_y=True)),
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
    rest, test = _parts(DATASETS[name](), 0.2, seed)
    train, validation = _parts(rest, 0.25, seed)
    mean, scale = (0.0, 16.0) if name == "digits" else (train[0].mean(axis=0), train[0].std(axis=0))
    return Split(*(((objects - mean) / scale, classes) for objects, classes in (train, validation, test)))
