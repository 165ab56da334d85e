"""Samples as numbered blocks: checked, counted, drawn from, and summed over in one fixed order.

A task knows the number of its block and nothing of workers, so that a lost one's tasks can run again
elsewhere. Errors name the block.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed

from .._arguments import aligned
from .._blocks import block, checked_labels
from .._core import LkdlError

#: How often a task that failed is tried again before the fit fails: files on a network may not be
#: there for a moment. Tasks of a lost worker are not counted.
RETRIES = 2


def checked(X: Any, number: int, n_features: int, dtype: np.dtype[Any]) -> np.ndarray:
    """A block as its collection says it is: rows of so many features of this type, all finite."""
    with block(number):
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != n_features:
            raise LkdlError(f"has shape {X.shape}, but every block must have {n_features} columns")
        if X.dtype != dtype:
            raise LkdlError(f"is of {X.dtype}, but the collection is of {dtype}")
        if not np.isfinite(X).all():
            row, column = np.argwhere(~np.isfinite(X))[0]
            value = X[row, column]
            raise LkdlError(
                f"holds {value} in row {row}, column {column}; fill or drop such values"
            )
    return aligned(X)


class Pilot(NamedTuple):
    """Samples that were drawn from all blocks."""

    samples: Any
    labels: np.ndarray | None
    #: Which samples of the collection they are.
    indices: np.ndarray


class Blocks:
    """The blocks of a collection of samples, with their labels if there are any."""

    def __init__(self, X: Any, y: Any = None, client: Any = None) -> None:
        self.array, self.names = as_array(X)
        self.client = client
        self.n_features, self.dtype = int(self.array.shape[1]), self.array.dtype
        self.parts: list[Delayed] = self.array.to_delayed().ravel().tolist()
        self.labels = None if y is None else _labels(y, self.array)
        self._counted: tuple[np.ndarray | None, np.ndarray] | None = None

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

    def counts(self) -> tuple[np.ndarray | None, np.ndarray]:
        """The labels there are, and samples per block (rows) and label (columns)."""
        if self._counted is None:
            self._counted = self._count()
        return self._counted

    def _count(self) -> tuple[np.ndarray | None, np.ndarray]:
        known = not np.isnan(self.array.chunks[0]).any()
        if self.labels is None and known:
            return None, np.array(self.array.chunks[0], dtype=np.int64)[:, None]
        if known:  # labels alone will do
            task = delayed(_count_labels, pure=False)
            rows = zip(range(len(self.parts)), self.labels, self.array.chunks[0], strict=True)
            found = self.compute([task(number, y, n_rows) for number, y, n_rows in rows])
        else:
            found = self.compute(self.each(_count))
        if self.labels is None:
            return None, np.array([[n_rows] for n_rows, _ in found], dtype=np.int64)
        classes = np.unique(np.concatenate([labels for _, (labels, _) in found]))
        table = np.zeros((len(found), len(classes)), dtype=np.int64)
        for number, (_, (labels, counts)) in enumerate(found):
            table[number, np.searchsorted(classes, labels)] = counts
        return classes, table

    def pilot(self, size: int, seed: int, least: int = 1) -> tuple[Pilot, np.ndarray | None]:
        """About `size` samples of all blocks, at least so many of every class, and the classes.

        Each class, and each block, has its share, so that no draw needs all samples in one place;
        which samples of a block are taken depends on the seed and the block's number alone.
        """
        classes, table = self.counts()
        if table.sum() == 0:
            raise LkdlError("X has no samples")
        quotas = shares(table, size, least)
        tasks = self.each(_draw, classes, quotas, seed)
        drawn = self.compute([tasks[number] for number in np.flatnonzero(quotas.sum(axis=1))])
        offsets = np.concatenate([[0], np.cumsum(table.sum(axis=1))])
        rows = np.concatenate([X for _, X, _, _ in drawn])
        indices = np.concatenate([offsets[number] + which for number, _, _, which in drawn])
        labels = None if classes is None else np.concatenate([y for _, _, y, _ in drawn])
        return Pilot(self._named(rows), labels, indices), classes

    def _named(self, rows: np.ndarray) -> Any:
        if self.names is None:
            return rows
        import pandas as pd

        return pd.DataFrame(rows, columns=self.names)


def total(add: Callable[[Any, Any], Any], blocks: Sequence[Delayed]) -> Delayed:
    """The sum over all blocks in the order of the engine: pairs of neighbours, pairs of those, and
    what is left over from the left. It depends on the number of blocks alone."""
    add, nodes = delayed(add, pure=False), []
    for node in blocks:
        level = 0
        while nodes and nodes[-1][0] == level:
            node, level = add(nodes.pop()[1], node), level + 1
        nodes.append((level, node))
    result = nodes[0][1]
    for _, node in nodes[1:]:
        result = add(result, node)
    return result


def shares(table: np.ndarray, size: int, least: int) -> np.ndarray:
    """How many samples to draw of every block (rows) and class (columns): in proportion, evenly spaced
    along the blocks, and at least so many of a class that has them."""
    sizes = table.sum(axis=0)
    wanted = np.minimum(sizes, np.maximum(size * sizes // max(sizes.sum(), 1), least))
    quotas = np.zeros_like(table)
    for label, (n_samples, count) in enumerate(zip(sizes.tolist(), wanted.tolist(), strict=True)):
        if count:
            places = np.arange(count) * n_samples // count
            of_block = np.searchsorted(np.cumsum(table[:, label]), places, side="right")
            quotas[:, label] = np.bincount(of_block, minlength=len(table))
    return quotas


def as_array(X: Any) -> tuple[da.Array, list[str] | None]:
    """A Dask array of floats in blocks of rows, and the names of its columns if it has any."""
    names = None
    if hasattr(X, "to_dask_array"):
        names = [str(name) for name in X.columns]
        X = X.to_dask_array()
    if not isinstance(X, da.Array):
        kind = type(X).__name__
        raise LkdlError(
            f"X must be a Dask array or data frame, not {kind}; lkdl itself takes those"
        )
    if X.ndim != 2:
        raise LkdlError(f"X must have two dimensions, not {X.ndim}")
    if X.dtype not in (np.float64, np.float32):
        X = X.astype(np.float64)
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X, names


def _labels(y: Any, X: da.Array) -> list[Delayed]:
    if hasattr(y, "to_dask_array"):
        y = y.to_dask_array()
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
    if y.numblocks[0] != X.numblocks[0]:
        text = f"y has {y.numblocks[0]} blocks, but X has {X.numblocks[0]}"
        raise LkdlError(f"{text}; give both the same partitions")
    return y.to_delayed().ravel().tolist()


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


def _count(number: int, X: np.ndarray, y: np.ndarray | None) -> Any:
    return len(X), None if y is None else np.unique(y, return_counts=True)


def _count_labels(number: int, y: Any, n_rows: int) -> Any:
    return n_rows, np.unique(checked_labels(y, number, n_rows), return_counts=True)


def _draw(
    number: int,
    X: np.ndarray,
    y: np.ndarray | None,
    classes: np.ndarray | None,
    quotas: np.ndarray,
    seed: int,
) -> tuple[int, np.ndarray, np.ndarray | None, np.ndarray]:
    """So many rows of every class."""
    rng, chosen = np.random.default_rng([seed, number]), []
    for label, quota in enumerate(quotas[number]):
        members = np.arange(len(X)) if y is None else np.flatnonzero(y == classes[label])
        chosen.append(rng.choice(members, quota, replace=False))
    which = np.sort(np.concatenate(chosen))
    return number, X[which], None if y is None else y[which], which
