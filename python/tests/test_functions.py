"""Functions against scikit-learn's and against their definitions."""

from __future__ import annotations

import lkdl
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import orthogonal_mp, orthogonal_mp_gram
from sklearn.metrics.pairwise import pairwise_kernels


def problem(p=20, m=50, n=150, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(m, p))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    return rng.normal(size=(n, p)).astype(dtype), D.astype(dtype)


def test_omp_is_that_of_scikit_learn():
    X, D = problem()
    expected = orthogonal_mp(D.T, X.T, n_nonzero_coefs=5).T
    got = lkdl.omp(X, D, 5)
    assert np.array_equal(got != 0, expected != 0)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
    found = lkdl.omp(X, D, 5, sparse_output=True)
    assert sparse.issparse(found) and np.array_equal(found.toarray(), got)


def test_omp_by_error_reaches_it():
    X, D = problem()
    codes = lkdl.omp(X, D, tol=2.0)
    assert (np.linalg.norm(X - codes @ D, axis=1) <= 2.0 + 1e-12).all()
    counts = (codes != 0).sum(axis=1)
    assert counts.min() < counts.max()


def test_omp_by_inner_products_is_omp():
    X, D = problem()
    D *= 3.0
    gram, products = D @ D.T, X @ D.T
    expected = orthogonal_mp_gram(gram, products.T, n_nonzero_coefs=4).T
    for norms in (None, (X**2).sum(axis=1)):
        got = lkdl.omp_gram(gram, products, 4, norms_squared=norms)
        np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-10)
    norms = (X**2).sum(axis=1)
    by_error = lkdl.omp_gram(gram, products, tol=2.0, norms_squared=norms)
    np.testing.assert_allclose(by_error, lkdl.omp(X, D, tol=2.0), rtol=1e-8, atol=1e-10)
    with pytest.raises(lkdl.LkdlError, match="norms_squared"):
        lkdl.omp_gram(gram, products, tol=2.0)


@pytest.mark.parametrize("solver", ["lars", "cd", "fista"])
def test_lasso_meets_its_conditions(solver):
    X, D = problem()
    codes = lkdl.lasso(X, D, 0.3, solver=solver, tol=1e-12)
    gradient = (X - codes @ D) @ D.T
    assert (np.abs(gradient) <= 0.3 + 1e-4).all()
    used = codes != 0
    assert used.any()
    np.testing.assert_allclose(gradient[used], 0.3 * np.sign(codes[used]), atol=1e-4)
    with pytest.raises(lkdl.LkdlError, match="not both"):
        lkdl.lasso(X, D, 0.3, relative_alpha=0.1)


@pytest.mark.parametrize("learn", [lkdl.ksvd, lkdl.mod])
def test_learners_find_a_planted_dictionary_better_than_they_start(learn):
    rng = np.random.default_rng(1)
    _, D = problem(m=30, seed=2)
    codes = np.zeros((800, 30))
    for row in codes:
        row[rng.choice(30, 3, replace=False)] = rng.normal(size=3)
    learned, found, error = learn(codes @ D, 30, 3, max_iter=30, tol=0.0)
    np.testing.assert_allclose(np.linalg.norm(learned, axis=1), 1.0, rtol=1e-12)
    assert len(error) == 30 and error[-1] < 0.5 * error[0]
    assert ((found != 0).sum(axis=1) <= 3).all()
    matched = np.abs(learned @ D.T).max(axis=0)
    assert (matched > 0.99).mean() > 0.6


SKLEARN = [
    ("linear", {}),
    ("rbf", {"gamma": 0.2}),
    ("rbf", {}),
    ("poly", {"gamma": 0.5, "coef0": 0.7, "degree": 2}),
    ("poly", {}),
    ("sigmoid", {"gamma": 0.01, "coef0": 0.1}),
    ("laplacian", {"gamma": 0.1}),
    ("cosine", {}),
]


@pytest.mark.parametrize("name, parameters", SKLEARN, ids=str)
def test_kernels_are_those_of_scikit_learn(name, parameters):
    X, Y = problem()
    expected = pairwise_kernels(X, Y, metric=name, **parameters)
    np.testing.assert_allclose(lkdl.kernel(X, Y, name, **parameters), expected, rtol=1e-10)
    single = lkdl.kernel(X.astype(np.float32), Y.astype(np.float32), name, **parameters)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=2e-3, atol=2e-4)


def test_kernels_of_positive_features():
    X, Y = (np.abs(block) for block in problem())
    expected = pairwise_kernels(X, Y, metric="chi2", gamma=0.3)
    np.testing.assert_allclose(lkdl.kernel(X, Y, "chi2", gamma=0.3), expected, rtol=1e-10)
    expected = pairwise_kernels(X, Y, metric="additive_chi2")
    np.testing.assert_allclose(lkdl.kernel(X, Y, "additive_chi2"), expected, rtol=1e-10)
    with pytest.raises(lkdl.LkdlError, match="chi-squared"):
        lkdl.kernel(-X, Y, "chi2")


def test_functions_serve_as_kernels_block_by_block_or_pair_by_pair():
    X, Y = problem(n=300)
    blocks = []

    def block(A, B):
        blocks.append((len(A), len(B)))
        return A @ B.T

    np.testing.assert_allclose(lkdl.kernel(X, Y, block), X @ Y.T, atol=1e-12)
    assert max(len_a * len_b for len_a, len_b in blocks) > 1000, "called pair by pair"
    np.testing.assert_allclose(lkdl.kernel(X, Y, lambda x, y: float(x @ y)), X @ Y.T, atol=1e-12)

    def wrong(A, B):
        return np.ones((2, 3)) if len(A) == 2 else np.ones((1, 1))

    with pytest.raises(lkdl.LkdlError, match="shape"):
        lkdl.kernel(X, Y, wrong)

    def failing(A, B):
        if len(A) > 2:
            raise RuntimeError("no kernel today")
        return A @ B.T

    with pytest.raises(lkdl.LkdlError, match="no kernel today"):
        lkdl.kernel(X, Y, failing)


def test_landmarks_are_samples_and_know_their_error():
    X, _ = problem(n=200)
    found = lkdl.landmarks(X, 40, sampler="rpcholesky", gamma=0.01)
    assert np.array_equal(found.points, X[found.indices]) and len(set(found.indices)) == 40
    gram = lkdl.kernel(X, gamma=0.01)
    C = gram[:, found.indices]
    rest = gram - C @ np.linalg.pinv(gram[np.ix_(found.indices, found.indices)]) @ C.T
    assert found.trace_error == pytest.approx(np.trace(rest) / len(X), rel=1e-6)
    with pytest.warns(UserWarning, match="n_landmarks=1000 was set to 200"):
        lkdl.landmarks(X, 1000, sampler="uniform")
