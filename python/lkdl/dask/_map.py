"""Nyström maps of Dask collections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import lkdl

from .. import _core
from .._arguments import seed, threads
from .._blocks import USUAL_PILOT
from .._core import LkdlError
from .._undo import or_as_before
from ._blocks import Blocks, total
from ._documented import documented
from ._lazy import OnDask, lazy
from ._pilot import draw_pilot
from ._sums import add_maps, of_map


class _Mapping(OnDask):
    """Virtual samples of Dask collections; here, where scikit-learn's ``set_output`` does not reach, which
    would compute them."""

    transform = lazy(
        "transform", lambda self: self._fitted().dtype, lambda self: self._n_features_out
    )
    residual_energy = lazy("residual_energy", lambda self: np.float64)


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class Nystroem(_Mapping, lkdl.Nystroem):
    """Nyström approximation of a kernel on Dask arrays and data frames.

    Landmarks are chosen among the pilot. Where the map depends on all samples (``map="optimal"``,
    `centered`, a `rank` by trace) one pass over the blocks sums what it needs to know of them, and
    ``approximation_error_`` is that of all samples; otherwise that of the pilot, and no other sample
    is looked at. ``component_indices_`` count the samples of the collection.

    Examples
    --------
    >>> import dask.array as da, lkdl.dask
    >>> X = da.random.default_rng(0).normal(size=(2000, 5), chunks=(500, 5))
    >>> map = lkdl.dask.Nystroem(gamma=0.1, n_components=50, pilot_size=1000).fit(X)
    >>> map.transform(X)
    dask.array<transform, shape=(2000, 50), dtype=float64, chunksize=(500, 50), chunktype=numpy.ndarray>
    >>> bool(map.approximation_error_ < 0.05)
    True
    """

    pilot_size: int = USUAL_PILOT

    @or_as_before
    def fit(self, X: Any, y: Any = None) -> Nystroem:
        """Choose landmarks among a pilot of the rows of X, a Dask array or data frame, and make the map."""
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise LkdlError("a precomputed kernel has all samples in every row; use lkdl.Nystroem")
        if not isinstance(self.sampler, str):
            raise LkdlError("sampler must be a name for Dask; give points by landmarks=")
        blocks = Blocks(X, client=self.client)
        blocks.check_kernel(self.kernel)
        draw = seed(self.random_state)
        pilot = draw_pilot(blocks, self._n_pilot(), draw)
        super().fit(pilot.samples)
        if self._map_needs_all():
            self._refit(blocks, len(pilot.indices), draw)
        if self.component_indices_ is not None:
            self.component_indices_ = pilot.indices[self.component_indices_]
        return self

    def _map_needs_all(self) -> bool:
        return self._variant() == "optimal" or self.centered or isinstance(self.rank, float)

    def _refit(self, blocks: Blocks, n_pilot: int, draw: int) -> None:
        sums = blocks.compute(total(add_maps, blocks.each(of_map, self.to_local())))
        own = None if self.landmarks is None else np.asarray(self.landmarks)
        fitted, error = _core.map_by_sums(
            self._fitted(),
            sums,
            self._rank(n_pilot, own),
            self._variant(),
            centered=self.centered,
            indefinite=self.indefinite,
            seed=draw,
            threads=threads(self.n_jobs),
        )
        self._map = fitted
        self._remember(fitted, self._kernel)
        self.approximation_error_ = error
