"""A classifier of samples that no memory holds, which come in blocks as often as it takes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.utils import column_or_1d

from . import _core
from ._arguments import count, seed, threads
from ._blocks import USUAL_PILOT
from ._classifiers import LKDLClassifier
from ._core import LkdlError
from ._kernels import blockwise
from ._progress import progress, with_callbacks
from ._source import Source, cut, is_npy, mapped, passes
from ._undo import or_as_before

#: How the command learns from blocks.
LEARNERS = ("online", "rls", "mod")
#: Arguments of all fits from blocks, after that of the learner.
OF_BLOCKS = LKDLClassifier.__doc__ and (
    LKDLClassifier.__doc__.split("How dictionaries are learned.\n", 1)[1]
    .replace(
        "Bytes a fit may use beside the data;", "Bytes a fit may use, blocks and pilot included;"
    )
    .replace(
        "        Refit atoms by", "        For ``ksvd``, which is not among these: refit atoms by"
    )
)
ATTRIBUTES = """    Attributes
    ----------
"""
OF_DRIFT = """    drift_ : float or None
        What the landmarks missed of the last samples (about 1,000), as a multiple of what they miss
        of the average one; None if the map has no landmarks, or the kernel may be indefinite.
    highest_drift_ : float or None
        The same at its highest, after any block.
    n_grown_ : int
        Landmarks that were added because it exceeded `drift_limit`.
"""


@dataclass(eq=False, repr=False, kw_only=True)
class StreamLKDLClassifier(LKDLClassifier):
    __doc__ = OF_BLOCKS and (
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
        Samples of a mini-batch; by default as many as atoms, and 256 at least; not for ``mod``.
    pilot_size : int, default=20000
        Samples of the pilot; and at least 50 of every class, if it has so many.
    block_size : int, default=8192
        Samples of a block where arrays or files are cut into blocks.
    drift_limit : float, default=2.0
        The data drift when the landmarks miss more than so many times as much of the last thousand
        samples as of the average one; more than 1.
    grow : int, default=0
        Landmarks to add then, four times at most, taken from the block that shows it; the map is then
        ``nystroem``. What was learned before stays.
    checkpoint : path, default=None
        A file in which the state of the fit is kept while it runs, whole or not at all. It is removed
        when the fit has ended.
    checkpoint_every : int or str, default=None
        How often: after so many blocks, or a time such as ``"30s"``, its default ``"60s"``, or ``"5min"``.
    resume : bool, default=False
        Go on from the checkpoint, if there is one: a fit that was killed at any moment, and is started
        again like this, ends in the same bits. A checkpoint of another run, of other settings or
        another version, or with damage is an error. Without it, a checkpoint that is there already is.
"""
        + OF_BLOCKS.replace(ATTRIBUTES, ATTRIBUTES + OF_DRIFT)
    )

    learner: str = "online"
    batch_size: int | None = None
    pilot_size: int = USUAL_PILOT
    block_size: int = 8192
    drift_limit: float = 2.0
    grow: int = 0
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: int | str | None = None
    resume: bool = False

    _aside: ClassVar[frozenset[str]] = frozenset(
        (
            "pilot_size",
            "block_size",
            "drift_limit",
            "grow",
            "checkpoint",
            "checkpoint_every",
            "resume",
        )
    )

    def _method(self) -> str:
        if self.learner not in LEARNERS:
            raise LkdlError(f'learner is "{self.learner}", but must be {", ".join(LEARNERS)}')
        return self.learner

    @with_callbacks
    @or_as_before
    def fit(self, X: Any, y: Any = None) -> StreamLKDLClassifier:
        """Learn from blocks of samples.

        Parameters
        ----------
        X : iterable of (X, y), callable, path, list of paths, array or data frame
            Pairs of samples and labels, in blocks that need not be of one size: a list, an object
            whose ``__iter__`` begins anew, or a function that returns an iterator. It is gone
            through several times, and must give the same every time. Or files with labels that
            ``lkdl fit --stream`` reads (.npz, .csv, .tsv, .svm, .idx, .parquet, names of sets), one
            after the other. Or, with `y`, rows that are cut into blocks of `block_size`: an array,
            a data frame, or an .npy file with one, which is read block by block.
        y : array or path, default=None
            The labels, where X are rows; or an .npy file with them.
        """
        if y is None and hasattr(X, "shape"):
            raise LkdlError("requires y to be passed, but the target y is None")
        with progress(self, None, None, self.max_iter or 1) as report:
            said = {**self._said(), "progress": report}
            if y is None and _are_paths(X):
                model, drift = self._of_files([X] if isinstance(X, (str, os.PathLike)) else X, said)
            else:
                model, drift = self._of_blocks(self._source(X, y), said)
        self._adopt(model)
        self.drift_, self.highest_drift_, self.n_grown_ = drift or (None, None, 0)
        return self

    def _said(self) -> dict[str, Any]:
        """Everything that a fit is made with, whatever its samples come from."""
        if self.checkpoint is None and (self.checkpoint_every is not None or self.resume):
            raise LkdlError("checkpoint_every and resume need a file: set checkpoint")
        every = None if self.checkpoint_every is None else str(self.checkpoint_every)
        kept = {
            "path": self.checkpoint,
            "every": every,
            "resume": self.resume,
            "limits_memory": bool(self.memory_limit),
        }
        return {
            "settings": self._settings(None, None),
            "n_pilot": count("pilot_size", self.pilot_size),
            "drift": (float(self.drift_limit), count("grow", self.grow, least=0)),
            "checkpoint": None if self.checkpoint is None else kept,
            "seed": seed(self.random_state),
            "threads": threads(self.n_jobs),
        }

    def _source(self, X: Any, y: Any) -> Source:
        if y is None:
            return Source(self, passes(X), "blocks of samples")
        labels, size = column_or_1d(mapped(y), warn=True), count("block_size", self.block_size)
        begin = cut(mapped(X), labels, size)
        return Source(self, begin, f"{len(labels)} samples in blocks of {size}, each")

    def _of_blocks(self, source: Source, said: dict[str, Any]) -> Any:
        kernel = blockwise(self.kernel, source.head) if callable(self.kernel) else None
        found = _core.fit_blocks(source, source.dtype, kernel=kernel, **said)
        self.classes_ = source.classes
        return found

    def _of_files(self, files: Any, said: dict[str, Any]) -> Any:
        if callable(self.kernel):
            raise LkdlError(
                "a kernel that is a function is for blocks and arrays; name one for files"
            )
        paths, block_size = [os.fspath(file) for file in files], count("block_size", self.block_size)
        for path in filter(is_npy, paths):
            raise LkdlError(f"{path} has no labels; give one such file, and its labels as y")
        found = _core.fit_files(paths, block_size, **said)
        self._take_names(found[0])
        return found


def _are_paths(X: Any) -> bool:
    """Whether these are names of files."""
    files = X if isinstance(X, (list, tuple)) else [X]
    return len(files) > 0 and all(isinstance(file, (str, os.PathLike)) for file in files)
