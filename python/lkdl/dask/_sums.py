"""Sums over blocks, and how two of them add. A block without samples has none."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from .. import _core
from .._arguments import aligned, threads

DictionarySums: TypeAlias = Any
MapSums: TypeAlias = Any


def of_map(number: int, X: np.ndarray, y: None, local: Any) -> MapSums | None:
    """What a Nyström map needs to know of a block."""
    if len(X) == 0:
        return None
    return _core.map_sums(local._fitted(), X, number, threads(local.n_jobs))


def of_dictionary(
    number: int, X: np.ndarray, y: None, atoms: np.ndarray, sparsity: int, n_jobs: int | None
) -> DictionarySums | None:
    """What an update of the atoms needs to know of a block."""
    if len(X) == 0:
        return None
    return _core.dictionary_sums(X, aligned(atoms), sparsity, number, threads(n_jobs))


def of_request(
    number: int,
    X: np.ndarray,
    y: Any,
    request: Any,
    firsts: np.ndarray,
    kernel: Any,
    n_jobs: int | None,
) -> Any:
    """What a fit that starts asks of all samples, of a block; `firsts` are the numbers of the blocks'
    first samples."""
    first = int(firsts[number])
    return _core.gather_block(aligned(request), X, first, kernel, threads(n_jobs))


def add_gathered(first: Any, later: Any) -> Any:
    """The sum of two answers to one request."""
    return _core.add_gathered(aligned(first), aligned(later))


def add_maps(first: MapSums | None, later: MapSums | None) -> MapSums | None:
    """The sums over the samples of both."""
    if first is None or later is None:
        return later if first is None else first
    return tuple(a + b for a, b in zip(first, later, strict=True))


def add_dictionaries(
    first: DictionarySums | None, later: DictionarySums | None
) -> DictionarySums | None:
    """The sums over the samples of both; of the worst represented as many as there are atoms."""
    if first is None or later is None:
        return later if first is None else first
    *sums, worst = first
    *more, worse = later
    added = [a + b for a, b in zip(sums, more, strict=True)]
    errors, blocks, rows, samples = (
        np.concatenate(pair) for pair in zip(worst, worse, strict=True)
    )
    kept = np.lexsort((rows, blocks, -errors))[: len(added[2])]
    return (*added, (errors[kept], blocks[kept], rows[kept], samples[kept]))


def add_classes(
    first: dict[int, DictionarySums], later: dict[int, DictionarySums]
) -> dict[int, DictionarySums]:
    """:func:`add_dictionaries`, class by class."""
    classes = sorted({*first, *later})
    return {c: add_dictionaries(first.get(c), later.get(c)) for c in classes}
