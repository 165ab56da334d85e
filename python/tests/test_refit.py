"""A fit that fails changes nothing: an estimator stays unfitted, or keeps all that it had learned."""

from __future__ import annotations

import lkdl
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

SAID = {"n_atoms": 8, "sparsity": 2, "max_iter": 1, "map": "none"}


def failing(estimator, **wrong):
    return estimator, wrong


# with an argument that is refused after the samples were looked at
ESTIMATORS = [
    failing(lkdl.Nystroem(gamma=1e-3, n_components=10), sampler="magic"),
    failing(lkdl.RandomFourier(gamma=1e-3, n_components=8), gamma="mode"),
    failing(lkdl.SparseCoder(sparsity=2), dictionary=np.eye(3)),
    failing(lkdl.KSVD(6, sparsity=2), max_iter=0),
    failing(lkdl.MOD(6, sparsity=2), sparsity=0),
    failing(lkdl.OnlineDictionary(6, sparsity=2, max_iter=1), algorithm="offline"),
    failing(lkdl.LKDLClassifier(**SAID), sampler="magic"),
    failing(lkdl.OnlineLKDLClassifier(**SAID), algorithm="offline"),
    failing(lkdl.StreamLKDLClassifier(**SAID), memory_limit=1000),
]


def use(estimator, X):
    method = "predict" if hasattr(estimator, "predict") else "transform"
    return np.asarray(getattr(estimator, method)(X))  # computed, if it is Dask's


def check(estimator, wrong, X, y, few, labels):
    """Of an estimator, what makes it fail, samples to learn from, and others with fewer features."""
    right = {name: estimator.get_params()[name] for name in wrong}
    fresh = clone(estimator).set_params(**wrong)
    with pytest.raises(ValueError):
        fresh.fit(few, labels)
    assert vars(fresh) == vars(clone(estimator).set_params(**wrong))
    with pytest.raises(NotFittedError):
        use(fresh, X)
    fitted = clone(estimator).fit(X, y)
    before, expected = dict(vars(fitted)), use(fitted, X)
    with pytest.raises(ValueError):
        fitted.set_params(**wrong).fit(few, labels)
    fitted.set_params(**right)
    assert vars(fitted).keys() == before.keys()
    assert all(vars(fitted)[name] is value for name, value in before.items() if name not in wrong)
    assert np.array_equal(use(fitted, X), expected)


@pytest.mark.parametrize(("estimator", "wrong"), ESTIMATORS, ids=lambda of: type(of).__name__)
def test_a_fit_that_fails_changes_nothing(estimator, wrong, few):
    X, y = few
    check(estimator, wrong, X, y, X[:, :20], (y > 4).astype(int))


def test_a_bad_last_block_changes_nothing(few):
    X, y = few
    model = lkdl.StreamLKDLClassifier(**SAID)
    holed = X[200:, :20].copy()
    holed[3, 4] = np.nan
    blocks = [(X[:200, :20], y[:200] + 10), (holed, y[200:] + 10)]
    with pytest.raises(lkdl.LkdlError, match="block 1: .*NaN"):
        model.fit(blocks)
    with pytest.raises(NotFittedError):
        model.predict(X)
    expected = model.fit(X, y).predict(X)
    with pytest.raises(lkdl.LkdlError, match="block 1: .*NaN"):
        model.fit(blocks)
    assert model.n_features_in_ == 64 and set(model.classes_) == set(range(10))
    assert np.array_equal(model.predict(X), expected)


def test_a_first_block_that_is_refused_may_be_followed_by_another(few):
    X, y = few
    model = lkdl.OnlineLKDLClassifier(**SAID)
    with pytest.raises(lkdl.LkdlError, match="1 class"):
        model.partial_fit(X[:, :20], np.zeros(len(y)))
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.partial_fit(X, y).n_features_in_ == 64


def test_an_interrupt_changes_nothing_either(few):
    X, y = few
    model = lkdl.StreamLKDLClassifier(**SAID)
    expected = model.fit(X, y).predict(X)

    def interrupted():
        yield X[:, :5], y + 3
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(interrupted)
    assert np.array_equal(model.predict(X), expected)


@pytest.mark.parametrize("name", ["Nystroem", "MOD", "OnlineDictionary", "LKDLClassifier"])
def test_a_fit_on_dask_that_fails_changes_nothing(name, few):
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    import lkdl.dask

    estimator, wrong = {
        "Nystroem": failing(lkdl.dask.Nystroem(gamma=1e-3, n_components=10), sampler="magic"),
        "MOD": failing(lkdl.dask.MOD(6, sparsity=2), max_iter=0),
        "OnlineDictionary": failing(lkdl.dask.OnlineDictionary(6, sparsity=2), algorithm="off"),
        "LKDLClassifier": failing(lkdl.dask.LKDLClassifier(**SAID), memory_limit=1000),
    }[name]
    X, y = da.from_array(few[0], chunks=(100, -1)), few[1]
    check(estimator, wrong, X, y, X[:, :20], (y > 4).astype(int))
