"""Dictionaries: codes, their inverse, history, and what is clipped."""

from __future__ import annotations

import lkdl
import numpy as np
import pytest
from scipy import sparse


def test_codes_are_those_of_the_function(few):
    X, _ = few
    learner = lkdl.KSVD(40, sparsity=4).fit(X)
    codes = learner.transform(X)
    assert np.array_equal(codes, lkdl.omp(X, learner.components_, 4))
    np.testing.assert_allclose(learner.inverse_transform(codes), codes @ learner.components_)
    error = np.linalg.norm(X - learner.inverse_transform(codes)) / np.linalg.norm(X)
    assert error == pytest.approx(learner.error_[-1], rel=0.1)
    assert learner.n_iter_ == len(learner.error_)


def test_codes_are_sparse_on_request(few):
    X, _ = few
    learner = lkdl.MOD(40, sparsity=4, sparse_output=True).fit(X)
    codes = learner.transform(X)
    assert sparse.issparse(codes) and codes.nnz <= 4 * len(X)
    assert np.array_equal(learner.inverse_transform(codes), codes @ learner.components_)


def test_exact_updates_fit_at_least_as_well(few):
    X, _ = few
    approximate = lkdl.KSVD(30, sparsity=3, max_iter=15, tol=0.0).fit(X)
    exact = lkdl.KSVD(30, sparsity=3, max_iter=15, tol=0.0, update="exact").fit(X)
    assert exact.error_[-1] < 1.05 * approximate.error_[-1]
    assert not np.array_equal(exact.components_, approximate.components_)


def test_learning_goes_on_from_given_atoms(few):
    X, _ = few
    first = lkdl.KSVD(30, sparsity=3, max_iter=5, tol=0.0).fit(X)
    second = lkdl.KSVD(30, sparsity=3, max_iter=5, tol=0.0, dict_init=first.components_).fit(X)
    assert second.error_[0] < first.error_[0]


def test_a_lasso_and_an_error_can_code_too(few):
    X, _ = few
    learner = lkdl.KSVD(30, sparsity=3).fit(X)
    by_lasso = learner.set_params(transform_algorithm="lasso", transform_alpha=1.0).transform(X)
    assert np.array_equal(by_lasso, lkdl.lasso(X, learner.components_, 1.0))
    learner.set_params(transform_algorithm="omp", transform_tol=20.0)
    rest = X - learner.transform(X) @ learner.components_
    assert (np.linalg.norm(rest, axis=1) <= 20.0 + 1e-9).all()
    with pytest.raises(lkdl.LkdlError, match="omp or lasso"):
        learner.set_params(transform_algorithm="magic").transform(X)


def test_limits_are_clipped_with_a_warning(few):
    X, _ = few
    with pytest.warns(UserWarning, match="n_components=1000 was set to 300"):
        learner = lkdl.KSVD(1000, sparsity=3, max_iter=1).fit(X)
    assert len(learner.components_) == 300
    with pytest.warns(UserWarning, match="sparsity=9 was set to 4"):
        lkdl.KSVD(4, sparsity=9, max_iter=1).fit(X)
    with pytest.warns(UserWarning, match="sparsity=9 was set to 2"):
        lkdl.omp(X, X[:2], 9)


def test_progress_goes_to_stderr(few, capsys):
    X, y = few
    learner = lkdl.KSVD(20, sparsity=3, verbose=1).fit(X)
    out, err = capsys.readouterr()
    assert out == "" and err.count("relative error") == learner.n_iter_
    assert f"relative error {learner.error_[-1]:.4f}" in err
    lkdl.DictionaryClassifier(n_atoms=5, sparsity=2, verbose=2).fit(X, y)
    err = capsys.readouterr().err
    assert "[DictionaryClassifier] learn" in err and " class 9: relative error" in err
