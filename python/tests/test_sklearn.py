"""What scikit-learn asks of every estimator; no check is expected to fail."""

from __future__ import annotations

import pickle

import lkdl
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

TRANSFORMERS = [
    lkdl.Nystroem(n_components=20),
    lkdl.Nystroem(n_components="auto", map="optimal", sampler="rpcholesky"),
    lkdl.Nystroem("poly", n_components=20),
    lkdl.RandomFourier(n_components=16),
    lkdl.Fastfood(n_components=16),
    lkdl.SparseCoder(),
    lkdl.KSVD(8, sparsity=2),
    lkdl.MOD(8, sparsity=2),
    lkdl.OnlineDictionary(8, sparsity=2, batch_size=16),
    lkdl.OnlineDictionary(8, sparsity=2, algorithm="rls"),
]
CLASSIFIERS = [
    lkdl.LKDLClassifier(),
    lkdl.DictionaryClassifier(),
    lkdl.KernelKSVDClassifier(),
    lkdl.LCKSVDClassifier(),
    lkdl.DKSVDClassifier(),
    lkdl.FDDLClassifier(max_iter=2),
    lkdl.SRCClassifier(),
    lkdl.OnlineLKDLClassifier(),
    lkdl.StreamLKDLClassifier(),
    lkdl.StreamLKDLClassifier(learner="mod", block_size=7),
]


@parametrize_with_checks(TRANSFORMERS + CLASSIFIERS)
def test_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: type(e).__name__)
def test_a_copy_by_pickle_says_the_same(estimator, few):
    X, y = few
    fitted = clone(estimator).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(fitted.residuals(X), copy.residuals(X))
    assert copy.settings_ == fitted.settings_ and copy.choice_ == fitted.choice_


def own_kernel(A, B):
    return (1 + A @ B.T) ** 2


@pytest.mark.parametrize(
    "estimator",
    [
        lkdl.LKDLClassifier(map="nystroem", n_landmarks=40, normalized=True),
        lkdl.KernelKSVDClassifier(n_atoms=5, sparsity=2),
        lkdl.SRCClassifier(exact=True),
    ],
    ids=lambda e: type(e).__name__,
)
def test_a_pickle_has_the_kernel_that_is_a_function(estimator, few):
    X, y = few[0][:100], few[1][:100]
    fitted = clone(estimator).set_params(kernel=own_kernel).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(fitted.residuals(X), copy.residuals(X))
    with pytest.raises(lkdl.LkdlError, match="the kernel custom.own_kernel. cannot be saved"):
        lkdl.save(fitted, "model.lkdl")


def test_a_pickle_with_a_function_and_many_samples_comes_back(digits):
    # whose values are computed anew on all threads, each of which waits for the interpreter's lock
    X, y = digits
    model = lkdl.SRCClassifier(exact=True, kernel=own_kernel, normalized=True, sparsity=3).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(X[:50]), model.predict(X[:50]))


@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=lambda e: type(e).__name__)
def test_a_map_from_a_pickle_gives_the_same_bits(estimator, few):
    X, _ = few
    fitted = clone(estimator).fit(X)
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(fitted.transform(X), copy.transform(X))


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
def test_csr_rows_are_the_same_as_dense_ones(container, few):
    X, y = few
    dense, rows = lkdl.Nystroem(gamma=1e-3), lkdl.Nystroem(gamma=1e-3)
    assert np.array_equal(dense.fit_transform(X), rows.fit_transform(container(X)))
    model = lkdl.DictionaryClassifier(n_atoms=5, sparsity=2).fit(container(X), y)
    assert np.array_equal(model.predict(X), model.predict(container(X)))


def test_frames_come_out_with_names(few):
    X, _ = few
    names = [f"pixel{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    map = lkdl.Nystroem(gamma=1e-3, n_components=4).set_output(transform="pandas").fit(frame)
    out = map.transform(frame)
    assert list(out.columns) == [f"nystroem{i}" for i in range(4)]
    assert list(map.feature_names_in_) == names
    polars = pytest.importorskip("polars")
    out = lkdl.KSVD(6, sparsity=2).set_output(transform="polars").fit_transform(X)
    assert isinstance(out, polars.DataFrame) and out.shape == (300, 6)


def test_pipelines_and_searches(few):
    X, y = few
    pipe = make_pipeline(lkdl.Nystroem(gamma=1e-3, n_components=100), LinearSVC())
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.85
    grid = {"sparsity": [2, 5], "n_atoms": [10, 20]}
    search = GridSearchCV(lkdl.DictionaryClassifier(), grid, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.85


def test_a_search_beyond_the_limits_warns_and_lives(few):
    X, y = few
    grid = {"sparsity": [2, 50], "n_landmarks": [50, 10_000], "n_atoms": [10]}
    with pytest.warns(UserWarning, match="was set to"):
        search = GridSearchCV(lkdl.LKDLClassifier(map="nystroem"), grid, cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_parameters_have_names_and_defaults():
    for estimator in TRANSFORMERS + CLASSIFIERS:
        kind = type(estimator)
        parameters = kind().get_params()
        assert parameters and kind(**parameters).get_params() == parameters
        for name in parameters:
            assert name in kind.__doc__ or "as in" in kind.__doc__.lower(), (kind, name)


def test_callbacks_see_every_iteration(few):
    callback = pytest.importorskip("sklearn.callback")
    seen = []

    class Counter:
        def setup(self, estimator, context):
            seen.append("setup")

        def on_fit_task_begin(self, estimator, context, **_):
            seen.append("begin")

        def on_fit_task_end(self, estimator, context, **_):
            seen.append("end")

        def teardown(self, estimator, context):
            seen.append("teardown")

    assert isinstance(Counter(), callback.FitCallback)
    learner = lkdl.KSVD(10, sparsity=2, max_iter=4, tol=0.0).set_callbacks(Counter()).fit(few[0])
    assert seen[0] == "setup" and seen[-1] == "teardown"
    assert seen.count("begin") == seen.count("end") == 1 + learner.n_iter_
