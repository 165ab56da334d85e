"""Dictionaries of Dask collections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import lkdl

from .. import _core
from .._arguments import clipped, count, samples, seed, threads, validated
from .._blocks import USUAL_PILOT
from .._core import LkdlError
from .._incremental import stalled
from .._progress import progress
from .._undo import or_as_before
from ._blocks import Blocks, total
from ._documented import documented
from ._lazy import OnDask, is_dask, lazy
from ._pilot import draw_pilot
from ._same import Passes
from ._sums import add_dictionaries, of_dictionary

#: Blocks that are loaded ahead of a learner that takes them one after the other.
AHEAD = 8


class _Coding(OnDask):
    """Codes of Dask collections."""

    transform = lazy("transform", lambda self: self.components_.dtype, lambda self: self._columns())

    def _columns(self) -> int:
        if self.sparse_output:
            raise LkdlError("sparse_output is for arrays in memory; codes of Dask's are dense")
        return len(self.components_)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from the rows of X, and their codes over the final dictionary."""
        return self.fit(X).transform(X)

    def score(self, X: Any, y: Any = None) -> float:
        """The share of the squared norm of X that codes represent."""
        if not is_dask(X):
            return super().score(X)
        rest, whole = np.sum(self._each(_squares, X), axis=0)
        return float(1.0 - rest / whole) if whole > 0 else 0.0


