"""Classifiers: any dictionary method, on samples or on virtual samples of a kernel.

Every class is a method with its parameters. What is left at ``"auto"`` is chosen from the data by the
same recipe as the command ``lkdl fit`` follows, so both give the same model, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._arguments import FLOATS, budget, clipped, dense, seed, threads, validated_as
from ._core import LkdlError
from ._kernels import blockwise
from ._progress import CallbackSupportMixin, progress, with_callbacks
from ._undo import or_as_before

# Arguments by the recipe's name for them, where that is not the same with dashes.
_OPTIONS = {
    "n_atoms": "atoms",
    "n_landmarks": "landmarks",
    "max_iter": "iters",
    "batch_size": "batch",
}
# Arguments that are not the recipe's.
_OWN = {"random_state", "n_jobs", "memory_limit", "verbose", "learner", "form", "exact"}
# Kernels by scikit-learn's names.
_KERNELS = {"rbf": "gaussian", "poly": "polynomial"}
#: Iterations of methods that refine one dictionary per class, and the least gain that lets them go
#: on, where nothing is said: the recipe's.
USUAL_ITERS, USUAL_TOL = 5, 1e-4

_SHARED = """
    prepare : str, default="auto"
        What is done to every sample first: ``center``, ``l2``, ``standardize``, joined by commas, or
        ``none``. By default ``center,l2`` for images, spectra and other signals, ``standardize`` for
        measurements.
    map : {"auto", "nystroem", "fourier", "fastfood", "none"}
        How samples become virtual samples, on which the method is a kernel method; ``none`` gives the
        linear method, ``auto`` lets held-out samples decide between ``nystroem`` and ``none``.
    kernel : str or callable, default="auto"
        ``gaussian``, ``polynomial``, ``linear``, ``exponential``, ``laplacian``, ``cosine``,
        ``sigmoid``, ``chi2``, ``chi2-additive``, ``precomputed``, or a function ``f(X, Y)`` of two
        blocks of samples. By default polynomial for signals, Gaussian for measurements.
    degree, offset, sigma, rate : float, default=None
        Parameters of the kernel. ``sigma`` may also be ``"median"`` or a multiple such as
        ``"0.5median"`` of the median distance between samples, its default.
    normalized : bool, default=False
        Divide the kernel by the square root of its diagonal.
    sampler : str, default="auto"
        How landmarks are chosen; see :class:`Nystroem`.
    n_landmarks : int, str or "auto", default="auto"
        A count, a share such as ``"20%"``, or what the error certificate asks for.
    rank : int or "auto", default="auto"
        Dimension of the virtual samples: 256, or all landmarks where they are fewer.
    variant : {"auto", "standard", "cholesky", "optimal"}, default="auto"
        How the map is made from the landmarks; see `map` of :class:`Nystroem`.
    centered : bool, default=False
        Subtract the mean virtual sample.
    indefinite : {"auto", "reject", "clip", "flip", "shift"}, default="auto"
        What to do with a kernel that is not positive semi-definite.
    random_state : int, RandomState or None, default=0
        An integer is the seed of all draws: equal seeds give equal bits for any `n_jobs`.
    n_jobs : int, default=None
        Threads; ``None`` and -1 are all cores.
    memory_limit : int, default=None
        Bytes a fit may use beside the data; by default about half of the machine's memory.
    verbose : int, default=0
        1 prints stages and the error of every iteration on stderr, 2 the classes too.

    Attributes
    ----------
    classes_ : array
        The labels.
    settings_ : dict
        Everything that was said or chosen, by the command's names: ``lkdl fit`` with these flags
        makes the same model.
    choice_ : str or None
        What held-out samples decided, and by which figures.
    kernel_, map_, n_landmarks_, rank_, n_atoms_, sparsity_
        What was chosen, where the method has it.
    components_ : list of arrays or None
        The atoms of each class as rows, in the space of virtual samples.
    error_ : list of arrays
        The relative error after each iteration, for each dictionary.
    n_iter_ : int
        Iterations made at most.
    warnings_ : list of str
        What the fit wants known.
    """


def _documented(cls: type) -> type:
    """The class with the parameters that all share in its documentation."""
    cls.__doc__ = (cls.__doc__ or "").rstrip() + _SHARED
    return cls


@dataclass(eq=False, repr=False, kw_only=True)
class _Classifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    prepare: str = "auto"
    map: str = "none"
    kernel: str | Callable[..., Any] = "auto"
    degree: float | None = None
    offset: float | None = None
    sigma: float | str | None = None
    rate: float | None = None
    normalized: bool = False
    sampler: str = "auto"
    n_landmarks: int | str = "auto"
    rank: int | str = "auto"
    variant: str = "auto"
    centered: bool = False
    indefinite: str = "auto"
    random_state: Any = 0
    n_jobs: int | None = None
    memory_limit: int | None = None
    verbose: int = 0

    # arguments of a subclass that are not the recipe's
    _aside: ClassVar[frozenset[str]] = frozenset()

    def _method(self) -> str:
        """The recipe's name of the method."""
        raise NotImplementedError

    @with_callbacks
    @or_as_before
    def fit(self, X: Any, y: Any) -> Any:
        """Learn from the rows of X and their labels y."""
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=FLOATS, order="C", ensure_min_samples=2
        )
        X = dense(X)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise LkdlError("y has 1 class, so there is nothing to tell apart; give at least two")
        with progress(self, X, y, self._steps()) as report:
            model = self._trained(X, labels, self.classes_, report)
        self._adopt(model)
        return self

    def _trained(
        self, X: np.ndarray, labels: np.ndarray, classes: np.ndarray, report: Any = None
    ) -> _core.Model:
        """The model that the recipe makes of samples and class indices."""
        return _core.Model.fit(
            X,
            labels.astype(np.int64),
            names(classes),
            self._settings(len(X), labels),
            kernel=blockwise(self.kernel, X) if callable(self.kernel) else None,
            seed=seed(self.random_state),
            threads=threads(self.n_jobs),
            progress=report,
        )

    def _adopt(self, model: _core.Model) -> None:
        """Takes over a model, and says what it is."""
        self.model_ = model
        self.settings_ = model.settings
        self.choice_ = model.choice
        self.map_ = self.settings_.get("map")
        self.kernel_ = self.settings_.get("kernel")
        self.n_landmarks_, self.rank_ = model.n_landmarks, model.rank
        self.n_atoms_, self.sparsity_ = model.n_atoms, model.sparsity
        self.components_ = model.class_atoms
        self.error_ = model.errors
        self.n_iter_ = max((len(errors) for errors in self.error_), default=1)
        self.warnings_ = model.warnings

    def _take_names(self, model: _core.Model) -> None:
        """Classes and features as a model calls them that was learned from files."""
        self.classes_, self.n_features_in_ = labels_of(model.class_names), model.n_features
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if model.feature_names is not None:
            self.feature_names_in_ = np.array(model.feature_names, dtype=object)

    def _steps(self) -> int:
        return (getattr(self, "max_iter", None) or USUAL_ITERS) * len(self.classes_)

    def _settings(self, n_samples: int | None, labels: np.ndarray | None) -> dict[str, str]:
        """Arguments that were given, as options of the recipe, for so many samples if it is known."""
        said = {"method": self._method()}
        for name in (f.name for f in fields(self) if f.name not in _OWN | self._aside):
            value = getattr(self, name)
            if value is None or value is False or isinstance(value, str) and value == "auto":
                continue
            if not callable(value):
                said[_OPTIONS.get(name, name.replace("_", "-"))] = _text(value)
        if "kernel" in said:
            said["kernel"] = _KERNELS.get(said["kernel"], said["kernel"])
        if said["method"].startswith("kernel-") and said.get("map") == "none":
            del said["map"]
        memory = budget(self.memory_limit)
        if memory is not None:
            said["memory"] = str(memory)
        self._clip(said, n_samples, labels)
        return said

    def _clip(
        self, said: dict[str, str], n_samples: int | None, labels: np.ndarray | None
    ) -> None:
        """Limits that a grid search may pass are met, with a warning."""
        if said.get("landmarks", "").isdigit():
            count = int(said["landmarks"])
            if n_samples is not None:
                count = clipped("n_landmarks", count, n_samples, "the number of samples")
            said["landmarks"] = str(count)
            if said.get("rank", "").isdigit():
                rank = clipped("rank", int(said["rank"]), count, "the number of landmarks")
                said["rank"] = str(rank)
        if said.get("sparsity", "").isdigit():
            most = self._most_atoms(said, labels)
            if most is not None:
                sparsity = clipped("sparsity", int(said["sparsity"]), most, "the number of atoms")
                said["sparsity"] = str(sparsity)

    def _most_atoms(self, said: dict[str, str], labels: Any) -> int | None:
        """Atoms that a code is made of, if they are known beforehand."""
        return int(said["atoms"]) if said.get("atoms", "").isdigit() else None

    def _predictions(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        check_is_fitted(self)
        X = validated_as(self, X, self.model_.dtype)
        return self.model_.predict(X, threads(self.n_jobs))

    def predict(self, X: Any) -> np.ndarray:
        """The label of every row of X."""
        labels, _, _ = self._predictions(X)
        return self.classes_[labels]

    def residuals(self, X: Any) -> np.ndarray:
        """How badly each class (columns) fits each row of X: the smallest wins. For class dictionaries
        the squared residual of the representation."""
        return self._predictions(X)[1]

    def margins(self, X: Any) -> np.ndarray:
        """How clear the decision for each row of X is, from 0 (a tie) to 1."""
        return self._predictions(X)[2]

    def decision_function(self, X: Any) -> np.ndarray:
        """The larger, the better a class fits; for two classes, how much better the second does."""
        residuals = self.residuals(X)
        return residuals[:, 0] - residuals[:, 1] if len(self.classes_) == 2 else -residuals

    def virtual_samples(self, X: Any) -> np.ndarray:
        """The rows of X, prepared and mapped: what the method sees."""
        check_is_fitted(self)
        X = validated_as(self, X, self.model_.dtype)
        return self.model_.transform(X, threads(self.n_jobs))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.pairwise = precomputed
        return tags


def names(classes: np.ndarray) -> list[str]:
    """What a model file calls the classes."""
    return [str(label) for label in classes.tolist()]


def labels_of(names: list[str]) -> np.ndarray:
    """Labels by the names of classes: integers, if all are."""
    whole = [name.removeprefix("-").isdecimal() and str(int(name)) == name for name in names]
    return np.array([int(name) for name in names]) if all(whole) else np.array(names)


def _poor_without_map(tags: Any, map: str) -> Any:
    """Without a map, samples of two or three features are represented by the atoms of any class."""
    tags.classifier_tags.poor_score = map == "none"
    return tags


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


@dataclass(eq=False, repr=False, kw_only=True)
class _ClassDictionaries(_Classifier):
    """One dictionary for each class."""

    n_atoms: int | str = "auto"
    sparsity: int | str = "auto"
    learning_sparsity: int | None = None
    max_iter: int | None = None
    tol: float | None = None


@_documented
@dataclass(eq=False, repr=False, kw_only=True)
class DictionaryClassifier(_ClassDictionaries):
    """A dictionary for each class; the one that represents a sample best tells its class.

    Parameters
    ----------
    learner : {"ksvd", "mod"}, default="ksvd"
        How dictionaries are learned.
    n_atoms : int or "auto", default="auto"
        Atoms per class: two thirds of the samples of the typical class (all of 50), at most 700.
    sparsity : int or "auto", default="auto"
        Atoms that may represent a sample: one of every 60, but 5 to 11, unless held-out samples are
        clearly for another number.
    learning_sparsity : int, default=None
        The same while dictionaries are learned: `sparsity`, or one of every 60 where that is
        ``"auto"``.
    max_iter : int, default=None
        Iterations at most, 5 by default.
    tol : float, default=None
        Stop when the error falls by less than this share, 0.0001 by default.
    exact_update : bool, default=False
        Refit atoms by their leading singular pair, not by one power step.
    """

    learner: str = "ksvd"
    exact_update: bool = False

    def _method(self) -> str:
        if self.learner not in ("ksvd", "mod"):
            raise LkdlError(f'learner is "{self.learner}", but must be ksvd or mod')
        return self.learner

    def __sklearn_tags__(self) -> Any:
        return _poor_without_map(super().__sklearn_tags__(), self.map)


@dataclass(eq=False, repr=False, kw_only=True)
class LKDLClassifier(DictionaryClassifier):
    __doc__ = DictionaryClassifier.__doc__ and DictionaryClassifier.__doc__.replace(
        """A dictionary for each class; the one that represents a sample best tells its class.
""",
        """Linearized kernel dictionary learning: strong without a single argument.

    A Nyström map turns samples into virtual samples, whose inner products are those of a kernel; one
    dictionary per class is learned from them, and the one that represents a new sample best tells its
    class. What is not said is chosen from the data.

    Examples
    --------
    >>> import lkdl
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lkdl.LKDLClassifier().fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    >>> model.kernel_
    'gaussian'
""",
        1,
    )

    map: str = "auto"


@_documented
@dataclass(eq=False, repr=False, kw_only=True)
class KernelKSVDClassifier(_ClassDictionaries):
    """Kernel K-SVD or kernel MOD for each class, exactly: the method that LKDL approximates.

    Holds the kernel matrix of every class; `map` must be ``none``.

    Parameters
    ----------
    learner : {"ksvd", "mod"}, default="ksvd"
        How dictionaries are learned.
    compat : bool, default=False
        Do as the published program does where it departs from the paper.
    n_atoms, sparsity, learning_sparsity, max_iter, tol, exact_update
        As in :class:`DictionaryClassifier`.
    """

    learner: str = "ksvd"
    exact_update: bool = False
    compat: bool = False

    def _method(self) -> str:
        if self.learner not in ("ksvd", "mod"):
            raise LkdlError(f'learner is "{self.learner}", but must be ksvd or mod')
        return f"kernel-{self.learner}"


@dataclass(eq=False, repr=False, kw_only=True)
class _SharedDictionary(_Classifier):
    """One dictionary for all classes, and a linear classifier of its codes."""

    n_atoms: int | str = "auto"
    sparsity: int | str = "auto"
    max_iter: int | None = None
    decision_sparsity: int | None = None
    sqrt_beta: float | None = None
    compat: bool = False

    def _most_atoms(self, said: dict[str, str], labels: Any) -> int | None:
        of_class = super()._most_atoms(said, labels)
        return None if of_class is None else of_class * (int(labels.max()) + 1)


@_documented
@dataclass(eq=False, repr=False, kw_only=True)
class LCKSVDClassifier(_SharedDictionary):
    """Label-consistent K-SVD: one dictionary whose codes are alike within a class.

    Parameters
    ----------
    form : {1, 2}, default=2
        LC-KSVD1, or LC-KSVD2, which learns the linear classifier with the dictionary.
    n_atoms : int or "auto", default="auto"
        Atoms per class.
    sparsity : int or "auto", default="auto"
        Atoms that may represent a sample: 30, or fewer without a map: one for every ten features.
    max_iter : int, default=None
        Iterations at most, 50 by default.
    decision_sparsity : int, default=None
        Atoms of the codes that decide, where they differ from `sparsity`, which the dictionary is
        learned with.
    sqrt_alpha, sqrt_beta : float, default=None
        Square roots of the weights of label consistency and of the linear classifier: 0.033 and
        0.011, for samples of unit norm.
    compat : bool, default=False
        Do as the published program does where it departs from the paper.
    """

    form: int = 2
    sqrt_alpha: float | None = None

    def _method(self) -> str:
        if self.form not in (1, 2):
            raise LkdlError(f"form is {self.form!r}, but must be 1 or 2")
        return f"lc-ksvd{self.form}"


@_documented
@dataclass(eq=False, repr=False, kw_only=True)
class DKSVDClassifier(_SharedDictionary):
    """Discriminative K-SVD: one dictionary whose codes tell the classes apart linearly.

    Parameters
    ----------
    n_atoms, sparsity, max_iter, decision_sparsity, sqrt_beta, compat
        As in :class:`LCKSVDClassifier`.
    """

    def _method(self) -> str:
        return "d-ksvd"


@_documented
@dataclass(eq=False, repr=False, kw_only=True)
class FDDLClassifier(_Classifier):
    """Fisher discrimination dictionary learning: classes told apart by residuals and codes.

    Parameters
    ----------
    form : {"full", "simplified"}, default="full"
        All classes together, or class by class, the form behind the published numbers.
    n_atoms : int or "auto", default="auto"
        Atoms per class.
    max_iter : int, default=None
        Iterations at most, 5 by default.
    lambda1, lambda2 : float, default=None
        Weights of the codes' l1 norm and of their scatters: 0.1 and 0.001.
    rule : {"auto", "local", "global"}, default="auto"
        Decide by a code over each class, or by one over all.
    compat : bool, default=False
        Do as the published program does where it departs from the paper (``simplified``).
    """

    form: str = "full"
    n_atoms: int | str = "auto"
    max_iter: int | None = None
    lambda1: float | None = None
    lambda2: float | None = None
    rule: str = "auto"
    compat: bool = False

    def _method(self) -> str:
        if self.form not in ("full", "simplified"):
            raise LkdlError(f'form is "{self.form}", but must be full or simplified')
        return "fddl" if self.form == "full" else "fddl-simplified"

    def __sklearn_tags__(self) -> Any:
        return _poor_without_map(super().__sklearn_tags__(), self.map)


@_documented
@dataclass(eq=False, repr=False, kw_only=True)
class SRCClassifier(_Classifier):
    """Sparse representation classifier: a sample is represented by all training samples.

    Parameters
    ----------
    exact : bool, default=False
        In the kernel's own space, with the kernel matrix of all samples; `map` must be ``none``.
    sparsity : int or "auto", default="auto"
        Training samples that may represent a sample: 30, or fewer without a map: one for every ten
        features.
    lasso : float, default=None
        Code by the lasso, its penalty as a share of the largest correlation, not by OMP.
    """

    exact: bool = False
    sparsity: int | str = "auto"
    lasso: float | None = None

    def _method(self) -> str:
        return "kernel-src" if self.exact else "src"

    def _most_atoms(self, said: dict[str, str], labels: Any) -> int | None:
        return len(labels)
