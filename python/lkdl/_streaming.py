"""A classifier that learns from labelled samples as they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from . import _core
from ._arguments import FLOATS, count, dense, seed, threads
from ._blocks import check_kind
from ._classifiers import LKDLClassifier, names
from ._core import LkdlError
from ._incremental import settings
from ._undo import or_as_before


@dataclass(eq=False, repr=False, kw_only=True)
class OnlineLKDLClassifier(LKDLClassifier):
    __doc__ = LKDLClassifier.__doc__ and (
        """LKDL on samples that come block by block, and are not kept.

    The first block decides what :class:`LKDLClassifier` decides: preparation, kernel, landmarks,
    sizes, and the atoms to start from. Then the dictionary of every class learns from all blocks, the
    first among them, by :class:`OnlineDictionary`'s algorithms. The first block should be a fair
    sample, of some thousands. Classes may appear later.

    Examples
    --------
    >>> import lkdl
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = lkdl.OnlineLKDLClassifier()
    >>> for first in range(0, 1500, 500):
    ...     model = model.partial_fit(X[first : first + 500], y[first : first + 500])
    >>> bool(model.score(X[1500:], y[1500:]) > 0.9)
    True

    Parameters
    ----------
    algorithm : {"rls", "online"}, default="rls"
        How dictionaries learn; see :class:`OnlineDictionary`.
    batch_size : int, default=256
        Samples of a class that move its dictionary together.
    fading, forgetting, total
        As in :class:`OnlineDictionary`.
    drift_limit : float, default=2.0
        Landmarks are added when :attr:`drift_` exceeds this, if `n_more` says so.
    n_more : int, default=0
        Landmarks to add then, of the block that is at hand: those that the map misses most of. What
        was learned before stays.
"""
        + LKDLClassifier.__doc__.split("Parameters\n    ----------\n", 1)[1].replace(
            """    Attributes
    ----------
""",
            """    Attributes
    ----------
    drift_ : float or None
        What the landmarks miss of recent samples (about 1,000), as a multiple of what they missed of
        the first block, which should have ten times as many samples as there are landmarks; None if
        the map has no landmarks, or the kernel may be indefinite.
    n_samples_seen_ : int
        Samples so far.
