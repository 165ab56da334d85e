"""What all estimators on Dask share: a client, and methods that are lazy on Dask collections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import dask.array as da
import numpy as np
from dask.delayed import delayed
from sklearn.utils.validation import check_is_fitted

from .._arguments import count
from .._core import LkdlError
from ._blocks import Blocks, as_array, block, checked, precision


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array, data frame or series."""
    return isinstance(X, da.Array) or hasattr(X, "to_dask_array")


def ordinary(cls: type) -> type:
    """The estimator of lkdl that a class extends."""
    return cls.__mro__[cls.__mro__.index(OnDask) + 1]


def lazy(
    method: str, dtype: Callable[[Any], Any], columns: Callable[[Any], int | None] | None = None
) -> Callable[..., Any]:
    """A method of the ordinary estimator, lazy on Dask collections: a vector of this type, or so many
    columns."""

    def call(self: Any, X: Any) -> Any:
        if not is_dask(X):
            return getattr(super(OnDask, self), method)(X)
        check_is_fitted(self)
        return self._lazily(method, X, dtype(self), None if columns is None else columns(self))

    call.__name__ = method
    call.__doc__ = (
        f"`{method}` of the ordinary estimator: of a Dask array or data frame a lazy Dask array in the "
        "same blocks, of other rows an array in memory."
    )
    return call


class OnDask:
    """An estimator that is fitted on Dask collections.

    `client` is the client to compute with: the current one if none is set, and Dask's own scheduler
    without any.
    """

    client: Any = None
    # arguments that the ordinary estimator does not have
    _of_dask: ClassVar[tuple[str, ...]] = ("pilot_size",)

    def _n_pilot(self) -> int:
        """Samples of the pilot: at least as many as there are atoms, or landmarks, to choose from them."""
        size, wanted = count("pilot_size", self.pilot_size), self.n_components
        return size if isinstance(wanted, str) else max(size, count("n_components", wanted))

    def to_local(self) -> Any:
        """The ordinary estimator, fitted as this one is."""
        params = self.get_params(deep=False)
        local = ordinary(type(self))(
            **{name: params[name] for name in params if name not in self._of_dask}
        )
        fitted = {name: value for name, value in self.__getstate__().items() if name not in params}
        local.__dict__.update(fitted)
        return local

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "client"}

    def _check_columns(self, n_features: int, names: list[str] | None) -> None:
        """Refuses other columns than those of the fit."""
        known = getattr(self, "feature_names_in_", None)
        if names is not None and known is not None and names != list(known):
            raise LkdlError("the columns of X are not those of the fit, or not in that order")
        if n_features != self.n_features_in_:
            raise LkdlError(
                f"X has {n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )

    def _of_arrays(self) -> Any:
        """The ordinary estimator without names of columns: blocks are arrays."""
        local = self.to_local()
        local.__dict__.pop("feature_names_in_", None)
        return local

    def _each(self, function: Callable[..., Any], X: Any, y: Any = None) -> list[Any]:
        """``function(number, X, y, estimator)`` of every block, computed."""
        check_is_fitted(self)
        blocks = Blocks(X, y, self.client)
        self._check_columns(blocks.n_features, blocks.names)
        return blocks.compute(blocks.each(function, self._of_arrays()))

    def _lazily(self, method: str, X: Any, dtype: Any, columns: int | None) -> da.Array:
        """What a method of the ordinary estimator gives for every block."""
        array, names = as_array(X)
        self._check_columns(array.shape[1], names)
        shape = {"drop_axis": 1} if columns is None else {"chunks": (array.chunks[0], (columns,))}
        empty = np.empty((0,) if columns is None else (0, 0), dtype=dtype)
        local = delayed(self._of_arrays())
        expected = (self.n_features_in_, precision(array))
        arguments = {"method": method, "shape": expected, "empty": (columns, np.dtype(dtype))}
        return da.map_blocks(
            _called, array, local, **arguments, **shape, name=None, token=method, meta=empty
        )


def _called(
    X: np.ndarray, local: Any, method: str, shape: Any, empty: Any, block_id: Any = None
) -> np.ndarray:
    number = 0 if block_id is None else block_id[0]
    columns, dtype = empty
    X = checked(X, number, *shape)
    if len(X) == 0:
        return np.empty((0,) if columns is None else (0, columns), dtype=dtype)
    with block(number):
        return getattr(local, method)(X)
