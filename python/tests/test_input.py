"""Arrays of every kind: what is taken without a copy, what is converted, what is refused and how."""

from __future__ import annotations

import lkdl
import numpy as np
import pytest
from lkdl import _arguments
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

ESTIMATORS = [lkdl.Nystroem(n_components=20, gamma=1e-3), lkdl.KSVD(10, sparsity=2)]




@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_c_order_array_is_the_memory_the_engine_reads(dtype):
    X = np.ones((100, 10), dtype=dtype)
    assert _arguments.samples(X) is X or np.shares_memory(_arguments.samples(X), X)
    estimator = lkdl.Nystroem()
    checked = _arguments.validated(estimator, X, reset=True)
    assert checked.ctypes.data == X.ctypes.data


def test_large_arrays_are_not_copied_on_the_way_in():
    # 400 MB of samples and results that are small beside them; in a process of its own, whose peak
    # no other test has raised
    import subprocess
    import sys

    code = """
import numpy as np, resource, lkdl
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
X = np.ones((100_000, 500)); X[:, ::7] = 2.0
D = np.eye(500)[:20]
lkdl.omp(X[:256], D, 1, sparse_output=True)
before = peak()
lkdl.omp(X, D, 1, sparse_output=True)
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # scikit-learn's search for NaN sums in place, codes are a few MB
    assert int(done.stdout) < 100e6, done.stdout


KINDS = {
    "Fortran order": np.asfortranarray,
    "big-endian": lambda X: X.astype(">f8"),
    "not contiguous": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": lambda X: X[::-1][::-1],
    "integers": lambda X: X.astype(np.int64),
    "bytes": lambda X: X.astype(np.uint8),
    "objects that are numbers": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "not aligned": lambda X: np.frombuffer(
        b"\0" + X.tobytes(), dtype=np.uint8
    )[1:].view(np.float64).reshape(X.shape),
    "half": lambda X: X.astype(np.float16),
}


@pytest.mark.parametrize("kind", KINDS)
def test_other_arrays_are_converted_and_give_the_same(kind, few):
    X, y = few
    other = KINDS[kind](X)
    for estimator in ESTIMATORS:
        np.testing.assert_array_equal(
            estimator.fit(other).transform(other), estimator.fit(X).transform(X)
        )
    model = lkdl.DictionaryClassifier(n_atoms=5, sparsity=2)
    np.testing.assert_array_equal(
        model.fit(other, y).residuals(other), model.fit(X, y).residuals(X)
    )
    np.testing.assert_array_equal(lkdl.omp(other, X[:20], 3), lkdl.omp(X, X[:20], 3))


def test_read_only_arrays_are_taken(few):
    X, y = few
    X = X.copy()
    X.setflags(write=False)
    assert lkdl.LKDLClassifier().fit(X, y).score(X, y) > 0.9
    assert lkdl.Nystroem(gamma=1e-3).fit_transform(X).shape[0] == 300


REFUSED = [
    (np.zeros((0, 5)), ValueError, "0 sample.* while a minimum of . is required"),
    (np.zeros((5, 0)), ValueError, "0 feature.* while a minimum of 1 is required"),
    (np.array([[1.0, np.nan]] * 3), ValueError, "contains NaN"),
    (np.array([[1.0, np.inf]] * 3), ValueError, "infinity"),
    (np.array([["a", "b"]] * 3), ValueError, "could not convert string"),
    (np.array([[{}, []]] * 3, dtype=object), TypeError, "must be a string or a real number"),
    (np.ones(5), ValueError, "Expected 2D array"),
    (np.ones((2, 2, 2)), ValueError, "dim 3"),
    (np.ones((4, 4)) * 1j, ValueError, "Complex data not supported"),
]


@pytest.mark.parametrize("X, error, text", REFUSED, ids=lambda v: v if isinstance(v, str) else "")
def test_bad_arrays_are_refused_in_the_usual_words(X, error, text):
    for call in (
        lambda: lkdl.Nystroem().fit(X),
        lambda: lkdl.KSVD(2, sparsity=1).fit(X),
        lambda: lkdl.omp(X, np.ones((3, 2)), 1),
        lambda: lkdl.kernel(X),
        lambda: lkdl.LKDLClassifier().fit(X, np.arange(len(X)) % 2),
    ):
        with pytest.raises(error, match=text):
            call()


def test_the_engine_itself_refuses_what_it_cannot_read():
    from lkdl import _core

    X = np.ones((6, 4))
    D = np.eye(4)
    for bad in (np.asfortranarray(X), X[:, ::2], X.astype(">f8"), X.astype(int), X[0], "X", None):
        with pytest.raises(lkdl.LkdlError, match="X must be"):
            _core.omp(bad, D, 1)
    with pytest.raises(lkdl.LkdlError, match="D must be of float64"):
        _core.omp(X, D.astype(np.float32), 1)
    with pytest.raises(lkdl.LkdlError, match="4"):
        _core.omp(X, np.eye(3), 1)
    with pytest.raises(lkdl.LkdlError, match="labels must be class indices"):
        _core.Model.fit(X, np.array([-1, 0, 1, 0, 1, 0]), ["a", "b"], {})
    with pytest.raises(lkdl.LkdlError, match="class 1 has no sample"):
        _core.Model.fit(X, np.array([0, 2, 2, 0, 2, 0]), ["a", "b", "c"], {})
    with pytest.raises(lkdl.LkdlError, match="not a model file"):
        _core.Model.from_bytes(b"")


def test_errors_are_value_errors_that_name_value_and_fix(few):
    X, y = few
    assert issubclass(lkdl.LkdlError, ValueError)
    with pytest.raises(lkdl.LkdlError, match="random_state is -1, but must be at least 0"):
        lkdl.KSVD(5, sparsity=1, random_state=-1).fit(X)
    with pytest.raises(lkdl.LkdlError, match="n_jobs is 0"):
        lkdl.KSVD(5, sparsity=1, n_jobs=0).fit(X)
    with pytest.raises(lkdl.LkdlError, match="sparsity is 0, but must be at least 1"):
        lkdl.KSVD(5, sparsity=0).fit(X)
    with pytest.raises(lkdl.LkdlError, match="max_iter is 0, but must be at least 1"):
        lkdl.KSVD(5, sparsity=1, max_iter=0).fit(X)
    with pytest.raises(lkdl.LkdlError, match="all zero"):
        lkdl.KSVD(5, sparsity=1).fit(np.zeros((10, 3)))
    with pytest.raises(lkdl.LkdlError, match="sampler is"):
        lkdl.Nystroem(sampler="magic").fit(X)
    with pytest.raises(lkdl.LkdlError, match="y has 1 class"):
        lkdl.LKDLClassifier().fit(X, np.zeros(len(X)))


CLASSIFIER = {"n_atoms": 5, "sparsity": 2, "map": "none"}
COUNTS = [
    (lkdl.StreamLKDLClassifier(**CLASSIFIER), ("pilot_size", "block_size", "grow")),
    (lkdl.OnlineLKDLClassifier(**CLASSIFIER), ("batch_size", "total")),
    (lkdl.LKDLClassifier(**CLASSIFIER), ("memory_limit", "n_jobs")),
    (lkdl.KSVD(5, sparsity=2), ("max_iter",)),
    (lkdl.OnlineDictionary(5, sparsity=2), ("max_iter", "batch_size", "total")),
    (lkdl.Nystroem(), ("memory_limit",)),
    (lkdl.RandomFourier(), ("n_components",)),
]


@pytest.mark.parametrize(("estimator", "names"), COUNTS, ids=lambda of: type(of).__name__)
def test_numbers_beyond_what_the_engine_holds_are_refused(estimator, names, few):
    for name in (*names, "random_state"):
        said = f"{name} is {2**64}, but must be at most"
        with pytest.raises(lkdl.LkdlError, match=said):
            clone(estimator).set_params(**{name: 2**64}).fit(*few)
    for name in {*names, "random_state"} - {"n_jobs"}:  # which may be negative
        with pytest.raises(lkdl.LkdlError, match=f"{name} is -3, but must be at least"):
            clone(estimator).set_params(**{name: -3}).fit(*few)
    for name in {*names} - {"n_jobs"}:
        with pytest.raises(lkdl.LkdlError, match=f"{name} is 2.5, but must be a whole number"):
            clone(estimator).set_params(**{name: 2.5}).fit(*few)
    clone(estimator).set_params(random_state=2**64 - 1).fit(*few)


def test_a_whole_number_may_be_written_as_a_power_of_ten(few):
    assert lkdl.LKDLClassifier(**CLASSIFIER, memory_limit=2e9).fit(*few).score(*few) > 0.5
    sizes = {"pilot_size": 1e6, "block_size": 1e2}
    assert lkdl.StreamLKDLClassifier(**CLASSIFIER, **sizes).fit(*few).score(*few) > 0.5
    for estimator in (*ESTIMATORS, lkdl.RandomFourier(), lkdl.OnlineDictionary(sparsity=2)):
        ten, same = (clone(estimator).set_params(n_components=n).fit(few[0]) for n in (10, 1e1))
        assert np.array_equal(ten.transform(few[0]), same.transform(few[0]))


def test_unfitted_use_and_other_features_are_refused(few):
    X, y = few
    for estimator in (lkdl.Nystroem(), lkdl.KSVD(), lkdl.RandomFourier(), lkdl.SparseCoder()):
        with pytest.raises(NotFittedError):
            estimator.transform(X)
    with pytest.raises(NotFittedError):
        lkdl.LKDLClassifier().predict(X)
    with pytest.raises(NotFittedError):
        lkdl.KSVD().score(X)
    model = lkdl.DictionaryClassifier(n_atoms=5, sparsity=2).fit(X, y)
    with pytest.raises(ValueError, match="63 features, but DictionaryClassifier is expecting 64"):
        model.predict(X[:, 1:])
    with pytest.raises(ValueError, match="63 features, but Nystroem is expecting 64"):
        lkdl.Nystroem(gamma=1e-3).fit(X).transform(X[:, 1:])


def unaligned(X):
    """The same values at an odd address, as arrays may have that came over a network."""
    return np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(X.dtype).reshape(X.shape)


def test_what_was_learned_need_not_be_aligned(few):
    import pickle

    X, _ = few
    map = lkdl.Nystroem(n_components=20, gamma=1e-3, sampler="uniform", map="standard").fit(X)
    copy = pickle.loads(pickle.dumps(map))
    for name, value in list(vars(copy).items()):
        if isinstance(value, np.ndarray):
            setattr(copy, name, unaligned(value))
    assert not copy._points.flags.aligned
    assert np.array_equal(copy.transform(X), map.transform(X))
    coder = lkdl.KSVD(10, sparsity=2).fit(X)
    expected = coder.transform(X)
    for atoms in (unaligned(coder.components_), np.asfortranarray(coder.components_)):
        coder.components_ = atoms
        assert np.array_equal(coder.transform(X), expected)
    learner = lkdl.OnlineDictionary(10, sparsity=2).partial_fit(X)
    settings, arrays = learner._learner.state()
    restored = lkdl._incremental._restored(settings, {k: unaligned(v) for k, v in arrays.items()})
    assert np.array_equal(restored.finished()[0], learner.components_)
