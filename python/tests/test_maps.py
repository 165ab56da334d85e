"""Maps: what their inner products are, what they miss, and how they compare with scikit-learn's."""

from __future__ import annotations

import lkdl
import numpy as np
import pytest
from sklearn import kernel_approximation
from sklearn.metrics.pairwise import pairwise_kernels

KERNELS = [
    {"kernel": "rbf", "gamma": 1e-3},
    {"kernel": "poly", "degree": 2, "gamma": 1e-2, "coef0": 1.0},
    {"kernel": "laplacian", "gamma": 1e-3},
]


@pytest.mark.parametrize("parameters", KERNELS, ids=str)
@pytest.mark.parametrize("map", ["auto", "standard", "cholesky", "optimal"])
def test_landmarks_keep_their_kernel_values(parameters, map, few):
    X, _ = few
    fitted = lkdl.Nystroem(n_components=40, sampler="uniform", map=map, **parameters).fit(X)
    F = fitted.transform(fitted.components_)
    expected = pairwise_kernels(
        fitted.components_, metric=parameters["kernel"], filter_params=True, **parameters
    )
    np.testing.assert_allclose(F @ F.T, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())
    by_hand = lkdl.kernel(X, fitted.components_, **parameters) @ fitted.normalization_.T
    np.testing.assert_allclose(fitted.transform(X), by_hand, rtol=1e-6, atol=1e-8)


def inner_products(X, **parameters):
    F = lkdl.Nystroem(**parameters).fit(X).transform(X).astype("float64")
    return F @ F.T


def test_all_factors_of_all_landmarks_stand_for_the_same_kernel():
    X = np.random.default_rng(0).normal(size=(900, 4))
    X[1::2] = X[::2]  # landmarks that depend on each other
    usual = {"gamma": 0.2, "n_components": 300, "sampler": np.arange(300)}
    exact = inner_products(X, map="standard", **usual)
    for map in ("auto", "cholesky", "optimal"):
        np.testing.assert_allclose(inner_products(X, map=map, **usual), exact, atol=1e-8)
    # values are rounded to 6e-8 and stretched by the smallest pivot that is kept
    single = inner_products(X.astype("float32"), map="auto", **usual)
    np.testing.assert_allclose(single, exact, atol=1e-3)


def test_a_smaller_rank_is_cut_from_the_eigenpairs(few):
    X, _ = few
    cut = lkdl.Nystroem(n_components=40, rank=20).fit(X)
    standard = lkdl.Nystroem(n_components=40, rank=20, map="standard").fit(X)
    np.testing.assert_array_equal(cut.transform(X), standard.transform(X))
    assert len(cut.eigenvalues_) == 20
    assert len(lkdl.Nystroem(n_components=40).fit(X).eigenvalues_) == 0


def test_the_error_is_that_of_evenly_spaced_samples():
    X = np.random.default_rng(1).normal(size=(2500, 3))
    fitted = lkdl.Nystroem(gamma=0.5, n_components=30).fit(X)
    assert fitted.approximation_error_ == pytest.approx(fitted.residual_energy(X[::3]).mean())
    assert fitted.approximation_error_ == pytest.approx(fitted.residual_energy(X).mean(), rel=0.2)


def test_all_samples_as_landmarks_give_the_whole_kernel(few):
    X, _ = few
    fitted = lkdl.Nystroem(n_components=300, gamma=1e-3).fit(X)
    F = fitted.transform(X)
    np.testing.assert_allclose(F @ F.T, lkdl.kernel(X, gamma=1e-3), atol=1e-6)
    assert fitted.approximation_error_ < 1e-6


def test_what_is_missed_is_what_the_diagonal_lacks(few):
    X, _ = few
    for parameters in KERNELS[:2]:
        fitted = lkdl.Nystroem(n_components=30, **parameters).fit(X)
        diagonal = np.diagonal(lkdl.kernel(X, **parameters))
        missed = diagonal - (fitted.transform(X) ** 2).sum(axis=1)
        np.testing.assert_allclose(fitted.residual_energy(X), missed, atol=1e-6 * diagonal.max())
        assert fitted.approximation_error_ == pytest.approx(missed.sum() / diagonal.sum(), rel=1e-5)


