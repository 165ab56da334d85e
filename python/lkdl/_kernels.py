"""Kernels by scikit-learn's names and parameters, as the engine describes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

from . import _core
from ._core import LkdlError


class Kernel(NamedTuple):
    """A kernel of the engine, times a factor it does not have."""

    description: Any
    scale: float = 1.0


def resolve(
    kernel: str | Callable[..., Any],
    X: np.ndarray,
    *,
    gamma: float | str | None = None,
    coef0: float | None = None,
    degree: float | None = None,
    kernel_params: dict[str, Any] | None = None,
    seed: int = 0,
) -> Kernel:
    """The kernel of these arguments; `gamma="median"` takes its width from the samples' distances."""
    if callable(kernel) or kernel == "precomputed":
        if any(value is not None for value in (gamma, coef0, degree)):
            raise LkdlError("gamma, coef0 and degree do not go with a callable or precomputed kernel")
        if kernel == "precomputed":
            return Kernel({"name": "precomputed"})
        return Kernel(blockwise(partial(kernel, **kernel_params) if kernel_params else kernel, X))
    return _named(kernel, X, gamma, 1.0 if coef0 is None else coef0, degree, kernel_params, seed)


def _named(
    kernel: str,
    X: np.ndarray,
    gamma: float | str | None,
    coef0: float,
    degree: float | None,
    kernel_params: dict[str, Any] | None,
    seed: int,
) -> Kernel:
    def rate(usual: float) -> float:
        if isinstance(gamma, str):
            if gamma != "median":
                raise LkdlError(f'gamma is "{gamma}", but must be a number or "median"')
            median = _core.median_distance(X, seed)
            return 1 / (2 * median**2) if kernel in ("rbf", "gaussian") else 1 / median
        return usual if gamma is None else float(gamma)

    share = 1 / X.shape[1]
    match kernel:
        case "linear" | "cosine":
            return Kernel({"name": kernel})
        case "rbf" | "gaussian":
            return Kernel({"name": "gaussian", "sigma": (2 * rate(share)) ** -0.5})
        case "exponential":
            return Kernel({"name": "exponential", "sigma": 1 / rate(share)})
        case "laplacian":
            return Kernel({"name": "laplacian", "rate": rate(share)})
        case "poly" | "polynomial":
            # (γ x·y + c)^d = γ^d (x·y + c/γ)^d
            power, factor = 3.0 if degree is None else float(degree), rate(share)
            if factor <= 0:
                raise LkdlError(f"gamma is {factor}, but must be above 0")
            description = {"name": "polynomial", "degree": power, "offset": coef0 / factor}
            return Kernel(description, factor**power)
        case "sigmoid":
            return Kernel({"name": "sigmoid", "rate": rate(share), "offset": float(coef0)})
        case "chi2":
            return Kernel({"name": "chi2", "rate": rate(1.0)})
        case "chi2-additive":
            return Kernel({"name": "chi2-additive"})
        case str() if kernel in PAIRWISE_KERNEL_FUNCTIONS:
            return Kernel(partial(pairwise_kernels, metric=kernel, **(kernel_params or {})))
    known = ["rbf", "poly", "linear", "cosine", "sigmoid", "laplacian", "exponential", "chi2"]
    raise LkdlError(
        f'kernel is "{kernel}", but must be one of {", ".join(known)}, chi2-additive, '
        "precomputed, or a function of two blocks of samples"
    )


def blockwise(function: Callable[..., Any], X: np.ndarray) -> Callable[..., np.ndarray]:
    """A function of two blocks; one of two samples, as scikit-learn takes, is called pair by pair."""
    rows = np.asarray(X[:2], dtype=np.float64)
    few, more = np.repeat(rows[:1], 2, axis=0), np.repeat(rows[-1:], 3, axis=0)
    try:
        if np.shape(function(few, more)) == (2, 3):
            return function
    except (ValueError, TypeError, IndexError):
        pass
    if np.ndim(function(rows[0], rows[-1])) != 0:
        raise LkdlError(
            "kernel must be a function f(X, Y) of an (n, p) and an (m, p) block of samples that "
            "returns an (n, m) array, or a number for two samples"
        )
    return Pairwise(function)


class Pairwise:
    """A function of two samples over blocks of them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return np.array([[self.function(x, y) for y in Y] for x in X], dtype=np.float64)
