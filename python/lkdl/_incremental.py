"""What learners that are fed block by block share: their settings, their pickles, when to stop."""

from __future__ import annotations

import copyreg
import math
from collections.abc import Sequence
from typing import Any

from . import _core
from ._arguments import MOST_AT_ONCE, aligned, count
from ._core import LkdlError


def settings(estimator: Any, n_atoms: int, sparsity: int, seed: int) -> dict[str, Any]:
    """How the engine shall learn, from the arguments of an estimator."""
    return {
        "algorithm": estimator.algorithm,
        "n_atoms": n_atoms,
        "sparsity": sparsity,
        "batch_size": count("batch_size", estimator.batch_size, most=MOST_AT_ONCE),
        "fading": float(estimator.fading),
        "forgetting": float(estimator.forgetting),
        "total": None if estimator.total is None else count("total", estimator.total),
        "seed": seed,
    }


def stalled(errors: Sequence[float], tol: float) -> bool:
    """Whether the error fell by less than this share twice in a row, as the engine decides it."""
    if not 0 <= tol < math.inf:
        raise LkdlError(f"tol is {tol}, but must be a finite number >= 0")
    drops = zip(errors[-3:], errors[-2:], strict=False)
    return tol > 0 and len(errors) >= 3 and all(a - b <= tol * a for a, b in drops)


def _restored(settings: dict[str, Any], arrays: dict[str, Any]) -> _core.Incremental:
    return _core.Incremental.from_state(settings, aligned(arrays))


def _reduced(learner: _core.Incremental) -> tuple[Any, ...]:
    return _restored, learner.state()


def _restored_drift(numbers: list[float]) -> _core.Drift:
    return _core.Drift.from_numbers(numbers)


def _reduced_drift(drift: _core.Drift) -> tuple[Any, ...]:
    return _restored_drift, (drift.numbers(),)


copyreg.pickle(_core.Incremental, _reduced)
copyreg.pickle(_core.Drift, _reduced_drift)
