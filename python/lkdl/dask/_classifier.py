"""LKDL classifiers of Dask collections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

import lkdl

from .. import _core
from .._arguments import seed, threads, validated
from .._blocks import USUAL_PILOT, check_kind
from .._classifiers import USUAL_ITERS, USUAL_TOL, names
from .._core import LkdlError
from .._incremental import stalled
from .._kernels import blockwise
from .._progress import progress
from .._stream import OF_BLOCKS
from .._undo import or_as_before
from ._blocks import Blocks, total
from ._documented import documented
from ._lazy import OnDask, is_dask, lazy
from ._pilot import draw_pilot
from ._same import Marks, Passes, check_marks, marks
from ._sums import add_classes, add_gathered, of_dictionary, of_request


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class LKDLClassifier(OnDask, lkdl.LKDLClassifier):
    __doc__ = OF_BLOCKS and (
        """Linearized kernel dictionary learning on Dask arrays and data frames.

    The pilot decides preparation, kernel, map, sizes, and the atoms to start from; means and deviations
    of ``standardize``, landmarks of the diagonal sampler and the sums of an optimal or centred map come
    from all samples, by a pass for each that is asked for. Then all blocks are mapped, and every
    iteration is a pass over their virtual samples, whose sums update the atoms of all classes by the
    method of optimal directions. A class that has converged is left as it is.

    It is the fit of ``lkdl.StreamLKDLClassifier(learner="mod")``, and of ``lkdl fit --stream --method
    mod``: the same blocks, `random_state`, `pilot_size` and settings give the same atoms, bit for bit,
    on any number of workers.

    Examples
    --------
    >>> import dask.array as da, lkdl, lkdl.dask, numpy as np
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> said = {"n_atoms": 20, "pilot_size": 500}
    >>> there = lkdl.dask.LKDLClassifier(**said).fit(da.from_array(X, chunks=(600, -1)), y)
    >>> here = lkdl.StreamLKDLClassifier(learner="mod", block_size=600, **said).fit(X, y)
    >>> all(map(np.array_equal, there.components_, here.components_))
    True

    Parameters
    ----------
    persist : bool, default=True
        Keep virtual samples in the workers' memory between passes, `rank` values for each sample;
        without it every pass maps all samples again.
    learner : {"mod"}, default="mod"
        How dictionaries are learned. K-SVD's atoms follow each other through the residuals of all
        samples, for which no sums stand: it is for samples in one memory, :class:`lkdl.LKDLClassifier`.
"""
        + OF_BLOCKS
    )

    pilot_size: int = USUAL_PILOT
    persist: bool = True
    learner: str = "mod"

    _of_dask: ClassVar[tuple[str, ...]] = ("pilot_size", "persist")
    _aside: ClassVar[frozenset[str]] = frozenset(_of_dask)

    def _method(self) -> str:
        if self.learner != "mod":
            raise LkdlError(
                f'learner is "{self.learner}", but must be mod, which alone learns from sums over '
                "blocks"
            )
        return self.learner

    @or_as_before
    def fit(self, X: Any, y: Any) -> LKDLClassifier:
        """Learn from the rows of X and their labels y.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Numbers, finite ones. It is computed for every pass, and must be the same every time.
        y : Dask array or series, or array of shape (n_samples,)
            Texts, numbers, truth values or categories, in the blocks of X; blocks of known sizes, and
            arrays in memory, are cut as X is.
        """
        if y is None:
            raise LkdlError("y is missing; a classifier learns from labelled samples")
        settings, draw = self._settings(None, None), seed(self.random_state)
        blocks = Blocks(X, y, self.client)
        blocks.check_kernel(self.kernel)
        pilot = draw_pilot(blocks, self.pilot_size, draw)
        check_classification_targets(pilot.labels)
        rows = validated(self, pilot.samples, reset=True)
        self.classes_ = pilot.classes
        kernel = blockwise(self.kernel, rows) if callable(self.kernel) else None
        with progress(self, None, None, self._steps()) as report:
            model = _core.start_blocks(
                rows,
                np.searchsorted(pilot.classes, pilot.labels).astype(np.int64),
                pilot.indices,
                (len(blocks.parts), int(blocks.sizes().max()), pilot.counts.tolist()),
                names(pilot.classes),
                settings,
                kernel=kernel,
                seed=draw,
                threads=threads(self.n_jobs),
                progress=report,
                gather=lambda request: self._gathered(blocks, request, kernel),
            )
            known = marks(blocks, pilot.indices, rows)
            atoms, errors = self._learned(blocks, model, pilot.counts, known, report)
        n_samples = int(pilot.counts.sum())
        self._adopt(
            model.with_dictionaries(atoms, errors, model.class_names, model.sparsity, n_samples)
        )
        return self

    def _gathered(self, blocks: Blocks, request: Any, kernel: Any) -> Any:
        """What the start of a fit asks of all samples."""
        sizes = blocks.sizes()
        firsts = np.cumsum(sizes) - sizes
        tasks = blocks.each(of_request, request, firsts, kernel, self.n_jobs)
        return blocks.compute(total(add_gathered, tasks))

    def _learned(
        self, blocks: Blocks, model: _core.Model, counts: np.ndarray, known: Marks, report: Any
    ) -> tuple[list[np.ndarray], list[list[float]]]:
        """The atoms of every class after passes over all samples, and the errors they left."""
        atoms, n_jobs = list(model.class_atoms), threads(self.n_jobs)
        mapped = blocks.each(_mapped, model, self.classes_, known, self.n_jobs)
        if self.persist:
            mapped = blocks.persist(mapped)
        sparsity, steps = int(model.settings["learning-sparsity"]), self._steps()
        iters = USUAL_ITERS if self.max_iter is None else self.max_iter
        tol = USUAL_TOL if self.tol is None else self.tol
        errors: list[list[float]] = [[] for _ in atoms]
        passes = Passes()
        for _ in range(iters):
            going = [c for c in range(len(atoms)) if not stalled(errors[c], tol)]
            if not going:
                break
            of_classes = {c: atoms[c] for c in going}
            tasks = blocks.follow(mapped, _class_sums, of_classes, sparsity, self.n_jobs)
            sums = blocks.compute(total(add_classes, tasks))
            for c in going:
                passes.check(f"class {self.classes_[c]!r}", sums.get(c), int(counts[c]))
                atoms[c], error, _ = _core.update_atoms(atoms[c], sums[c], n_jobs)
                errors[c].append(error)
                if report is not None:
                    report("learn", sum(map(len, errors)), steps, c, error)
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
        """The share of the rows of X whose label is right: computed, and a number, for Dask too."""
        if not is_dask(X):
            return super().score(X, y, sample_weight)
        if y is None or sample_weight is not None:
            raise LkdlError("score of Dask collections needs y, and takes no sample_weight")
        right, count = np.sum(self._each(_right, X, y), axis=0)
        return float(right / count) if count else 0.0


def _mapped(
    number: int,
    X: np.ndarray,
    y: np.ndarray,
    model: _core.Model,
    classes: np.ndarray,
    known: Marks,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Virtual samples of a block, and the class indices of its labels."""
    check_marks(number, X, known)
    if len(X) == 0:
        return None
    places = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    if not np.array_equal(classes[places], y):
        raise LkdlError("has labels that were not there when the classes were counted")
    return model.transform(X, threads(n_jobs)), places


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
    """How many rows have the right label, and how many there are."""
    if len(X) == 0:
        return 0, 0
    check_kind(local.classes_.dtype, y.dtype)
    return int(np.sum(local.predict(X) == y)), len(X)