def _squares(number: int, X: np.ndarray, y: None, local: Any) -> tuple[float, float]:
    if len(X) == 0:
        return 0.0, 0.0
    whole = float(np.sum(X.astype(np.float64) ** 2))
    return (1.0 - local.score(X)) * whole, whole


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class MOD(_Coding, lkdl.MOD):
    """Dictionary learning by the method of optimal directions on Dask arrays and data frames.

    A dictionary of the pilot is learned first, on one machine. From there every iteration is a pass over
    the blocks, whose sums update all atoms at once: the update of :class:`lkdl.MOD`, with the same result.
    K-SVD, whose atoms follow each other through the residuals of all samples, has no such sums and stays
    on one machine.

    Examples
    --------
    >>> import dask.array as da, lkdl.dask
    >>> X = da.random.default_rng(0).normal(size=(2000, 8), chunks=(500, 8))
    >>> learner = lkdl.dask.MOD(20, sparsity=3, pilot_size=1000).fit(X)
    >>> learner.transform(X)
    dask.array<transform, shape=(2000, 20), dtype=float64, chunksize=(500, 20), chunktype=numpy.ndarray>

    Parameters
    ----------
    n_components : int, default=100
        Atoms.
    sparsity : int, default=5
        Atoms of a code at most, while learning and in :meth:`transform`.
    max_iter : int, default=10
        Passes over all samples at most; before them, as many iterations on the pilot at most.
    tol : float, default=1e-4
        Stop when the error falls by less than this share twice in a row; 0 never.
    dict_init : array of shape (n_components, n_features), default=None
        Atoms to start from, in place of those of the pilot, which is not learned then.
    random_state : int, RandomState or None, default=0
        An integer is the seed of all draws: equal seeds give equal bits on any number of workers.
    verbose : int, default=0
        1 prints the error of every iteration on stderr.
    n_jobs : int, default=None
        Threads; ``None`` and -1 are all cores.
    transform_algorithm, transform_n_nonzero_coefs, transform_tol, transform_alpha
        As in :class:`lkdl.SparseCoder`.
    sparse_output : bool, default=False
        For codes of rows in memory; those of Dask's are dense.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The atoms, of unit norm.
    error_ : array of shape (n_iter,)
        The relative error ``|X - GD| / |X|`` of the codes of each pass.
    n_iter_ : int
        Passes made.
    """

    pilot_size: int = USUAL_PILOT

    @or_as_before
    def fit(self, X: Any, y: Any = None) -> MOD:
        """Learn from the rows of X, a Dask array or data frame. It is computed for every pass, and must be
        the same every time."""
        blocks = Blocks(X, client=self.client)
        draw = seed(self.random_state)
        if self.dict_init is None:
            super().fit(draw_pilot(blocks, self._n_pilot(), draw).samples)
            atoms = self.components_
        else:
            validated(self, draw_pilot(blocks, 1, draw).samples, reset=True)
            atoms = self._given(blocks)
        sparsity = clipped("sparsity", self.sparsity, len(atoms), "the number of atoms")
        max_iter, n_samples = count("max_iter", self.max_iter), int(blocks.sizes().sum())
        errors: list[float] = []
        passes = Passes()
        with progress(self, X, None, max_iter) as report:
            while len(errors) < max_iter and not stalled(errors, self.tol):
                tasks = blocks.each(of_dictionary, atoms, sparsity, self.n_jobs)
                sums = blocks.compute(total(add_dictionaries, tasks))
                passes.check("the collection", sums, n_samples)
                atoms, error, _ = _core.update_atoms(atoms, sums, threads(self.n_jobs))
                errors.append(error)
                if report is not None:
                    report("learn", len(errors), max_iter, None, error)
        self.components_, self.error_, self.n_iter_ = atoms, np.array(errors), len(errors)
        self.converged_, self.warnings_ = stalled(errors, self.tol), []
        return self

    def _given(self, blocks: Blocks) -> np.ndarray:
        atoms = samples(self.dict_init, "dict_init").astype(np.float64)
        if atoms.shape[1] != blocks.n_features:
            text = f"atoms have {atoms.shape[1]} features, but samples have {blocks.n_features}"
            raise LkdlError(text)
        norms = np.linalg.norm(atoms, axis=1, keepdims=True)
        if not norms.all():
            raise LkdlError("an initial atom is all zero; there is nothing to learn from")
        return np.ascontiguousarray(atoms / norms, dtype=blocks.dtype)


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class OnlineDictionary(_Coding, lkdl.OnlineDictionary):
    """Dictionary learning from the blocks of Dask arrays and data frames, one after the other.

    It starts from atoms of a pilot of all blocks, or from `dict_init`, and then learns as
    :meth:`lkdl.OnlineDictionary.partial_fit` does from the same blocks. They are loaded and computed in
    parallel, but the dictionary takes them in their order: to learn on many workers at a time take
    :class:`MOD`. :meth:`fit` makes passes over one collection; :meth:`partial_fit` learns from each
    collection once, as they come.

    Examples
    --------
    >>> import dask.array as da, lkdl.dask
    >>> rng = da.random.default_rng(0)
    >>> learner = lkdl.dask.OnlineDictionary(20, sparsity=3, batch_size=64)
    >>> for _ in range(3):  # the samples of a day, say
    ...     learner = learner.partial_fit(rng.normal(size=(1000, 8), chunks=(250, 8)))
    >>> learner.n_samples_seen_, learner.components_.shape
    (3000, (20, 8))
    """

    pilot_size: int = USUAL_PILOT

    @or_as_before
    def fit(self, X: Any, y: Any = None) -> OnlineDictionary:
        """Forget everything, and learn from the rows of X, a Dask array or data frame: `max_iter` passes
        over its blocks at most."""
        self.__dict__.pop("_learner", None)
        blocks = Blocks(X, client=self.client)
        rows, n_samples = self._pilot(blocks), int(blocks.sizes().sum())
        n_atoms = clipped("n_components", self.n_components, n_samples, "the number of samples")
        learner = self._start(rows, n_atoms, self._total(n_samples))
        errors: list[float] = []
        with progress(self, X, None, self.max_iter) as report:
            while len(errors) < self.max_iter and not stalled(errors, self.tol):
                learner, error = self._chain(learner, blocks).passed(threads(self.n_jobs))
                errors.append(error)
                if report is not None:
                    report("learn", len(errors), self.max_iter, None, error)
        self._show(learner, len(errors) * n_samples)
        return self

    @or_as_before
    def partial_fit(self, X: Any, y: Any = None) -> OnlineDictionary:
        """Learn from the next samples, a Dask array or data frame, or rows in memory.

        One pass over the blocks, in their order, which goes on from what is known: after the first call,
        or after :meth:`fit`. The first collection gives the pilot, so it should be a fair sample; later
        ones have its features, and are taken in its precision. Mini-batches are the next `batch_size`
        samples: how later ones are cut into blocks and calls does not matter. What is refused leaves
        the dictionary as it was.
        """
        if not is_dask(X):
            return super().partial_fit(X)
        blocks = Blocks(X, client=self.client)
        if "_learner" in self.__dict__:
            self._check_columns(blocks.n_features, blocks.names)
            learner, seen = self._learner, self.n_samples_seen_
        else:
            n_atoms = count("n_components", self.n_components)
            learner, seen = self._start(self._pilot(blocks), n_atoms), 0
        self._show(self._chain(learner, blocks), seen + int(blocks.sizes().sum()))
        return self

    def _pilot(self, blocks: Blocks) -> np.ndarray:
        """Samples of all blocks to start from."""
        pilot = draw_pilot(blocks, self._n_pilot(), seed(self.random_state))
        return validated(self, pilot.samples, reset=True)

    def _chain(self, learner: _core.Incremental, blocks: Blocks) -> _core.Incremental:
        n_blocks = len(blocks.parts)
        for first in range(0, n_blocks, AHEAD):
            some = range(first, min(first + AHEAD, n_blocks))
            learner = blocks.compute(blocks.chain(_fed, learner, some, self.n_jobs))
        return learner


def _fed(
    number: int, X: np.ndarray, y: None, learner: _core.Incremental, n_jobs: int | None
) -> _core.Incremental:
    if len(X) == 0:
        return learner
    return learner.fed(X.astype(learner.dtype, copy=False), threads(n_jobs))
