"""Samples as numbered blocks: checked, counted, and summed over in one fixed order.

A task knows the number of its block and nothing of workers, so that a lost one's tasks can run again
elsewhere. Errors name the block.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

import cloudpickle
import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from scipy import sparse

from .. import _core
from .._arguments import FLOATS, aligned
from .._blocks import block, checked_labels
from .._core import LkdlError

#: How often a task that failed is tried again before the fit fails: files on a network may not be
#: there for a moment. Tasks of a lost worker are not counted.
RETRIES = 2


def checked(X: Any, number: int, n_features: int, dtype: np.dtype[Any]) -> np.ndarray:
    """A block as its collection says it is: rows of so many features of this type, all finite."""
    with block(number):
        X = X.toarray() if sparse.issparse(X) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != n_features:
            raise LkdlError(f"has shape {X.shape}, but every block must have {n_features} columns")
        X = X if X.dtype in FLOATS else _as_floats(X)
        if X.dtype != dtype:
            raise LkdlError(f"is of {X.dtype}, but the collection is of {dtype}")
        if not np.isfinite(X).all():
            row, column = np.argwhere(~np.isfinite(X))[0]
            value = X[row, column]
            raise LkdlError(
                f"holds {value} in row {row}, column {column}; fill or drop such values"
            )
    return aligned(X)


def _as_floats(X: np.ndarray) -> np.ndarray:
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError):
        (row, column), value = next(filter(_is_no_number, np.ndenumerate(X)))
        raise LkdlError(
            f"holds {value!r} in row {row}, column {column}; fill, drop or encode such values"
        ) from None


def _is_no_number(entry: tuple[Any, Any]) -> bool:
    try:
        float(entry[1])
    except (TypeError, ValueError):
        return True
    return False


class Blocks:
    """The blocks of a collection of samples, with their labels if there are any."""

    def __init__(self, X: Any, y: Any = None, client: Any = None) -> None:
        self.array, self.names = as_array(X)
        self.client = client
        self.n_features, self.dtype = int(self.array.shape[1]), precision(self.array)
        self.parts: list[Delayed] = self.array.to_delayed().ravel().tolist()
        self.labels = None if y is None else _labels(y, self.array)
        self._sizes: np.ndarray | None = None

    def compute(self, tasks: Any) -> Any:
        """The results of tasks: by the client, the current one, or Dask's scheduler without any."""
        client = _current(self.client)
        if client is None:
            return dask.compute(tasks)[0]
        with _models_in_graphs():
            return aligned(client.compute(delayed(tasks), retries=RETRIES).result())

    def persist(self, tasks: list[Delayed]) -> list[Delayed]:
        """Tasks whose results stay where they are made."""
        client = _current(self.client)
        if client is None:
            return list(dask.persist(*tasks))
        with _models_in_graphs():
            return list(client.persist(tasks, retries=RETRIES))

    def check_kernel(self, kernel: Any) -> None:
        """Refuses a function that cannot be sent to workers."""
        if not callable(kernel) or _current(self.client) is None:
            return
        try:
            cloudpickle.dumps(kernel)
        except Exception as error:  # whatever the function holds may raise it
            raise LkdlError(
                f"kernel cannot be sent to workers ({error}); define the function at the top of a "
                "module, without locks, open files and the like"
            ) from None

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Delayed]:
        """``function(number, X, y, *arguments)`` of every block."""
        shared = [delayed(value) for value in arguments]
        return [self._task(function, number, *shared) for number in range(len(self.parts))]

    def chain(
        self, function: Callable[..., Any], state: Any, numbers: Iterable[int], *arguments: Any
    ) -> Delayed:
        """``function(number, X, y, state, *arguments)`` of some blocks, each with what it gave for the
        block before."""
        state = delayed(state)
        for number in numbers:
            state = self._task(function, number, state, *arguments)
        return state

    def follow(
        self, tasks: list[Delayed], function: Callable[..., Any], *arguments: Any
    ) -> list[Delayed]:
        """``function(number, result, *arguments)`` of what the task of every block gave."""
        task, shared = delayed(_of_result, pure=False), [delayed(value) for value in arguments]
        return [task(function, number, of, *shared) for number, of in enumerate(tasks)]

    def _task(self, function: Callable[..., Any], number: int, *arguments: Any) -> Delayed:
        labels = None if self.labels is None else self.labels[number]
        task, shape = delayed(_of_block, pure=False), (self.n_features, self.dtype)
        return task(function, number, self.parts[number], labels, shape, *arguments)

    def sizes(self) -> np.ndarray:
        """How many samples every block has: its collection says it, its labels, or itself."""
        if self._sizes is None:
            said = self.array.chunks[0]
            if np.isnan(said).any():
                task, parts = delayed(_length, pure=False), self.labels or self.parts
                said = self.compute([task(part) for part in parts])
            self._sizes = np.array(said, dtype=np.int64)
        return self._sizes

    def each_labels(
        self, function: Callable[..., Any], of_blocks: Sequence[Any], *arguments: Any
    ) -> list[Delayed]:
        """``function(number, y, n_rows, of_block, *arguments)`` of every block, which is not loaded
        for it; y is None without labels."""
        task, labels = delayed(function, pure=False), self.labels or [None] * len(self.parts)
        blocks = zip(labels, self.sizes().tolist(), of_blocks, strict=True)
        return [task(number, *block, *arguments) for number, block in enumerate(blocks)]

    def places(self, indices: np.ndarray) -> dict[int, np.ndarray]:
        """By block, which of its rows the samples of these numbers are, ascending."""
        sizes = self.sizes()
        ends = np.cumsum(sizes)
        parts = np.split(indices, np.searchsorted(indices, ends[:-1]))
        firsts = ends - sizes
        return {n: part - firsts[n] for n, part in enumerate(parts) if len(part)}

    def rows(self, indices: np.ndarray) -> Any:
        """The samples of these numbers, ascending, with the names of their columns."""
        sizes, places = self.sizes().tolist(), self.places(indices)
        tasks = [self._task(_rows, n, which, sizes[n]) for n, which in places.items()]
        rows = np.concatenate(self.compute(tasks))
        if self.names is None:
            return rows
        import pandas as pd

        return pd.DataFrame(rows, columns=self.names)


