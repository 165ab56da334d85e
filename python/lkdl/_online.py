"""A dictionary that learns from samples as they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._arguments import (
    MOST_AT_ONCE,
    clipped,
    count,
    samples,
    seed,
    threads,
    validated,
    validated_as,
)
from ._dictionary import _Learner
from ._incremental import settings, stalled
from ._progress import progress
from ._undo import or_as_before

#: Rows that are put in order, and fed, at a time.
CHUNK = 8192


@dataclass(eq=False, repr=False, kw_only=True)
class OnlineDictionary(_Learner):
    """Dictionary learning from samples as they come: online learning or RLS-DLA.

    The dictionary moves after every mini-batch, and no sample is kept: memory does not grow with the
    number of samples. :meth:`partial_fit` takes them block by block; mini-batches are always the next
    `batch_size` samples, so the result depends on the samples and their order, not on where blocks
    were cut.

    Parameters
    ----------
    n_components : int, default=100
        Atoms.
    sparsity : int, default=5
        Atoms of a code at most, while learning and in :meth:`transform`.
    algorithm : {"online", "rls"}, default="online"
        Online dictionary learning (Mairal and others, 2010), or recursive least squares (Skretting and
        Engan, 2010), which refits all atoms after every batch.
    batch_size : int, default=256
        Samples of a mini-batch.
    fading : float, default=1.5
        For ``online``: how fast the past fades, ``(1 - 1/t) ** fading`` at batch t; 0 keeps it all.
    forgetting : float, default=1.0
        For ``rls``: the weight of the past at the start, which rises to 1; 1 forgets nothing.
    total : int, default=None
        For ``rls`` with `forgetting` below 1: all samples that will be seen. :meth:`fit` knows it.
    max_iter : int, default=10
        Passes of :meth:`fit` over the samples at most, each in a random order.
    tol : float, default=1e-4
        Stop when the error of a pass falls by less than this share twice in a row; 0 never.
    dict_init : array of shape (n_components, n_features), default=None
        Atoms to start from; by default random samples, of the first block for :meth:`partial_fit`.
    random_state : int, RandomState or None, default=0
        An integer is the seed of all draws: equal seeds give equal bits for any `n_jobs`.
    verbose : int, default=0
        1 prints the error of every pass on stderr.
    transform_algorithm, transform_n_nonzero_coefs, transform_tol, transform_alpha, sparse_output, n_jobs
        As in :class:`SparseCoder`.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The atoms, of unit norm, after all samples so far.
    error_ : array of shape (n_iter,)
        The relative error of each pass, every code made before the dictionary learned from it. All
        calls of :meth:`partial_fit` are one pass.
    n_iter_ : int
        Passes made.
    n_samples_seen_ : int
        Samples, counting each pass.

    Examples
    --------
    >>> import lkdl, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> learner = lkdl.OnlineDictionary(20, sparsity=3, batch_size=64)
    >>> for _ in range(10):
    ...     learner = learner.partial_fit(rng.normal(size=(200, 8)))
    >>> learner.n_samples_seen_, learner.components_.shape
    (2000, (20, 8))
    """

    algorithm: str = "online"
    batch_size: int = 256
    fading: float = 1.5
    forgetting: float = 1.0
    total: int | None = None

    @or_as_before
    def partial_fit(self, X: Any, y: Any = None) -> OnlineDictionary:
        """Learn from the next samples. What is refused leaves the dictionary as it was."""
        if "_learner" not in self.__dict__:
            X = validated(self, X, reset=True)
            learner, seen = self._start(X, count("n_components", self.n_components)), 0
        else:
            X = validated_as(self, X, self._learner.dtype)
            learner, seen = self._learner, self.n_samples_seen_
        self._show(learner.fed(X, threads(self.n_jobs)), seen + len(X))
        return self

    def _learn(self, X: np.ndarray) -> None:
        self.__dict__.pop("_learner", None)
        n_atoms = self.n_components if self.dict_init is None else len(self.dict_init)
        n_atoms = clipped("n_components", n_atoms, max(len(X), 1), "the number of samples")
        learner = self._start(X, n_atoms, self._total(len(X)))
        errors: list[float] = []
        with progress(self, X, None, self.max_iter) as report:
            while len(errors) < self.max_iter and not stalled(errors, self.tol):
                learner, error = self._pass(learner, X, len(errors))
                errors.append(error)
                if report is not None:
                    report("learn", len(errors), self.max_iter, None, error)
        self._show(learner, len(errors) * len(X))

    def _total(self, n_samples: int) -> int:
        """Samples that a fit of so many will see."""
        n_passes = count("max_iter", self.max_iter, most=MOST_AT_ONCE)
        return n_passes * n_samples if self.total is None else self.total

    def _start(self, X: np.ndarray, n_atoms: int, total: int | None = None) -> _core.Incremental:
        initial = None
        if self.dict_init is not None:
            initial = samples(self.dict_init, "dict_init").astype(X.dtype, copy=False)[:n_atoms]
            n_atoms = len(initial)
        sparsity = clipped("sparsity", self.sparsity, n_atoms, "the number of atoms")
        self._seed = seed(self.random_state)
        said = settings(self, n_atoms, sparsity, self._seed)
        if total is not None:
            said["total"] = total
        return _core.Incremental.start(X, said, initial, threads=threads(self.n_jobs))

    def _pass(
        self, learner: _core.Incremental, X: np.ndarray, number: int
    ) -> tuple[_core.Incremental, float]:
        """All samples once more, in an order of this pass's own."""
        n_jobs = threads(self.n_jobs)
        order = np.random.default_rng([self._seed, number]).permutation(len(X))
        for first in range(0, len(X), CHUNK):
            learner = learner.fed(X[order[first : first + CHUNK]], n_jobs)
        return learner.passed(n_jobs)

    def _show(self, learner: _core.Incremental, seen: int) -> None:
        """Takes over a learner, and says what it has learned."""
        atoms, errors, replaced, found = learner.finished(threads(self.n_jobs))
        self._learner, self.n_samples_seen_ = learner, seen
        self.components_, self.error_, self.n_iter_ = atoms, errors, len(errors)
        self.n_replaced_, self.warnings_ = replaced, found
