"""A classifier of samples that no memory holds, which come in blocks as often as it takes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from . import _core
from ._arguments import seed, threads
from ._classifiers import LKDLClassifier, labels_of
from ._core import LkdlError
from ._kernels import blockwise
from ._progress import progress, with_callbacks
from ._source import Source, cut, passes

#: How the command learns from blocks.
LEARNERS = ("online", "rls", "mod")


@dataclass(eq=False, repr=False, kw_only=True)
class StreamLKDLClassifier(LKDLClassifier):
    __doc__ = LKDLClassifier.__doc__ and (
        """LKDL on more samples than memory holds: a few passes over blocks of them.

    The first pass counts samples and labels, and draws a *pilot* from all of them, which decides what
    :class:`LKDLClassifier` decides: preparation, kernel, landmarks, sizes, and the atoms to start
    from. Every further pass, `max_iter` of them at most, is an iteration of the dictionaries. Memory
    holds the pilot, a block and the dictionaries, however many blocks there are.

    It is the fit of the command ``lkdl fit --stream``: the same blocks, `pilot_size` and settings give
    the same model, bit for bit, for any `n_jobs`. Samples should be in mixed order.

    Examples
    --------
    >>> import lkdl
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> def blocks():
    ...     for first in range(0, 1500, 300):  # here files would be read
    ...         yield X[first : first + 300], y[first : first + 300]
    >>> model = lkdl.StreamLKDLClassifier(n_atoms=30).fit(blocks)
    >>> bool(model.score(X[1500:], y[1500:]) > 0.9)
    True

    Parameters
    ----------
    learner : {"online", "rls", "mod"}, default="online"
        How dictionaries are learned: ``online`` and ``rls`` move after every mini-batch of a class,
        ``mod`` after every pass.
    batch_size : int, default=None
        Samples of a mini-batch, 256 by default; not for ``mod``.
    pilot_size : int, default=20000
        Samples of the pilot; and at least 50 of every class, if it has so many.
    block_size : int, default=8192
        Samples of a block where arrays or files are cut into blocks.
"""
        + LKDLClassifier.__doc__.split("Parameters\n    ----------\n", 1)[1]
        .split("How dictionaries are learned.\n", 1)[1]
        .replace(
            "Bytes a fit may use beside the data;", "Bytes a fit may use, blocks and pilot included;"
        )
        .replace("        Refit atoms by", "        For ``ksvd``, which is not among these: refit atoms by")
    )

    learner: str = "online"
    batch_size: int | None = None
    pilot_size: int = 20_000
    block_size: int = 8192

    _aside: ClassVar[frozenset[str]] = frozenset(("pilot_size", "block_size"))

    def _method(self) -> str:
        if self.learner not in LEARNERS:
            raise LkdlError(f'learner is "{self.learner}", but must be {", ".join(LEARNERS)}')
        return self.learner

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> StreamLKDLClassifier:
        """Learn from blocks of samples.

        Parameters
        ----------
        X : iterable of (X, y), callable, path, list of paths, or array
            Pairs of samples and labels, in blocks that need not be of one size: a list, an object
            whose ``__iter__`` begins anew, or a function that returns an iterator. It is gone
            through several times, and must give the same every time. Or files that ``lkdl fit
            --stream`` reads (.npy, .npz, .csv, .tsv, .svm, .idx, .parquet, names of sets), one after
            the other. Or, with `y`, rows that are cut into blocks of `block_size`, such as an array
            that is mapped to memory.
        y : array, default=None
            The labels, where X are rows.
        """
        if self.pilot_size < 1:
            raise LkdlError(f"pilot_size is {self.pilot_size}, but must be at least 1")
        if y is None and hasattr(X, "shape"):
            raise LkdlError("requires y to be passed, but the target y is None")
        with progress(self, None, None, self.max_iter or 1) as report:
            if y is None and _are_paths(X):
                model = self._of_files([X] if isinstance(X, (str, os.PathLike)) else X, report)
            else:
                begin = passes(X) if y is None else cut(X, y, self.block_size)
                model = self._of_blocks(Source(self, begin), report)
        self._adopt(model)
        return self

    def _of_blocks(self, source: Source, report: Any) -> _core.Model:
        model = _core.fit_blocks(
            source,
            source.dtype,
            self._settings(None, None),
            self.pilot_size,
            kernel=blockwise(self.kernel, source.head) if callable(self.kernel) else None,
            seed=seed(self.random_state),
            threads=threads(self.n_jobs),
            progress=report,
        )
        self.classes_ = source.classes
        return model

    def _of_files(self, files: Any, report: Any) -> _core.Model:
        if callable(self.kernel):
            raise LkdlError("a kernel that is a function is for blocks and arrays; name one for files")
        model = _core.fit_files(
            [os.fspath(file) for file in files],
            self.block_size,
            self._settings(None, None),
            self.pilot_size,
            seed=seed(self.random_state),
            threads=threads(self.n_jobs),
            progress=report,
        )
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        self.classes_, self.n_features_in_ = labels_of(model.class_names), model.n_features
        return model


def _are_paths(X: Any) -> bool:
    """Whether these are names of files."""
    files = X if isinstance(X, (list, tuple)) else [X]
    return len(files) > 0 and all(isinstance(file, (str, os.PathLike)) for file in files)
