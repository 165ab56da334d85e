"""Arguments as the engine takes them: arrays, seeds, threads and memory."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from ._core import LkdlError

FLOATS = [np.float64, np.float32]
# What the engine's own numbers hold: those of seeds, and of counts and indices.
_MOST_SEED, _MOST = 2**64 - 1, 2**63 - 1
#: The most values that are held at a time for each feature, as in a mini-batch: far beyond any memory.
MOST_AT_ONCE = 2**31 - 1


def dense(X: Any) -> np.ndarray:
    """The array the engine works on, C-order and aligned: of CSR rows, or the same if it is so."""
    return np.require(X.toarray() if sparse.issparse(X) else X, requirements=["C", "A"])


def aligned(value: Any) -> Any:
    """The same with all arrays as the engine reads them: what came over a network, or out of a pickle,
    need not be aligned."""
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=["C", "A"])
    if isinstance(value, (tuple, list)):
        make = getattr(value, "_make", type(value))  # named tuples are made otherwise
        return make(aligned(part) for part in value)
    if isinstance(value, dict):
        return {name: aligned(part) for name, part in value.items()}
    return value


def samples(X: Any, name: str = "X") -> np.ndarray:
    """A C-order array of floats: the same memory, if it is one already."""
    return dense(check_array(X, accept_sparse="csr", dtype=FLOATS, order="C", input_name=name))


def validated(estimator: Any, X: Any, *, reset: bool) -> np.ndarray:
    """`samples` of an estimator, which remembers or checks their features."""
    return dense(
        validate_data(estimator, X, accept_sparse="csr", dtype=FLOATS, order="C", reset=reset)
    )


def validated_as(estimator: Any, X: Any, dtype: Any) -> np.ndarray:
    """New samples in the precision of a fitted estimator."""
    return dense(
        validate_data(estimator, X, accept_sparse="csr", dtype=dtype, order="C", reset=False)
    )


def seed(random_state: Any) -> int:
    """An integer is the seed itself, the same as the command's; anything else draws one."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return count("random_state", random_state, least=0, most=_MOST_SEED)
    return int(check_random_state(random_state).randint(2**31 - 1))


def threads(n_jobs: int | None) -> int:
    """Threads as the engine counts them: 0 for all cores. A task of Dask has those of its worker."""
    if n_jobs is None:
        return _worker_threads()
    if n_jobs == -1:
        return 0
    if n_jobs == 0:
        raise LkdlError("n_jobs is 0, but must be a number of threads, or -1 for all cores")
    if n_jobs > 0:
        return count("n_jobs", n_jobs)
    return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def _worker_threads() -> int:
    """Threads of the Dask worker that runs this, which its tasks share; 0 elsewhere."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return 0
    try:
        return int(distributed.get_worker().state.nthreads)
    except ValueError:  # no task
        return 0


def usual_budget() -> int | None:
    """The largest power of two that is at most half the machine's memory.

    Not what is free at the moment: a budget can change which landmarks are chosen, and the same
    call must give the same model. The command has the same rule.
    """
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        total = next(line for line in lines if line.startswith("MemTotal:"))
        return 1024 << ((int(total.split()[1]) // 2).bit_length() - 1)
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def budget(memory_limit: int | None) -> int | None:
    """Bytes that a fit may use, if there is a limit."""
    return usual_budget() if memory_limit is None else count("memory_limit", memory_limit)


def count(name: str, value: Any, *, least: int = 1, most: int = _MOST) -> int:
    """A whole number that an argument gives, which may be written 2e9."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole and not (isinstance(value, float) and value.is_integer()):
        raise LkdlError(f"{name} is {value!r}, but must be a whole number")
    if value < least:
        raise LkdlError(f"{name} is {value}, but must be at least {least}")
    if value > most:
        raise LkdlError(f"{name} is {value}, but must be at most {most}")
    return int(value)


def clipped(name: str, value: int, most: int, what: str) -> int:
    """`value`, or `most` with a warning: a grid search must not die of a limit."""
    if count(name, value) <= most:
        return int(value)
    warnings.warn(f"{name}={value} was set to {most}, {what}", UserWarning, stacklevel=3)
    return int(most)