def total(add: Callable[[Any, Any], Any], blocks: Sequence[Delayed]) -> Delayed:
    """The sum over all blocks in the order of the engine: groups of ⌈√B⌉ neighbours, each from the
    left, then the groups. It depends on the number of blocks alone."""
    size, add = _core.group_size(len(blocks)), delayed(add, pure=False)
    groups = [reduce(add, blocks[first : first + size]) for first in range(0, len(blocks), size)]
    return reduce(add, groups)


def as_array(X: Any) -> tuple[da.Array, list[str] | None]:
    """A Dask array of numbers in blocks of rows, and the names of its columns, if all are texts as
    scikit-learn asks for."""
    names = None
    if hasattr(X, "to_dask_array"):
        names = list(X.columns) if all(isinstance(name, str) for name in X.columns) else None
        X = X.to_dask_array()
    if not isinstance(X, da.Array):
        kind = type(X).__name__
        raise LkdlError(
            f"X must be a Dask array or data frame, not {kind}; lkdl itself takes those"
        )
    if X.ndim != 2:
        raise LkdlError(f"X must have two dimensions, not {X.ndim}")
    if np.isnan(X.shape[1]):
        raise LkdlError("X has an unknown number of columns; X.compute_chunk_sizes() counts them")
    if X.dtype.kind == "c":
        raise LkdlError(f"X is of {X.dtype}, but samples must be real; take their parts, or moduli")
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X, names


def precision(X: da.Array) -> np.dtype[Any]:
    """The type of floats that blocks are checked to be of; what is none becomes one there, so that an
    error names the block."""
    return X.dtype if X.dtype in FLOATS else np.dtype(np.float64)


def _labels(y: Any, X: da.Array) -> list[Delayed]:
    if hasattr(y, "to_dask_array"):
        return _partitions(y, X)
    unknown = bool(np.isnan(X.chunks[0]).any())
    if not isinstance(y, da.Array):
        if unknown:
            raise LkdlError("y must be a Dask array or series where X has blocks of unknown size")
        y = np.asarray(y)
        if y.shape != (X.shape[0],):
            raise LkdlError(f"y has shape {y.shape}, but X has {X.shape[0]} samples")
        y = da.from_array(y, chunks=(X.chunks[0],))
    if y.ndim != 1:
        raise LkdlError(f"y must have one dimension, not {y.ndim}")
    if not unknown and not np.isnan(y.chunks[0]).any():
        if y.shape[0] != X.shape[0]:
            raise LkdlError(f"y has {y.shape[0]} labels, but X has {X.shape[0]} samples")
        y = y.rechunk((X.chunks[0],))
    _check_partitions(y.numblocks[0], X)
    return y.to_delayed().ravel().tolist()


def _partitions(y: Any, X: da.Array) -> list[Delayed]:
    """The labels of a series as they are, categories for example: arrays cannot hold all types."""
    if y.ndim != 1:
        raise LkdlError(f"y must have one dimension, not {y.ndim}")
    _check_partitions(y.npartitions, X)
    return y.to_delayed()


def _check_partitions(count: int, X: da.Array) -> None:
    if count != X.numblocks[0]:
        text = f"y has {count} blocks, but X has {X.numblocks[0]}"
        raise LkdlError(f"{text}; give both the same partitions")


def _current(client: Any) -> Any:
    """The client to use: this one, or the current one, if there is one."""
    if client is not None:
        return client
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):
        return None


@contextmanager
def _models_in_graphs() -> Iterator[None]:
    """Graphs carry models and atoms on purpose: data that were sent to workers beforehand would be lost
    with them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        yield


def _of_block(
    function: Callable[..., Any], number: int, X: Any, y: Any, shape: Any, *arguments: Any
) -> Any:
    X = checked(X, number, *shape)
    y = None if y is None else checked_labels(y, number, len(X))
    with block(number):
        return function(number, X, y, *arguments)


def _of_result(function: Callable[..., Any], number: int, result: Any, *arguments: Any) -> Any:
    with block(number):
        return function(number, result, *arguments)


def _length(part: Any) -> int:
    return len(part)


def _rows(number: int, X: np.ndarray, y: Any, which: np.ndarray, n_rows: int) -> np.ndarray:
    if len(X) != n_rows:
        raise LkdlError(f"has {len(X)} samples, but had {n_rows} when they were counted")
    return X[which]
