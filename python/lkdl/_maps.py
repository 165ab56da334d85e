"""Maps from samples to virtual samples, whose inner products are those of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._arguments import (
    MOST_AT_ONCE,
    aligned,
    budget,
    clipped,
    count,
    samples,
    seed,
    threads,
    validated,
    validated_as,
)
from ._core import LkdlError
from ._kernels import Kernel, resolve
from ._undo import or_as_before


#: Training samples on which the error of an approximation is measured.
N_CERTIFIED = 1000


class _Map(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What all maps share: the fitted map is rebuilt from plain attributes after pickling."""

    _map: _core.FeatureMap | None

    def _rebuilt(self) -> _core.FeatureMap:
        raise NotImplementedError

    def _fitted(self) -> _core.FeatureMap:
        check_is_fitted(self)
        if self.__dict__.get("_map") is None:
            self._map = self._rebuilt()
        return self._map

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_map"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class Nystroem(_Map):
    """Nyström approximation of any kernel, from landmarks.

    A drop-in for :class:`sklearn.kernel_approximation.Nystroem` with better landmarks, faster maps
    and a certificate of the error.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        ``rbf``, ``poly``, ``linear``, ``cosine``, ``sigmoid``, ``laplacian``, ``exponential``,
        ``chi2``, ``chi2-additive``, ``precomputed``, or a function ``f(X, Y)`` of an (n, p) and an
        (m, p) block that returns an (n, m) array (a function of two samples is called pair by pair).
    gamma : float or "median", default=None
        As in scikit-learn: 1/n_features, and 1 for ``chi2``. ``"median"`` makes the width of the
        kernel the median distance between samples.
    coef0, degree : float, default=None
        1 and 3 where the kernel has them.
    kernel_params : dict, default=None
        Arguments for a kernel that is a function.
    n_components : int or "auto", default=100
        Landmarks; ``"auto"`` takes as many as leave little of the kernel's trace unexplained.
    rank : int, float or None, default=None
        Dimension of the virtual samples: all that the landmarks have, a number, or (a float) the
        share of the trace that may be lost.
    sampler : str or array of shape (n_components,), default="hybrid"
        How landmarks are chosen: ``hybrid``, ``rpcholesky``, ``uniform``, ``k-means``,
        ``k-means++``, ``leverage``, ``diagonal``, ``column-norm``, ``coreset`` and others; or the
        indices of the samples to take.
    landmarks : array of shape (n_components, n_features), default=None
        Points to use as landmarks.
    map : {"auto", "standard", "cholesky", "optimal"}, default="auto"
        By the eigenpairs of the landmarks' kernel matrix, by its Cholesky factor, or the best factor
        of the whole Nyström matrix. Eigenpairs can be cut to a smaller `rank`; without one all
        factors stand for the same kernel, and ``"auto"`` takes Cholesky's, the fastest.
    centered : bool, default=False
        Subtract the mean virtual sample.
    indefinite : {"reject", "clip", "flip", "shift"}, default="reject"
        What to do with a kernel that is not positive semi-definite.
    random_state : int, RandomState or None, default=0
        An integer is the seed of all draws: equal seeds give equal bits for any `n_jobs`.
    n_jobs : int, default=None
        Threads; ``None`` and -1 are all cores.
    memory_limit : int, default=None
        Bytes a fit may use beside the data; by default about half of the machine's memory.

    Attributes
    ----------
    components_ : array of shape (n_landmarks, n_features)
        The landmarks.
    component_indices_ : array of shape (n_landmarks,) or None
        Which samples they are, if they are samples.
    normalization_ : array of shape (rank, n_landmarks)
        ``transform(X)`` is ``kernel(X, components_) @ normalization_.T``, less the mean if centred.
    eigenvalues_ : array
        Those that were kept, of the landmarks' kernel matrix (of the Nyström matrix for ``optimal``);
        empty for ``cholesky``.
    approximation_error_ : float
        The share of the kernel's trace on the training samples that the map misses, measured on
        at most 1,000 of them, evenly spaced. :meth:`residual_energy` has it for
        every sample.

    Examples
    --------
    >>> import lkdl, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> map = lkdl.Nystroem(gamma=0.1, n_components=50).fit(X)
    >>> map.transform(X).shape
    (200, 50)
    >>> bool(map.approximation_error_ < 0.05)
    True
    """

    kernel: str | Callable[..., Any] = field(default="rbf", kw_only=False)
    gamma: float | str | None = None
    coef0: float | None = None
    degree: float | None = None
    kernel_params: dict[str, Any] | None = None
    n_components: int | str = 100
    rank: int | float | None = None
    sampler: Any = "hybrid"
    landmarks: Any = None
    map: str = "auto"
    centered: bool = False
    indefinite: str = "reject"
    random_state: Any = 0
    n_jobs: int | None = None
    memory_limit: int | None = None

    @or_as_before
    def fit(self, X: Any, y: Any = None) -> Nystroem:
        """Choose landmarks among the rows of X and make the map."""
        X = validated(self, X, reset=True)
        draw = seed(self.random_state)
        kernel = self._kernel = resolve(
            self.kernel,
            X,
            gamma=self.gamma,
            coef0=self.coef0,
            degree=self.degree,
            kernel_params=self.kernel_params,
            seed=draw,
        )
        own = None if self.landmarks is None else samples(self.landmarks, "landmarks")
        fitted = _core.FeatureMap.nystroem(
            X,
            kernel.description,
            self._sampler(),
            self._count(len(X)),
            self._rank(len(X), own),
            self._variant(),
            centered=self.centered,
            indefinite=self.indefinite,
            landmarks=None if own is None else own.astype(X.dtype, copy=False),
            seed=draw,
            memory=budget(self.memory_limit),
            threads=threads(self.n_jobs),
        )
        self._map = fitted
        self._remember(fitted, kernel)
        self.approximation_error_ = self._error(X)
        return self

    def _sampler(self) -> Any:
        return self.sampler if isinstance(self.sampler, str) else np.asarray(self.sampler, np.int64)

    def _variant(self) -> str:
        if self.map != "auto":
            return self.map
        return "cholesky" if self.rank is None and self.n_components != "auto" else "standard"

    def _count(self, n_samples: int) -> str:
        if isinstance(self.n_components, str):
            return self.n_components
        return str(clipped("n_components", self.n_components, n_samples, "the number of samples"))

    def _rank(self, n_samples: int, own: np.ndarray | None) -> int | float | None:
        if self._variant() == "cholesky" or isinstance(self.rank, float):
            return self.rank
        if own is not None:
            most = len(own)
        elif not isinstance(self.sampler, str):
            most = len(self.sampler)
        elif isinstance(self.n_components, str):
            return self.rank
        else:
            most = min(count("n_components", self.n_components), n_samples)
        return most if self.rank is None else clipped("rank", self.rank, most, "all landmarks")

    def _remember(self, fitted: _core.FeatureMap, kernel: Kernel) -> None:
        self._points, self._mean, self._n_rows = fitted.points, fitted.mean, fitted.n_rows
        self.components_ = self._points
        self.component_indices_ = fitted.indices
        self._projection = self.normalization_ = fitted.projection
        if kernel.scale != 1.0:
            self.normalization_ = self._projection * fitted.dtype.type(kernel.scale**-0.5)
        self.eigenvalues_ = fitted.eigenvalues * kernel.scale
        self.warnings_ = fitted.warnings
        self._n_features_out = len(self.normalization_)

    def _rebuilt(self) -> _core.FeatureMap:
        return _core.FeatureMap.from_parts(
            self._kernel.description,
            aligned(self._points),
            aligned(self.component_indices_),
            self._n_rows,
            aligned(self._projection),
            aligned(self._mean),
            aligned(self.eigenvalues_ / self._kernel.scale),
        )

    def _error(self, X: np.ndarray) -> float:
        if self.kernel != "precomputed":  # whose columns are the samples too
            X = np.ascontiguousarray(X[:: -(-len(X) // N_CERTIFIED)])
        missed, whole = self._map.residual_energy(X, threads(self.n_jobs))
        return float(missed.sum() / whole.sum()) if whole.sum() > 0 else 0.0

    def transform(self, X: Any) -> np.ndarray:
        """Virtual samples of the rows of X."""
        fitted = self._fitted()
        X = validated_as(self, X, fitted.dtype)
        return self._scaled(fitted.transform(X, threads(self.n_jobs)))

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        if self._kernel.scale != 1.0:
            values *= values.dtype.type(self._kernel.scale**0.5)
        return values

    def residual_energy(self, X: Any) -> np.ndarray:
        """What the landmarks miss of every row of X, ``k(x, x) - |f|²``: a certificate, and a measure of
        how novel a sample is."""
        fitted = self._fitted()
        X = validated_as(self, X, fitted.dtype)
        return fitted.residual_energy(X, threads(self.n_jobs))[0] * self._kernel.scale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.positive_only = self.kernel in ("chi2", "chi2-additive", "additive_chi2")
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class _RandomFeatures(_Map):
    """Random features of the Gaussian kernel exp(-gamma |x-y|²)."""

    gamma: float | str = field(default="median", kw_only=False)
    n_components: int = 512
    random_state: Any = 0
    n_jobs: int | None = None

    _name = ""

    @or_as_before
    def fit(self, X: Any, y: Any = None) -> Any:
        """Draw the features for samples like the rows of X."""
        X = validated(self, X, reset=True)
        self._n_features_out = count("n_components", self.n_components, most=MOST_AT_ONCE)
        self._seed = seed(self.random_state)
        kernel = resolve("gaussian", X, gamma=self.gamma, seed=self._seed)
        self.sigma_ = kernel.description["sigma"]
        self._dtype = X.dtype.name
        self._map = self._rebuilt()
        return self

    def _rebuilt(self) -> _core.FeatureMap:
        # cosines and sines come in pairs
        rank = self._n_features_out + self._n_features_out % 2
        return _core.FeatureMap.random(
            self._name, self._dtype, self.n_features_in_, self.sigma_, rank, self._seed
        )

    def transform(self, X: Any) -> np.ndarray:
        """Features of the rows of X."""
        fitted = self._fitted()
        features = fitted.transform(validated_as(self, X, fitted.dtype), threads(self.n_jobs))
        return np.ascontiguousarray(features[:, : self._n_features_out])


@dataclass(eq=False, repr=False, kw_only=True)
class RandomFourier(_RandomFeatures):
    """Random Fourier features of the Gaussian kernel.

    Parameters
    ----------
    gamma : float or "median", default="median"
        ``exp(-gamma |x-y|²)``; ``"median"`` makes the width the median distance between samples.
    n_components : int, default=512
        Features; cosines and sines come in pairs, so an odd number leaves one out.
    random_state, n_jobs
        As in :class:`Nystroem`.

    Attributes
    ----------
    sigma_ : float
        The width of the kernel, ``exp(-|x-y|² / (2 sigma²))``.
    """

    _name = "fourier"


@dataclass(eq=False, repr=False, kw_only=True)
class Fastfood(_RandomFeatures):
    """Fastfood features of the Gaussian kernel: random features in n log n time.

    Parameters and attributes are as in :class:`RandomFourier`.
    """

    _name = "fastfood"
