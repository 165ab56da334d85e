"""Classifiers: decisions, choices, kernels of every kind."""

from __future__ import annotations

import lkdl
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

ALL = [
    lkdl.LKDLClassifier(),
    lkdl.DictionaryClassifier(learner="mod"),
    lkdl.KernelKSVDClassifier(),
    lkdl.LCKSVDClassifier(),
    lkdl.LCKSVDClassifier(form=1),
    lkdl.DKSVDClassifier(),
    lkdl.FDDLClassifier(),
    lkdl.FDDLClassifier(form="simplified"),
    lkdl.SRCClassifier(),
    lkdl.SRCClassifier(exact=True),
]


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: repr(e))
def test_decisions_hang_together(estimator, digits):
    X, y = digits
    train, test = slice(0, 400), slice(400, 600)
    model = clone(estimator).fit(X[train], y[train])
    residuals, scores = model.residuals(X[test]), model.decision_function(X[test])
    assert residuals.shape == (200, 10)
    assert np.array_equal(model.predict(X[test]), model.classes_[residuals.argmin(axis=1)])
    assert np.array_equal(scores, -residuals)
    margins = model.margins(X[test])
    assert ((margins >= 0) & (margins <= 1)).all()
    assert model.score(X[test], y[test]) > 0.85


def test_two_classes_have_one_score(digits):
    X, y = digits
    some = y < 2
    names = np.array(["no", "yes"])[y[some]]
    model = lkdl.DictionaryClassifier(n_atoms=10, sparsity=2).fit(X[some], names)
    scores = model.decision_function(X[some])
    assert scores.ndim == 1
    assert np.array_equal(model.predict(X[some]), np.where(scores > 0, "yes", "no"))


def test_every_choice_is_said_and_can_be_repeated(few):
    X, y = few
    model = lkdl.LKDLClassifier().fit(X, y)
    assert "held-out" in model.choice_
    assert model.kernel_ == "polynomial" and model.settings_["prepare"] == "center,l2"
    assert model.n_landmarks_ > 0 and model.rank_ <= model.n_landmarks_
    assert len(model.n_atoms_) == 10 and model.sparsity_ >= 1
    assert [len(atoms) for atoms in model.components_] == model.n_atoms_
    said = lkdl.LKDLClassifier(
        map=model.map_,
        kernel=model.kernel_,
        degree=float(model.settings_["degree"]),
        n_atoms=int(model.settings_["atoms"]),
        sparsity=model.sparsity_,
        learning_sparsity=int(model.settings_["learning-sparsity"]),
        prepare=model.settings_["prepare"],
    ).fit(X, y)
    assert np.array_equal(said.residuals(X), model.residuals(X))
    assert said.choice_ is None, "nothing was left to choose"


def test_measurements_get_another_kernel_than_images():
    X, y = load_iris(return_X_y=True)
    model = lkdl.LKDLClassifier(map="nystroem").fit(X, y)
    assert model.kernel_ == "gaussian" and model.settings_["prepare"] == "standardize"
    narrow = lkdl.LKDLClassifier(kernel="rbf", sigma="0.5median").fit(X, y)
    ratio = float(narrow.settings_["sigma"]) / float(model.settings_["sigma"])
    assert ratio == pytest.approx(0.5, rel=1e-12)


def test_kernels_by_function_and_precomputed(few):
    X, y = few
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    shared = {"map": "nystroem", "n_atoms": 10, "sparsity": 3}
    named = lkdl.DictionaryClassifier(
        kernel="polynomial", prepare="none", n_landmarks=300, sampler="rpcholesky", **shared
    ).fit(X, y)

    def square(A, B):
        return (A @ B.T) ** 2

    own = lkdl.DictionaryClassifier(
        kernel=square, n_landmarks=300, sampler="rpcholesky", **shared
    ).fit(X, y)
    assert (own.predict(X) == named.predict(X)).mean() > 0.98
    given = lkdl.DictionaryClassifier(
        kernel="precomputed", n_landmarks=300, sampler="rpcholesky", **shared
    ).fit(square(X, X), y)
    assert (given.predict(square(X, X)) == named.predict(X)).mean() > 0.98
    exact = lkdl.KernelKSVDClassifier(kernel=square, n_atoms=10, sparsity=3).fit(X, y)
    assert exact.score(X, y) > 0.95


@pytest.mark.parametrize("kind", [
    lkdl.LCKSVDClassifier,
    lkdl.DKSVDClassifier,
    lkdl.FDDLClassifier,
    lkdl.SRCClassifier,
    lkdl.DictionaryClassifier,
])
def test_a_map_makes_any_method_a_kernel_method(kind, few):
    X, y = few
    limits = {} if kind is lkdl.SRCClassifier else {"max_iter": 3}
    linear = kind(**limits).fit(X, y)
    kernelized = kind(map="nystroem", n_landmarks=100, **limits).fit(X, y)
    assert linear.map_ == "none" and linear.rank_ == X.shape[1]
    assert kernelized.map_ == "nystroem" and kernelized.rank_ == 100
    assert not np.array_equal(linear.residuals(X), kernelized.residuals(X))
    assert kernelized.virtual_samples(X).shape == (300, 100)


def test_options_that_mean_nothing_are_refused(few):
    X, y = few
    with pytest.raises(lkdl.LkdlError, match="sigma does not go with kernel polynomial"):
        lkdl.LKDLClassifier(kernel="polynomial", sigma=1.0).fit(X, y)
    with pytest.raises(lkdl.LkdlError, match="n_landmarks does not go with map none"):
        lkdl.DictionaryClassifier(n_landmarks=10).fit(X, y)
    with pytest.raises(lkdl.LkdlError, match='kernel is "magic", but must be one of linear'):
        lkdl.LKDLClassifier(kernel="magic").fit(X, y)
    with pytest.raises(lkdl.LkdlError, match="must be ksvd or mod"):
        lkdl.LKDLClassifier(learner="svm").fit(X, y)
    with pytest.raises(lkdl.LkdlError, match="memory budget"):
        lkdl.LKDLClassifier(memory_limit=1000, sparsity=3, n_atoms=5).fit(X, y)


def test_single_precision_is_kept(few):
    X, y = few
    model = lkdl.LKDLClassifier().fit(X.astype(np.float32), y)
    assert model.model_.dtype == np.float32 and model.settings_["precision"] == "f32"
    assert all(atoms.dtype == np.float32 for atoms in model.components_)
    assert model.score(X, y) > 0.95