""",
        )
    )

    algorithm: str = "rls"
    batch_size: int = 256
    fading: float = 1.5
    forgetting: float = 1.0
    total: int | None = None
    drift_limit: float = 2.0
    n_more: int = 0

    _aside: ClassVar[frozenset[str]] = frozenset(
        ("algorithm", "batch_size", "fading", "forgetting", "total", "drift_limit", "n_more")
    )

    @or_as_before
    def fit(self, X: Any, y: Any) -> OnlineLKDLClassifier:
        """Forget everything, and learn from the rows of X as one block."""
        self.__dict__.pop("_learners", None)
        return self.partial_fit(X, y)

    @or_as_before
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> OnlineLKDLClassifier:
        """Learn from the next rows X and their labels y.

        `classes` are all labels there will be, if that is known at the first call; another label is
        then an error. Otherwise a class is one from its first sample on. What is refused leaves the
        classifier as it was.
        """
        first = "_learners" not in self.__dict__
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=FLOATS,
            order="C",
            reset=first,
            ensure_min_samples=2 if first else 1,
        )
        check_classification_targets(y)
        if first:
            self._begin(dense(X), y, classes)
        else:
            self._check_same(classes)
            self._feed(dense(X).astype(self.model_.dtype, copy=False), y)
        return self

    def _begin(self, X: np.ndarray, y: np.ndarray, classes: Any) -> None:
        """Everything that the first block decides."""
        count("n_more", self.n_more, least=0)
        known = None if classes is None else np.unique(classes)
        found = np.unique(y)
        if len(found if known is None else known) < 2:
            raise LkdlError("y has 1 class, so there is nothing to tell apart; give at least two")
        self._check_known(found, known)
        self.classes_, self._all_known = found if known is None else known, known is not None
        self._seed = seed(self.random_state)
        model = self._trained(X, np.searchsorted(found, y), found)
        mapped, energies = model.mapped(X, threads(self.n_jobs))
        learners = {
            label: self._learner(model, number, mapped[y == label], atoms)
            for number, (label, atoms) in enumerate(zip(found, model.class_atoms, strict=True))
        }
        self.n_samples_seen_ = 0
        self._learn(model, learners, mapped, y)
        self._drift = None if energies is None else _core.Drift.of(*energies)
        self.drift_ = None if energies is None else self._drift.level

    def _check_same(self, classes: Any) -> None:
        """Refuses classes that were not announced at the first call."""
        said = self.classes_ if self._all_known else None
        if classes is not None and not np.array_equal(np.unique(classes), said):
            raise LkdlError("classes are not those of the first call; give them there, or never")

    def _check_known(self, labels: np.ndarray, known: np.ndarray | None) -> None:
        new = [] if known is None else np.setdiff1d(labels, known)
        if len(new):
            raise LkdlError(
                f"y has the label {new[0]!r}, which is not among the classes given first"
            )

    def _feed(self, X: np.ndarray, y: np.ndarray) -> None:
        try:
            check_kind(self.classes_.dtype, y.dtype)
        except LkdlError as error:
            raise LkdlError(f"y {error}") from None
        labels = np.unique(y)
        self._check_known(labels, self.classes_ if self._all_known else None)
        model, learners, drift = self.model_, dict(self._learners), self._drift
        mapped, energies = model.mapped(X, threads(self.n_jobs))
        if energies is not None:
            drift = drift.after(*energies)
            if self.n_more and drift.level > self.drift_limit:
                n_more = min(int(self.n_more), len(X))
                model = model.grown(X, n_more, self._seed, threads(self.n_jobs))
                learners = {of: learner.grown(model.rank) for of, learner in learners.items()}
                mapped, energies = model.mapped(X, threads(self.n_jobs))
                drift = _core.Drift.of(*energies)
        for label in labels[~np.isin(labels, list(learners))]:
            learners[label] = self._learner(model, len(learners), mapped[y == label])
        self._learn(model, learners, mapped, y)
        self.classes_ = np.union1d(self.classes_, labels)
        self._drift, self.drift_ = drift, None if drift is None else drift.level

    def _learner(
        self,
        model: _core.Model,
        number: int,
        mapped: np.ndarray,
        atoms: np.ndarray | None = None,
    ) -> _core.Incremental:
        """The learner of a class that starts from these atoms, or from its first samples."""
        n_atoms = max(model.n_atoms) if atoms is None else len(atoms)
        sparsity = int(model.settings["learning-sparsity"])
        said = settings(self, n_atoms, min(sparsity, n_atoms), self._seed)
        return _core.Incremental.start(
            mapped, said, atoms, stream=number, threads=threads(self.n_jobs)
        )

    def _learn(
        self, model: _core.Model, learners: dict[Any, Any], mapped: np.ndarray, y: np.ndarray
    ) -> None:
        """Every class learns from its samples; then the model is made of what they have learned."""
        n_jobs = threads(self.n_jobs)
        for label in np.unique(y):
            learners[label] = learners[label].fed(mapped[y == label], n_jobs)
        learned = [learner.finished(n_jobs) for learner in learners.values()]
        seen = self.n_samples_seen_ + len(y)
        self._adopt(
            model.with_dictionaries(
                [atoms for atoms, *_ in learned],
                [errors.tolist() for _, errors, *_ in learned],
                names(np.array(list(learners))),
                model.sparsity,
                seen,
            )
        )
        self._learners, self.n_samples_seen_ = learners, seen

    def _predictions(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        labels, scores, margins = super()._predictions(X)
        # the model has classes in the order they came in, and none for those that have not yet
        places = np.searchsorted(self.classes_, np.array(list(self._learners)))
        whole = np.full((len(scores), len(self.classes_)), np.inf)
        whole[:, places] = scores
        return places[labels], whole, margins
