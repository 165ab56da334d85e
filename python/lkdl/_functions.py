"""The methods as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arguments import clipped, samples, seed, threads, usual_budget
from ._codes import codes
from ._dictionary import KSVD, MOD
from ._kernels import resolve


def _pair(X: Any, D: Any) -> tuple[np.ndarray, np.ndarray]:
    """Samples and atoms in one precision."""
    X, D = samples(X), samples(D, "D")
    dtype = np.result_type(X, D)
    return X.astype(dtype, copy=False), D.astype(dtype, copy=False)


def omp(
    X: Any,
    D: Any,
    sparsity: int | None = None,
    *,
    tol: float | None = None,
    sparse_output: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """Orthogonal matching pursuit of every row of X over the rows of D.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    D : array of shape (n_atoms, n_features)
        Atoms, which need not have unit norm.
    sparsity : int, default=None
        Atoms of a code at most.
    tol : float, default=None
        Stop at this residual norm.
    sparse_output : bool, default=False
        Codes as a SciPy CSR array.
    n_jobs : int, default=None
        Threads; ``None`` and -1 are all cores. Results do not depend on it.

    Returns
    -------
    codes : array of shape (n_samples, n_atoms)

    Examples
    --------
    >>> import lkdl, numpy as np
    >>> lkdl.omp([[3.0, 0.1]], np.eye(2), 1)
    array([[3., 0.]])
    """
    X, D = _pair(X, D)
    if sparsity is not None:
        sparsity = clipped("sparsity", sparsity, len(D), "the number of atoms")
    return codes(_core.omp(X, D, sparsity, tol, threads(n_jobs)), len(D), sparse_output)


def omp_gram(
    gram: Any,
    products: Any,
    sparsity: int | None = None,
    *,
    tol: float | None = None,
    norms_squared: Any = None,
    sparse_output: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """Orthogonal matching pursuit by inner products alone.

    Parameters
    ----------
    gram : array of shape (n_atoms, n_atoms)
        D Dᵀ, the inner products of the atoms.
    products : array of shape (n_samples, n_atoms)
        X Dᵀ, those of samples and atoms.
    norms_squared : array of shape (n_samples,), default=None
        Squared norms of the samples; needed with `tol`.
    sparsity, tol, sparse_output, n_jobs
        As in :func:`omp`.
    """
    products, gram = _pair(products, gram)
    if norms_squared is None:
        if tol is not None:
            raise _core.LkdlError("tol needs norms_squared, the squared norms of the samples")
        # at least this much: enough to tell what is left from rounding
        diagonal = np.maximum(np.diagonal(gram), np.finfo(gram.dtype).tiny)
        norms_squared = (products.astype(np.float64) ** 2 / diagonal).max(axis=1)
    norms = np.ascontiguousarray(norms_squared, dtype=np.float64)
    if sparsity is not None:
        sparsity = clipped("sparsity", sparsity, len(gram), "the number of atoms")
    coded = _core.omp_gram(gram, products, norms, sparsity, tol, threads(n_jobs))
    return codes(coded, len(gram), sparse_output)


def lasso(
    X: Any,
    D: Any,
    alpha: float | None = None,
    *,
    relative_alpha: float | None = None,
    solver: str = "lars",
    tol: float = 1e-6,
    max_iter: int = 10_000,
    sparse_output: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """Lasso codes of every row of X over the rows of D: ``½|x - gD|² + alpha |g|₁``.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    D : array of shape (n_atoms, n_features)
    alpha : float, default=None
        The penalty.
    relative_alpha : float, default=None
        The penalty as a share of that from which on a sample's code is empty; 0.1 if neither is
        given.
    solver : {"lars", "cd", "fista"}, default="lars"
    tol : float, default=1e-6
        Duality gap at which to stop, as a share of ½|x|².
    max_iter : int, default=10000
    sparse_output, n_jobs
        As in :func:`omp`.
    """
    if alpha is not None and relative_alpha is not None:
        raise _core.LkdlError("give alpha or relative_alpha, not both")
    X, D = _pair(X, D)
    relative = alpha is None
    penalty = (0.1 if relative_alpha is None else relative_alpha) if relative else alpha
    coded, _ = _core.lasso(X, D, penalty, relative, solver, tol, max_iter, threads(n_jobs))
    return codes(coded, len(D), sparse_output)


class Learned(NamedTuple):
    """A learned dictionary."""

    components: np.ndarray
    """Atoms as rows."""
    codes: Any
    """Codes of the samples over them."""
    error: np.ndarray
    """The relative error after each iteration."""


def ksvd(X: Any, n_components: int, sparsity: int, **parameters: Any) -> Learned:
    """Dictionary learning by K-SVD; `parameters` are those of :class:`KSVD`.

    Examples
    --------
    >>> import lkdl, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> D, codes, error = lkdl.ksvd(X, 10, 2)
    >>> D.shape, codes.shape
    ((10, 5), (100, 10))
    """
    learner = KSVD(n_components, sparsity=sparsity, **parameters)
    found = learner.fit_transform(X)
    return Learned(learner.components_, found, learner.error_)


def mod(X: Any, n_components: int, sparsity: int, **parameters: Any) -> Learned:
    """Dictionary learning by the method of optimal directions; `parameters` are those of
    :class:`MOD`."""
    learner = MOD(n_components, sparsity=sparsity, **parameters)
    found = learner.fit_transform(X)
    return Learned(learner.components_, found, learner.error_)


def kernel(
    X: Any,
    Y: Any = None,
    kernel: str | Callable[..., Any] = "rbf",
    *,
    gamma: float | str | None = None,
    coef0: float | None = None,
    degree: float | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Kernel values of all rows of X with all rows of Y; arguments as in :class:`Nystroem`.

    Examples
    --------
    >>> import lkdl
    >>> lkdl.kernel([[1.0, 2.0]], [[3.0, 4.0]], "linear")
    array([[11.]])
    """
    X, Y = _pair(X, X if Y is None else Y)
    found = resolve(kernel, X, gamma=gamma, coef0=coef0, degree=degree)
    values = _core.kernel(X, Y, found.description, threads(n_jobs))
    return values if found.scale == 1.0 else values * values.dtype.type(found.scale)


class Landmarks(NamedTuple):
    """Chosen landmarks."""

    points: np.ndarray
    """One landmark per row."""
    indices: np.ndarray | None
    """Which samples they are, if they are samples."""
    trace_error: float | None
    """The share of the kernel's trace that a Nyström map on them misses, where it is known."""


def landmarks(
    X: Any,
    n_landmarks: int | str = "auto",
    *,
    sampler: str = "hybrid",
    kernel: str | Callable[..., Any] = "rbf",
    gamma: float | str | None = None,
    coef0: float | None = None,
    degree: float | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Landmarks:
    """Landmarks among the rows of X, or near them; arguments as in :class:`Nystroem`.

    Examples
    --------
    >>> import lkdl, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> lkdl.landmarks(X, 10, sampler="rpcholesky").indices.shape
    (10,)
    """
    X = samples(X)
    draw = seed(random_state)
    found = resolve(kernel, X, gamma=gamma, coef0=coef0, degree=degree, seed=draw)
    if not isinstance(n_landmarks, str):
        n_landmarks = clipped("n_landmarks", n_landmarks, len(X), "the number of samples")
    points, indices, error, _ = _core.landmarks(
        X, found.description, sampler, str(n_landmarks), draw, usual_budget(), threads(n_jobs)
    )
    return Landmarks(points, indices, error)
