"""The arrays everybody gets: real digits where LKDL_DATA_DIR has them, the embedded ones elsewhere."""

import os
from dataclasses import dataclass

import numpy as np
from lkdl import datasets

#: The published experiments take this many of MNIST's 60,000.
MNIST_SAMPLES = 10_000
#: Every fourth of the embedded digits is for the test.
DIGITS_TEST_STEP = 4


@dataclass(frozen=True)
class Split:
    """Samples of unit norm as rows, to learn from and to be judged by."""

    name: str
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def astype(self, precision: str) -> "Split":
        X_train, X_test = self.X_train.astype(precision), self.X_test.astype(precision)
        return Split(self.name, X_train, self.y_train, X_test, self.y_test)

    def head(self, n_samples: int) -> "Split":
        """The first samples to learn from, all of those to be judged by."""
        X, y = self.X_train[:n_samples], self.y_train[:n_samples]
        return Split(self.name, X, y, self.X_test, self.y_test)


def splits() -> list[Split]:
    """USPS and 10,000 of MNIST, or the embedded digits."""
    if not os.environ.get("LKDL_DATA_DIR"):
        return [digits()]
    return [named("usps", None), named("mnist", MNIST_SAMPLES)]


def named(name: str, n_samples: int | None) -> Split:
    train, test = (datasets.load(name, part=part) for part in ("train", "test"))
    X, y = train.data[:n_samples], train.target[:n_samples]
    label = name if n_samples is None else f"{name}-{n_samples}"
    return Split(label, unit_rows(X), y, unit_rows(test.data), test.target)


def digits() -> Split:
    X, y = datasets.load_digits(return_X_y=True)
    test = np.arange(len(y)) % DIGITS_TEST_STEP == 0
    X = unit_rows(X)
    return Split("digits", X[~test], y[~test], X[test], y[test])


def unit_rows(X: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return np.ascontiguousarray(X / np.where(norms > 0, norms, 1))