def test_the_error_is_below_that_of_scikit_learn(few):
    X, _ = few
    gram = lkdl.kernel(X, gamma=1e-3)

    def error(map):
        F = map.fit_transform(X)
        return np.linalg.norm(gram - F @ F.T)

    theirs = np.mean([
        error(kernel_approximation.Nystroem(gamma=1e-3, n_components=50, random_state=seed))
        for seed in range(5)
    ])
    assert error(lkdl.Nystroem(gamma=1e-3, n_components=50)) < 0.9 * theirs


def test_own_landmarks_are_taken_as_they_are(few):
    X, _ = few
    chosen = np.arange(0, 300, 10)
    by_index = lkdl.Nystroem(gamma=1e-3, sampler=chosen).fit(X)
    assert np.array_equal(by_index.component_indices_, chosen)
    by_point = lkdl.Nystroem(gamma=1e-3, landmarks=X[chosen] + 0.5).fit(X)
    assert np.array_equal(by_point.components_, X[chosen] + 0.5)
    assert by_point.component_indices_ is None
    assert by_point.transform(X).shape == (300, 30)


def test_a_precomputed_kernel_gives_the_map_of_its_kernel(few):
    X, _ = few
    train, test = X[:200], X[200:]
    gram, cross = lkdl.kernel(train, gamma=1e-3), lkdl.kernel(test, train, gamma=1e-3)
    chosen = np.arange(0, 200, 5)
    direct = lkdl.Nystroem(gamma=1e-3, sampler=chosen).fit(train).transform(test)
    given = lkdl.Nystroem("precomputed", sampler=chosen).fit(gram).transform(cross)
    np.testing.assert_allclose(given @ given.T, direct @ direct.T, atol=1e-7)
    # fewer components than samples, which scikit-learn's cannot (its issue 29353)
    assert lkdl.Nystroem("precomputed", n_components=20).fit(gram).transform(cross).shape == (100, 20)


def test_a_function_is_a_kernel_of_a_map(few):
    X, _ = few

    def intersection(A, B):
        return np.minimum(A[:, None, :], B[None, :, :]).sum(axis=-1)

    fitted = lkdl.Nystroem(intersection, n_components=300, sampler="uniform").fit(X[:100])
    F = fitted.transform(X[:100])
    np.testing.assert_allclose(F @ F.T, intersection(X[:100], X[:100]), rtol=1e-6)


def test_an_automatic_count_keeps_the_trace(few):
    X, _ = few
    fitted = lkdl.Nystroem(n_components="auto", rank=0.05, gamma=1e-3).fit(X)
    assert fitted.approximation_error_ < 0.15
    assert fitted.transform(X).shape[1] < len(fitted.components_) <= 300


@pytest.mark.parametrize("kind", [lkdl.RandomFourier, lkdl.Fastfood])
def test_random_features_approach_the_gaussian_kernel(kind, few):
    X, _ = few
    fitted = kind(n_components=4096).fit(X)
    F = fitted.transform(X)
    gamma = 1 / (2 * fitted.sigma_**2)
    assert np.abs(F @ F.T - lkdl.kernel(X, gamma=gamma)).max() < 0.12
    assert np.array_equal(F, kind(n_components=4096).fit_transform(X))
    assert not np.array_equal(F, kind(n_components=4096, random_state=1).fit_transform(X))


def test_single_precision_stays_single(few):
    X = few[0].astype(np.float32)
    for map in (lkdl.Nystroem(gamma=1e-3), lkdl.RandomFourier(), lkdl.Fastfood()):
        assert map.fit_transform(X).dtype == np.float32
    assert lkdl.KSVD(10, sparsity=2).fit_transform(X).dtype == np.float32
