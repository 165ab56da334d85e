"""Blocks as the engine goes through them: checked, with class indices, as often as it takes."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ._arguments import FLOATS, dense
from ._blocks import block, check_kind, checked_labels
from ._classifiers import names
from ._core import LkdlError

_END = object()


def is_npy(path: str) -> bool:
    """Whether a file is one array, and its labels must be elsewhere."""
    return path.lower().endswith(".npy")


def mapped(rows: Any) -> Any:
    """The array in an .npy file, which stays on disk until it is looked at; or the rows themselves."""
    if not isinstance(rows, (str, os.PathLike)):
        return rows
    path = os.fspath(rows)
    if not is_npy(path):
        raise LkdlError(f"{path} is no .npy file; give files of other kinds without y")
    try:
        return np.load(path, mmap_mode="r")
    except (ValueError, EOFError) as error:
        raise LkdlError(f"{path} is no array of numbers or text that np.save wrote: {error}") from None


def cut(X: Any, y: np.ndarray, size: int) -> Callable[[], Iterator[Any]]:
    """Blocks of so many rows of X and labels y. Rows are looked at when it is their turn, so that X
    may be a file that is mapped to memory."""
    check_consistent_length(X, y)
    X = _in_rows(X)
    return lambda: ((X[i : i + size], y[i : i + size]) for i in range(0, len(y), size))


def _in_rows(X: Any) -> Any:
    """What has the rows of X by number."""
    if hasattr(X, "to_dask_array"):
        raise LkdlError("X is a data frame of Dask; lkdl.dask.LKDLClassifier takes those")
    if sparse.issparse(X):
        return X.tocsr()
    X = getattr(X, "iloc", X)  # a data frame's rows may have other labels
    return X if hasattr(X, "__getitem__") else np.asarray(X)


def passes(blocks: Any) -> Callable[[], Iterator[Any]]:
    """What begins a pass over the blocks."""
    if callable(blocks):
        return lambda: _begun(blocks())
    if _begun(blocks) is blocks:
        raise LkdlError(
            "blocks is an iterator, which can be gone through only once; give a list, an object "
            "whose __iter__ begins anew, or a function that returns an iterator"
        )
    return lambda: iter(blocks)


def _begun(blocks: Any) -> Iterator[Any]:
    try:
        return iter(blocks)
    except TypeError:
        kind = type(blocks).__name__
        raise LkdlError(f"blocks must be an iterable of pairs (X, y), not {kind}") from None


class Source:
    """What the engine asks for blocks: `rewind`, `next` and, after the first pass, `settle`. A fit that
    goes on from a checkpoint has no first pass, but `settle_as`.

    Samples are checked against the estimator, which remembers the features of the first block. What
    the user's own code raises comes through as it is.
    """

    def __init__(self, estimator: Any, begin: Callable[[], Iterator[Any]], kind: str) -> None:
        self._estimator, self._begin, self._kind = estimator, begin, kind
        self._dtype: np.dtype[Any] | None = None
        self._label_dtype: np.dtype[Any] | None = None
        # by label: its place in the order of appearance; after the first pass, among the classes
        self._indices: dict[Any, int] = {}
        #: The labels there are, once all have been seen.
        self.classes: np.ndarray | None = None
        self.rewind()
        #: Some rows of the first block that has any.
        self.head = self._first_rows()

    def _first_rows(self) -> np.ndarray:
        while (found := self.next()) is not None:
            if len(found[0]):
                return found[0][:2].copy()
        raise LkdlError("there are no samples: every block is empty, or there is none")

    def rewind(self) -> None:
        """Back to the first block."""
        self._number, self._blocks = 0, self._begin()

    def next(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Samples and class indices of the next block."""
        pair = next(self._blocks, _END)
        if pair is _END:
            return None
        number, self._number = self._number, self._number + 1
        with block(number):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                kind = type(pair).__name__
                raise LkdlError(f"is a {kind}, but must be a pair (X, y) of samples and labels")
            X = self._samples(pair[0])
            y = checked_labels(pair[1], number, len(X))
            return X, self._class_indices(y)

    def _samples(self, X: Any) -> np.ndarray:
        X = dense(
            validate_data(
                self._estimator,
                X,
                accept_sparse="csr",
                dtype=FLOATS,
                order="C",
                reset=self._dtype is None,
                ensure_min_samples=0,
            )
        )
        if self._dtype is None:
            self._dtype = X.dtype
        if X.dtype != self._dtype:
            raise LkdlError(f"is of {X.dtype}, but the first block is of {self._dtype}")
        return X

    def _class_indices(self, y: np.ndarray) -> np.ndarray:
        if len(y) == 0:
            return np.empty(0, dtype=np.int64)
        with warnings.catch_warnings():
            # a small block may have as many classes as samples
            warnings.simplefilter("ignore")
            check_classification_targets(y)
        self._check_kind(y.dtype)
        labels, places = np.unique(y, return_inverse=True)
        known = [self._index(label) for label in labels.tolist()]
        return np.array(known, dtype=np.int64)[places]

    def _check_kind(self, dtype: np.dtype[Any]) -> None:
        before = dtype if self._label_dtype is None else self._label_dtype
        check_kind(before, dtype)
        self._label_dtype = np.promote_types(before, dtype)

    def _index(self, label: Any) -> int:
        if self.classes is not None and label not in self._indices:
            raise LkdlError(
                f"has the label {label!r}, which was not there in the first pass; every pass must "
                "see the same blocks"
            )
        return self._indices.setdefault(label, len(self._indices))

    def settle(self) -> tuple[list[str], list[int]]:
        """All labels are known: names of the classes in their order, and the class of every label in
        the order of appearance."""
        labels = np.empty(len(self._indices), dtype=self._label_dtype)
        labels[:] = list(self._indices)
        self.classes, places = np.unique(labels, return_inverse=True)
        self._indices = dict(zip(self._indices, places.tolist(), strict=True))
        return names(self.classes), places.tolist()

    def written_names(self) -> list[str]:
        """The labels there are, and of which type, for `settle_as`."""
        return [self.classes.dtype.str, *map(json.dumps, self.classes.tolist())]

    def settle_as(self, written: list[str]) -> list[str]:
        """Takes the labels that an earlier fit has met for all that there are; what they are called."""
        dtype, *texts = written
        self.classes = np.array([json.loads(text) for text in texts], dtype=dtype)
        self._label_dtype = self.classes.dtype
        self._indices = {label: place for place, label in enumerate(self.classes.tolist())}
        return names(self.classes)

    @property
    def dtype(self) -> str:
        """The precision of all blocks."""
        return str(self._dtype)

    @property
    def identity(self) -> str:
        """What tells other blocks from these before they are read."""
        return f"{self._kind} of {self.head.shape[1]} features"
