"""Blocks of samples: errors that name them, labels that belong to them, a pilot that speaks for all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ._core import LkdlError

#: Samples that what needs a look at samples is decided by, unless it is said: the command's.
USUAL_PILOT = 20_000


@contextmanager
def block(number: int) -> Iterator[None]:
    """Errors of what is done inside name the block."""
    try:
        yield
    except ValueError as error:
        text = str(error)
        raise LkdlError(text if text.startswith("block ") else f"block {number}: {text}") from None


def check_kind(before: np.dtype[Any], dtype: np.dtype[Any]) -> None:
    """Refuses texts among numbers, and numbers among texts; objects may be either."""
    is_text = {kind in "US" for kind in (before.kind, dtype.kind) if kind != "O"}
    if len(is_text) > 1:
        raise LkdlError(f"has labels of {dtype}, but those before are of {before}")


def checked_labels(y: Any, number: int, n_rows: int) -> np.ndarray:
    """The labels of a block, one for each row, none missing."""
    with block(number):
        y = np.asarray(y)
        if y.shape != (n_rows,):
            raise LkdlError(f"has labels of shape {y.shape}, but {n_rows} samples")
        missing = np.zeros(n_rows, dtype=bool)
        if y.dtype.kind == "f":
            missing = np.isnan(y)
        elif y.dtype.kind == "O":
            missing = np.fromiter(map(_is_missing, y), bool, n_rows)
        if missing.any():
            raise LkdlError(f"has no label in row {np.flatnonzero(missing)[0]}; drop such samples")
    return y


def distinct(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The labels there are, in order, and the place among them of every one."""
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError:
        raise LkdlError("has labels of several types; make all of them text") from None


def _is_missing(label: Any) -> bool:
    """None, NaN, or the missing value of pandas."""
    return label is None or repr(label) == "<NA>" or isinstance(label, float) and math.isnan(label)
