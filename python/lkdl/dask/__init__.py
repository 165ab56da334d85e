"""LKDL on Dask: arrays and data frames in blocks, on the threads of one machine or on a cluster.

Estimators are those of :mod:`lkdl`, fitted on more data than one memory holds. A *pilot*, some
thousands of samples drawn from all blocks, is looked at on the machine that calls ``fit``; it decides
everything that needs a look at samples: kernel, landmarks, sizes, starting atoms. Then dictionaries
learn from passes over the blocks: a block gives sums, sums add in one fixed order, and the result is
the same, bit for bit, on any number of workers. Fitted attributes are NumPy arrays,
``predict`` and ``transform`` of Dask collections are lazy, and ``to_local()`` gives the ordinary
estimator.

>>> import dask.array as da, lkdl.dask
>>> from sklearn.datasets import load_digits
>>> X, y = load_digits(return_X_y=True)
>>> X, y = da.from_array(X, chunks=(600, -1)), da.from_array(y, chunks=600)
>>> model = lkdl.dask.LKDLClassifier(pilot_size=600).fit(X, y)
>>> model.predict(X)
dask.array<predict, shape=(1797,), dtype=int64, chunksize=(600,), chunktype=numpy.ndarray>
>>> bool(model.score(X, y) > 0.9)
True
"""

try:
    import dask.array  # noqa: F401
except ImportError as missing:
    raise ImportError("lkdl.dask needs Dask: pip install 'lkdl[dask]'") from missing

from ._classifier import LKDLClassifier
from ._dictionaries import MOD, OnlineDictionary
from ._map import Nystroem

__all__ = ["MOD", "LKDLClassifier", "Nystroem", "OnlineDictionary"]
