"""Linearized kernel dictionary learning: kernel methods for the price of linear ones.

A Nyström map turns every sample into a short *virtual sample*, whose inner products are those of a
kernel; any linear dictionary method that runs on virtual samples is a kernel method. Estimators follow
scikit-learn, the work is done by a Rust engine, and equal seeds give equal bits whatever the number of
threads.

>>> import lkdl
>>> from sklearn.datasets import load_digits
>>> X, y = load_digits(return_X_y=True)
>>> model = lkdl.LKDLClassifier().fit(X[:1000], y[:1000])
>>> bool(model.score(X[1000:], y[1000:]) > 0.9)
True
"""

from ._classifiers import (
    DictionaryClassifier,
    DKSVDClassifier,
    FDDLClassifier,
    KernelKSVDClassifier,
    LCKSVDClassifier,
    LKDLClassifier,
    SRCClassifier,
)
from ._core import VERSION as __version__
from ._core import LkdlError
from ._dictionary import KSVD, MOD, SparseCoder
from ._files import load, save
from ._functions import kernel, ksvd, landmarks, lasso, mod, omp, omp_gram
from ._maps import Fastfood, Nystroem, RandomFourier
from ._online import OnlineDictionary
from ._stream import StreamLKDLClassifier
from ._streaming import OnlineLKDLClassifier

__all__ = [
    "KSVD",
    "MOD",
    "DKSVDClassifier",
    "DictionaryClassifier",
    "FDDLClassifier",
    "Fastfood",
    "KernelKSVDClassifier",
    "LCKSVDClassifier",
    "LKDLClassifier",
    "LkdlError",
    "Nystroem",
    "OnlineDictionary",
    "OnlineLKDLClassifier",
    "RandomFourier",
    "SRCClassifier",
    "SparseCoder",
    "StreamLKDLClassifier",
    "__version__",
    "kernel",
    "ksvd",
    "landmarks",
    "lasso",
    "load",
    "mod",
    "omp",
    "omp_gram",
    "save",
]
