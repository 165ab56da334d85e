"""Dictionaries without labels: learn one, code over one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from . import _core
from ._arguments import aligned, clipped, count, samples, seed, threads, validated, validated_as
from ._codes import codes
from ._core import LkdlError
from ._progress import CallbackSupportMixin, progress, with_callbacks
from ._undo import or_as_before


@dataclass(eq=False, repr=False, kw_only=True)
class _Coder(
    CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """A fitted dictionary, `components_`, that samples are coded over."""

    sparsity: int = 5
    transform_algorithm: str = "omp"
    transform_n_nonzero_coefs: int | None = None
    transform_tol: float | None = None
    transform_alpha: float | None = None
    sparse_output: bool = False
    n_jobs: int | None = None

    def transform(self, X: Any) -> np.ndarray | sparse.csr_array:
        """Codes of the rows of X over the rows of `components_`."""
        check_is_fitted(self)
        X = validated_as(self, X, self.components_.dtype)
        return self._encode(X)

    def _encode(self, X: np.ndarray) -> np.ndarray | sparse.csr_array:
        n_jobs, atoms = threads(self.n_jobs), aligned(self.components_)
        if self.transform_algorithm == "lasso":
            penalty = 0.1 if self.transform_alpha is None else self.transform_alpha
            relative = self.transform_alpha is None
            coded, _ = _core.lasso(X, atoms, penalty, relative, "lars", 1e-6, 10_000, n_jobs)
        elif self.transform_algorithm == "omp":
            wanted = self.transform_n_nonzero_coefs
            if wanted is None and self.transform_tol is None:
                wanted = self.sparsity
            if wanted is not None:
                wanted = clipped("sparsity", wanted, len(atoms), "the number of atoms")
            coded = _core.omp(X, atoms, wanted, self.transform_tol, n_jobs)
        else:
            text = f'transform_algorithm is "{self.transform_algorithm}"'
            raise LkdlError(f"{text}, but must be omp or lasso")
        return codes(coded, len(atoms), self.sparse_output)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The samples that codes stand for: ``codes @ components_``."""
        check_is_fitted(self)
        X = check_array(X, accept_sparse="csr", dtype=self.components_.dtype)
        if X.shape[1] != len(self.components_):
            raise LkdlError(f"codes have {X.shape[1]} atoms, but must have {len(self.components_)}")
        return X @ self.components_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class SparseCoder(_Coder):
    """Codes over a dictionary that is given.

    Parameters
    ----------
    dictionary : array of shape (n_atoms, n_features), default=None
        The atoms, which need not have unit norm; without it the samples that :meth:`fit` gets.
    sparsity : int, default=5
        Atoms of a code at most.
    transform_algorithm : {"omp", "lasso"}, default="omp"
        Orthogonal matching pursuit, or the lasso.
    transform_n_nonzero_coefs : int, default=None
        Atoms of a code at most, where it differs from `sparsity`.
    transform_tol : float, default=None
        For ``omp``: stop at this residual norm.
    transform_alpha : float, default=None
        For ``lasso``: the penalty in ``½|x - Dg|² + alpha |g|₁``; by default a tenth of that from which
        on a sample's code is empty.
    sparse_output : bool, default=False
        Codes as a SciPy CSR array.
    n_jobs : int, default=None
        Threads; ``None`` and -1 are all cores.

    Attributes
    ----------
    components_ : array of shape (n_atoms, n_features)
        The atoms.

    Examples
    --------
    >>> import lkdl, numpy as np
    >>> coder = lkdl.SparseCoder(np.eye(3), sparsity=1).fit(np.eye(3))
    >>> coder.transform([[0.1, 2.0, 0.3]])
    array([[0., 2., 0.]])
    """

    dictionary: Any = field(default=None, kw_only=False)

    @or_as_before
    def fit(self, X: Any, y: Any = None) -> SparseCoder:
        """Check the dictionary against the features of X, or take X as the dictionary."""
        X = validated(self, X, reset=True)
        if self.dictionary is None:
            self.components_ = X.copy()
            return self
        atoms = samples(self.dictionary, "dictionary").astype(X.dtype, copy=False)
        if atoms.shape[1] != X.shape[1]:
            raise LkdlError(f"atoms have {atoms.shape[1]} features, but samples have {X.shape[1]}")
        self.components_ = atoms
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class _Learner(_Coder):
    """A dictionary that is learned."""

    n_components: int = field(default=100, kw_only=False)
    max_iter: int = 10
    tol: float = 1e-4
    dict_init: Any = None
    random_state: Any = 0
    verbose: int = 0

    _method: ClassVar[str] = ""

    @with_callbacks
    @or_as_before
    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn from the rows of X."""
        self._learn(validated(self, X, reset=True))
        return self

    @with_callbacks
    @or_as_before
    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray | sparse.csr_array:
        """Learn from the rows of X, and their codes over the final dictionary."""
        X = validated(self, X, reset=True)
        self._learn(X)
        return self._encode(X)

    def _learn(self, X: np.ndarray) -> None:
        initial = None
        if self.dict_init is not None:
            initial = samples(self.dict_init, "dict_init").astype(X.dtype, copy=False)
        n_atoms = self.n_components if initial is None else len(initial)
        n_atoms = clipped("n_components", n_atoms, max(len(X), 1), "the number of samples")
        sparsity = clipped("sparsity", self.sparsity, n_atoms, "the number of atoms")
        with progress(self, X, None, self.max_iter) as report:
            atoms, errors, converged, found = _core.learn(
                X,
                self._algorithm(),
                n_atoms,
                sparsity,
                count("max_iter", self.max_iter),
                self.tol,
                initial=None if initial is None else initial[:n_atoms],
                seed=seed(self.random_state),
                threads=threads(self.n_jobs),
                progress=report,
            )
        self.components_, self.error_, self.n_iter_ = atoms, errors, len(errors)
        self.converged_, self.warnings_ = converged, found

    def _algorithm(self) -> str:
        return self._method

    def score(self, X: Any, y: Any = None) -> float:
        """The share of the squared norm of X that codes represent: ``1 - |X - GD|² / |X|²``."""
        check_is_fitted(self)
        X = validated_as(self, X, self.components_.dtype)
        rest = X - self.inverse_transform(self._encode(X))
        whole = float(np.sum(X.astype(np.float64) ** 2))
        return 1.0 - float(np.sum(rest.astype(np.float64) ** 2)) / whole if whole > 0 else 0.0


@dataclass(eq=False, repr=False, kw_only=True)
class KSVD(_Learner):
    """Dictionary learning by K-SVD.

    Parameters
    ----------
    n_components : int, default=100
        Atoms.
    sparsity : int, default=5
        Atoms of a code at most, while learning and in :meth:`transform`.
    max_iter : int, default=10
        Iterations at most.
    tol : float, default=1e-4
        Stop when the error falls by less than this share twice in a row; 0 never.
    update : {"approximate", "exact"}, default="approximate"
        Refit atoms by one power step, or by their leading singular pair.
    dict_init : array of shape (n_components, n_features), default=None
        Atoms to start from; by default random samples.
    random_state : int, RandomState or None, default=0
        An integer is the seed of all draws: equal seeds give equal bits for any `n_jobs`.
    verbose : int, default=0
        1 prints the error of every iteration on stderr.
    transform_algorithm, transform_n_nonzero_coefs, transform_tol, transform_alpha, sparse_output, n_jobs
        As in :class:`SparseCoder`.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The atoms, of unit norm.
    error_ : array of shape (n_iter,)
        The relative error ``|X - GD| / |X|`` after each iteration.
    n_iter_ : int
        Iterations made.

    Examples
    --------
    >>> import lkdl, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 8))
    >>> learner = lkdl.KSVD(20, sparsity=3).fit(X)
    >>> learner.transform(X).shape
    (300, 20)
    >>> bool(learner.error_[-1] < learner.error_[0])
    True
    """

    update: str = "approximate"

    def _algorithm(self) -> str:
        if self.update not in ("approximate", "exact"):
            raise LkdlError(f'update is "{self.update}", but must be approximate or exact')
        return "ksvd-exact" if self.update == "exact" else "ksvd"


@dataclass(eq=False, repr=False, kw_only=True)
class MOD(_Learner):
    """Dictionary learning by the method of optimal directions: all atoms are refitted at once.

    Parameters and attributes are as in :class:`KSVD`, without ``update``.
    """

    _method: ClassVar[str] = "mod"
