"""Model files: the same that the command writes and reads."""

from __future__ import annotations

import copyreg
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from . import _core
from . import _classifiers as classifiers
from ._core import LkdlError
from ._stream import StreamLKDLClassifier


def save(model: Any, path: str | PathLike[str]) -> None:
    """Write a fitted classifier to a file that `lkdl predict` and :func:`load` read.

    The file appears whole or not at all. Transformers are no models of their own: pickle them, or
    save the classifier that has the map in it.
    """
    if not isinstance(model, classifiers._Classifier):
        kind = type(model).__name__
        raise LkdlError(f"{kind} cannot be saved; a model file holds a classifier of lkdl")
    check_is_fitted(model)
    _core.write_file(path, model.model_.to_bytes())


def load(path: str | PathLike[str]) -> Any:
    """The classifier in a model file, whether the command or :func:`save` wrote it.

    Labels are what the file calls the classes; names that are whole numbers become integers. Columns
    have the names that the file has for them.
    """
    model = _core.Model.from_bytes(Path(path).read_bytes())
    settings = model.settings
    estimator = _class_of(settings)
    estimator._adopt(model)
    estimator._take_names(model)
    return estimator


def _class_of(settings: dict[str, str]) -> Any:
    """An estimator of the method, with its arguments as far as they are the method's own."""
    seed = int(settings.get("seed", "0"))
    method = settings.get("method", "ksvd")
    if method in ("ksvd", "mod"):
        linear = settings.get("map") == "none"
        kind = classifiers.DictionaryClassifier if linear else classifiers.LKDLClassifier
        return kind(learner=method, random_state=seed)
    match method:
        case "online" | "rls":
            return StreamLKDLClassifier(learner=method, random_state=seed)
        case "kernel-ksvd" | "kernel-mod":
            learner = method.removeprefix("kernel-")
            return classifiers.KernelKSVDClassifier(learner=learner, random_state=seed)
        case "lc-ksvd1" | "lc-ksvd2":
            return classifiers.LCKSVDClassifier(form=int(method[-1]), random_state=seed)
        case "d-ksvd":
            return classifiers.DKSVDClassifier(random_state=seed)
        case "fddl" | "fddl-simplified":
            form = "full" if method == "fddl" else "simplified"
            return classifiers.FDDLClassifier(form=form, random_state=seed)
        case "src" | "kernel-src":
            return classifiers.SRCClassifier(exact=method != "src", random_state=seed)
    raise LkdlError(f'the model file\'s method is "{method}", which this lkdl does not know')


def _restored(data: bytes, kernel: Any = None) -> _core.Model:
    return _core.Model.from_bytes(data, kernel)


def _reduced(model: _core.Model) -> tuple[Any, ...]:
    # the function is left to the pickler: cloudpickle, which Dask and joblib use, takes any
    function = model.kernel_function
    kernel = () if function is None else (function,)
    return _restored, (model.to_bytes_without_kernel(), *kernel)


copyreg.pickle(_core.Model, _reduced)
