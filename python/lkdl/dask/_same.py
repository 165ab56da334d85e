"""Collections are computed anew for every pass: whether they give the same every time.

Samples of the pilot are compared by a digest when a block is mapped, sums of a pass with those of the
pass before.
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeAlias

import numpy as np

from .._core import LkdlError
from ._blocks import Blocks

#: By block, which of its rows are in the pilot, and their digest.
Marks: TypeAlias = dict[int, tuple[np.ndarray, bytes]]

FIX = "persist the collection, or make it anew the same"


def marks(blocks: Blocks, indices: np.ndarray, samples: np.ndarray) -> Marks:
    """What tells the samples of these numbers, ascending, from others."""
    found, first = {}, 0
    for number, which in blocks.places(indices).items():
        found[number] = which, _digest(samples[first : first + len(which)])
        first += len(which)
    return found


def check_marks(number: int, X: np.ndarray, marks: Marks) -> None:
    """Refuses a block that has other samples than when the pilot was drawn."""
    if number not in marks:
        return
    which, digest = marks[number]
    if which[-1] >= len(X) or _digest(X[which]) != digest:
        raise LkdlError(f"changed between two passes: samples of the pilot are others; {FIX}")


class Passes:
    """Sums of passes over the same samples."""

    def __init__(self) -> None:
        self._seen: dict[Any, tuple[int, float]] = {}

    def check(self, what: str, sums: Any, count: int) -> None:
        """Refuses sums over other samples than those of the pass before, or over another number."""
        found = (0, 0.0) if sums is None else (sums[0], sums[4])
        if found[0] != count:
            text = f"{what} has {found[0]} samples, and had {count}"
        elif self._seen.setdefault(what, found) != found:
            text = f"{what} has samples of another norm"
        else:
            return
        raise LkdlError(f"X or y changed between two passes: {text}; {FIX}")


def _digest(rows: np.ndarray) -> bytes:
    return hashlib.blake2b(rows.tobytes(), digest_size=16).digest()
