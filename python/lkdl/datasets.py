"""Data to try things on: digits that come with the package, named sets, files of every format.

The readers are those of the command: what ``lkdl fit DATA`` would read, ``load(DATA)`` reads, with
the same classes in the same order.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from . import _core

__all__ = ["load", "load_digits"]


def load_digits(*, return_X_y: bool = False) -> Any:
    """Load the 1,797 handwritten digits of 8×8 pixels that come with the package.

    The same as scikit-learn's: grey values 0 (paper) to 16 (ink), row by row.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of everything.

    Returns
    -------
    sklearn.utils.Bunch or (ndarray, ndarray)
        As `load` returns it.

    Examples
    --------
    >>> from lkdl.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X.shape, y[:5]
    ((1797, 64), array([0, 1, 2, 3, 4]))
    """
    return load("digits", return_X_y=return_X_y)


def load(
    name: str | os.PathLike[str],
    data_dir: str | os.PathLike[str] | None = None,
    *,
    part: str | None = None,
    return_X_y: bool = False,
) -> Any:
    """Load a data set by its name, or a file.

    Parameters
    ----------
    name : str or path
        ``"digits"``; ``"usps"``, ``"usps-esl"``, ``"mnist"``, ``"yaleb"`` or ``"ar"``, whose files
        are looked for in a directory; or the path of a CSV, NumPy, LIBSVM, MATLAB, HDF5, IDX or
        Parquet file, or of a folder of images with one folder per class.
    data_dir : str or path, optional
        Where the files of named sets are. By default the directory that the environment variable
        ``LKDL_DATA_DIR`` names, then the platform's own, where ``lkdl data fetch`` puts them.
    part : {"train", "test"}, optional
        One part of a set that comes in two; the whole of it by default.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of everything.

    Returns
    -------
    sklearn.utils.Bunch or (ndarray, ndarray)
        With the attributes

        - **data**: ndarray of shape (n_samples, n_features), float64;
        - **target**: ndarray of shape (n_samples,), integers where all classes are integers and
          text elsewhere; None if the file has no labels;
        - **target_names**: the classes, in order;
        - **feature_names**: list of str, or None if the source has no names;
        - **images**: ndarray of shape (n_samples, rows, columns), a view of ``data``, if the
          samples are images.

    Raises
    ------
    LkdlError
        If the name is not known, a file is missing, or cannot be understood.

    Examples
    --------
    >>> from lkdl.datasets import load
    >>> digits = load("digits")
    >>> digits.images.shape, digits.target_names
    ((1797, 8, 8), array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
    """
    source = os.fspath(name) if part is None else f"{os.fspath(name)}:{part}"
    directory = None if data_dir is None else os.fspath(data_dir)
    data, labels, feature_names, image_shape = _core.read(source, directory)
    target, target_names = (None, None) if labels is None else _classes(*labels)
    if return_X_y:
        return data, target
    found = Bunch(data=data, target=target, target_names=target_names, feature_names=feature_names)
    if image_shape is not None:
        found.images = data.reshape(-1, *image_shape)
    return found


def _classes(indices: np.ndarray, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The class of every sample and all classes, as numbers if every name is one."""
    try:
        classes = np.array([int(name) for name in names])
    except ValueError:
        classes = np.array(names)
    return classes[indices], classes
