"""The pilot: samples of all blocks that are looked at in one place.

Every sample has a random key, of the seed and its number alone; the pilot are those with the smallest
keys, and some of every class. Whoever has a block can say which of its samples may be among them, and
the pilot is that of the engine's own survey, whatever the blocks.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._arguments import count
from .._blocks import block, check_kind, checked_labels
from .._core import LkdlError
from ._blocks import Blocks, total

#: Samples of a class that the pilot has at least, if there are so many: those of the survey.
PER_CLASS = 50


class Pilot(NamedTuple):
    """Samples that were drawn from all blocks, in their order."""

    samples: Any
    #: Their labels, if there are any.
    labels: np.ndarray | None
    #: Which samples of the collection they are.
    indices: np.ndarray
    #: All labels there are, and how many samples have each; of samples without labels, one count.
    classes: np.ndarray | None
    counts: np.ndarray


def draw_pilot(blocks: Blocks, size: int, seed: int) -> Pilot:
    """So many samples of all blocks, and at least `PER_CLASS` of every class."""
    size = count("pilot_size", size)
    sizes = blocks.sizes()
    if sizes.sum() == 0:
        raise LkdlError("X has no samples")
    firsts = (np.cumsum(sizes) - sizes).tolist()
    per_class = 0 if blocks.labels is None else PER_CLASS
    offered = blocks.each_labels(_offered, firsts, seed, size, per_class)
    drawn = blocks.compute(total(partial(_joined, size=size, per_class=per_class), offered))
    order = np.argsort(drawn.indices)
    indices, samples = drawn.indices[order], blocks.rows(drawn.indices[order])
    if blocks.labels is None:
        return Pilot(samples, None, indices, None, drawn.counts)
    return Pilot(samples, drawn.labels[order], indices, drawn.classes, drawn.counts)


class _Drawn(NamedTuple):
    """Samples of some blocks that may be in the pilot, and how many of which label the blocks have."""

    #: The first of the blocks.
    number: int
    keys: np.ndarray
    indices: np.ndarray
    labels: np.ndarray
    classes: np.ndarray
    counts: np.ndarray


def _offered(
    number: int, y: Any, n_rows: int, first: int, seed: int, size: int, per_class: int
) -> _Drawn:
    """What a block, whose first sample has this number, offers. Without labels all are of one."""
    y = np.zeros(n_rows, dtype=np.int8) if y is None else checked_labels(y, number, n_rows)
    classes, counts = np.unique(y, return_counts=True)
    keys, indices = _core.survey_keys(seed, first, n_rows), np.arange(first, first + n_rows)
    return _smallest(_Drawn(number, keys, indices, y, classes, counts), size, per_class)


def _joined(drawn: _Drawn, more: _Drawn, size: int, per_class: int) -> _Drawn:
    if not len(drawn.classes) or not len(more.classes):  # whose labels are of any type
        return drawn if len(drawn.classes) else more
    with block(more.number):
        check_kind(drawn.classes.dtype, more.classes.dtype)
    keys, indices, labels, classes, counts = (
        np.concatenate(pair) for pair in zip(drawn[1:], more[1:], strict=True)
    )
    classes, places = np.unique(classes, return_inverse=True)
    added = np.zeros(len(classes), dtype=np.int64)
    np.add.at(added, places, counts)
    joined = _Drawn(drawn.number, keys, indices, labels, classes, added)
    return _smallest(joined, size, per_class)


def _smallest(drawn: _Drawn, size: int, per_class: int) -> _Drawn:
    """Those with the smallest keys, of all and of every class; of equal keys those that come first."""
    order = np.lexsort((drawn.indices, drawn.keys))
    labels = np.searchsorted(drawn.classes, drawn.labels[order])
    by_class = np.argsort(labels, kind="stable")
    ranks = np.arange(len(order)) - np.searchsorted(labels[by_class], labels[by_class])
    is_kept = np.arange(len(order)) < size
    is_kept[by_class[ranks < per_class]] = True
    kept = order[is_kept]
    return drawn._replace(
        keys=drawn.keys[kept], indices=drawn.indices[kept], labels=drawn.labels[kept]
    )
