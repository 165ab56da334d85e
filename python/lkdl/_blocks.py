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
# What labels are, by the kinds of NumPy that they may be of; objects are texts.
_LABELS = {"U": "text", "O": "text", "i": "number", "u": "number", "f": "number", "b": "truth"}


@contextmanager
def block(number: int) -> Iterator[None]:
    """Errors of what is done inside name the block."""
    try:
        yield
    except ValueError as error:
        raise LkdlError(_named(number, error)) from None
    except TypeError as error:  # scikit-learn's, of values that are no numbers, which others rely on
        raise TypeError(_named(number, error)) from error


def _named(number: int, error: Exception) -> str:
    text = str(error)
    return text if text.startswith("block ") else f"block {number}: {text}"


def check_kind(before: np.dtype[Any], dtype: np.dtype[Any]) -> None:
    """Refuses labels of another kind than those before: texts, numbers and truth values do not mix,
    since NumPy would take 1 and True, or 1 and "1", for one label."""
    if _LABELS[before.kind] != _LABELS[dtype.kind]:
        raise LkdlError(f"has labels of {dtype}, but those before are of {before}; make all alike")


def checked_labels(y: Any, number: int, n_rows: int) -> np.ndarray:
    """The labels of a block, one for each row, none missing: texts, numbers or truth values."""
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
        return _of_one_type(y) if y.dtype.kind == "O" else _of_known_type(y)


def _is_missing(label: Any) -> bool:
    """None, NaN, or the missing value of pandas."""
    return label is None or repr(label) == "<NA>" or isinstance(label, float) and math.isnan(label)


def _of_known_type(y: np.ndarray) -> np.ndarray:
    if y.dtype.kind == "T":  # texts of any length
        return y.astype(object)
    if y.dtype.kind not in _LABELS:
        raise LkdlError(f"has labels of {y.dtype}; make them text, as y.astype(str) does")
    return y


def _of_one_type(y: np.ndarray) -> np.ndarray:
    """Objects that are numbers or truth values as such; texts stay objects."""
    one_of_each = {type(label): label for label in y}
    kinds = {_LABELS.get(np.asarray(label).dtype.kind) for label in one_of_each.values()}
    if len(kinds) > 1:
        types = " and ".join(sorted(kind.__name__ for kind in one_of_each))
        raise LkdlError(f"has labels of several types, {types}; make all of them text")
    if all(isinstance(label, str) for label in y):
        return y
    values = np.array(y.tolist())
    if values.ndim > 1 or values.dtype.kind == "O":
        raise LkdlError(f"has labels of {type(y[0]).__name__}; make them text, or numbers")
    return _of_known_type(values)
