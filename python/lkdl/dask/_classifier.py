"""LKDL classifiers of Dask collections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from dask.delayed import Delayed

import lkdl

from .. import _core
from .._arguments import seed, threads
from .._classifiers import names
from .._core import LkdlError
from .._incremental import stalled
from .._progress import progress
from ._blocks import Blocks, total
from ._lazy import USUAL_PILOT, OnDask, documented, is_dask, lazy
from ._sums import add_classes, of_dictionary

#: Iterations on all samples, and the least gain that lets them go on, unless it is said.
USUAL_ITERS, USUAL_TOL = 5, 1e-4
#: Samples of a class that the pilot has at least, if there are so many.
LEAST_OF_CLASS = 50


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class LKDLClassifier(OnDask, lkdl.LKDLClassifier):
    """Linearized kernel dictionary learning on Dask arrays and data frames.

    The pilot decides what :class:`lkdl.LKDLClassifier` decides: preparation, kernel, map, sizes, and
    the atoms to start from. Then all blocks are mapped, and every iteration is a pass over their
    virtual samples, whose sums update the atoms of all classes by the method of optimal directions.
    K-SVD has no such sums: with ``learner="ksvd"`` it is how the pilot is learned.

    `persist` keeps virtual samples in the workers' memory between passes, `rank` values for each
    sample; without it every pass maps all samples again.
    """

    pilot_size: int = USUAL_PILOT
    persist: bool = True

    _of_dask: ClassVar[tuple[str, ...]] = ("pilot_size", "persist")
    _aside: ClassVar[frozenset[str]] = frozenset(_of_dask)

    def fit(self, X: Any, y: Any) -> LKDLClassifier:
        """Learn from the rows of X and their labels y."""
        if y is None:
            raise LkdlError("y is missing; a classifier learns from labelled samples")
        blocks = Blocks(X, y, self.client)
        pilot, classes = blocks.pilot(self.pilot_size, seed(self.random_state), LEAST_OF_CLASS)
        super().fit(pilot.samples, pilot.labels)
        mapped = blocks.each(_mapped, self.model_, classes, self.n_jobs)
        if self.persist:
            mapped = blocks.persist(mapped)
        atoms, errors = self._refined(blocks, mapped)
        n_samples = int(blocks.counts()[1].sum())
        model = self.model_.with_dictionaries(
            atoms, errors, names(classes), self.model_.sparsity, n_samples
        )
        self._adopt(model)
        return self

    def _refined(
        self, blocks: Blocks, mapped: list[Delayed]
    ) -> tuple[list[np.ndarray], list[list[float]]]:
        """The atoms of every class after passes over all samples, and the errors they left."""
        atoms, n_jobs = list(self.model_.class_atoms), threads(self.n_jobs)
        sparsity = int(self.model_.settings["learning-sparsity"])
        iters = USUAL_ITERS if self.max_iter is None else self.max_iter
        tol = USUAL_TOL if self.tol is None else self.tol
        errors: list[list[float]] = [[] for _ in atoms]
        with progress(self, None, None, iters * len(atoms)) as report:
            for _ in range(iters):
                going = [c for c in range(len(atoms)) if not stalled(errors[c], tol)]
                if not going:
                    break
                of_classes = {c: atoms[c] for c in going}
                tasks = blocks.follow(mapped, _class_sums, of_classes, sparsity, self.n_jobs)
                sums = blocks.compute(total(add_classes, tasks))
                for c in going:
                    atoms[c], error, _ = _core.update_atoms(atoms[c], sums[c], n_jobs)
                    errors[c].append(error)
                    if report is not None:
                        report("learn", sum(map(len, errors)), iters * len(atoms), c, error)
        return atoms, errors

    predict = lazy("predict", lambda self: self.classes_.dtype)
    margins = lazy("margins", lambda self: np.float64)
    residuals = lazy("residuals", lambda self: np.float64, lambda self: len(self.classes_))
    decision_function = lazy(
        "decision_function",
        lambda self: np.float64,
        lambda self: None if len(self.classes_) == 2 else len(self.classes_),
    )
    virtual_samples = lazy(
        "virtual_samples", lambda self: self.model_.dtype, lambda self: self.rank_
    )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the rows of X whose label is right."""
        if not is_dask(X):
            return super().score(X, y, sample_weight)
        right, count = np.sum(self._each(_right, X, y), axis=0)
        return float(right / count) if count else 0.0


def _mapped(
    number: int,
    X: np.ndarray,
    y: np.ndarray,
    model: _core.Model,
    classes: np.ndarray,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Virtual samples of a block, and the class indices of its labels."""
    if len(X) == 0:
        return None
    return model.transform(X, threads(n_jobs)), np.searchsorted(classes, y)


def _class_sums(
    number: int,
    mapped: tuple[np.ndarray, np.ndarray] | None,
    atoms: dict[int, np.ndarray],
    sparsity: int,
    n_jobs: int | None,
) -> dict[int, Any]:
    """What the updates of the classes need to know of a block."""
    if mapped is None:
        return {}
    F, labels = mapped
    of_class = {c: F[labels == c] for c in atoms}
    return {
        c: of_dictionary(number, of_class[c], None, atoms[c], min(sparsity, len(atoms[c])), n_jobs)
        for c in atoms
        if len(of_class[c])
    }


def _right(number: int, X: np.ndarray, y: np.ndarray, local: Any) -> tuple[int, int]:
    return int(np.sum(local.predict(X) == y)) if len(X) else 0, len(X)
