"""A fit on Dask is the fit from blocks on one machine: the same atoms, errors and map, bit for bit."""

from __future__ import annotations

import warnings

import lkdl
import numpy as np
import pytest

da = pytest.importorskip("dask.array", reason="Dask is not installed: pip install 'lkdl[dask]'")
dd = pytest.importorskip("dask.dataframe", reason="Dask's data frames are not installed")

import lkdl.dask

SIZES = (0, 150, 1, 297, 0, 152, 400, 0)  # 1000
SAID = {"n_atoms": 12, "sparsity": 3, "max_iter": 3, "pilot_size": 300, "random_state": 5}

SETTINGS = {
    "usual": {},
    "chosen by held-out samples": {"sparsity": "auto", "n_atoms": "auto"},
    "linear": {"map": "none"},
    "a wide map": {"map": "nystroem", "kernel": "gaussian", "n_landmarks": 80, "rank": 50},
    "standardized": {"map": "nystroem", "prepare": "standardize", "n_landmarks": 40},
    "optimal, centred": {"map": "nystroem", "variant": "optimal", "centered": True, "rank": 20},
    "landmarks by weight": {"map": "nystroem", "sampler": "diagonal", "n_landmarks": 40},
    "everything of all samples": {
        "map": "nystroem",
        "prepare": "standardize",
        "sampler": "diagonal",
        "n_landmarks": 60,
        "rank": 30,
        "variant": "optimal",
        "centered": True,
    },
    "Fourier": {"map": "fourier", "rank": 60},
    "some classes converge": {"map": "none", "max_iter": 12, "tol": 0.003},
    "more atoms than some classes have": {"map": "none", "n_atoms": 90},
    "all samples are the pilot": {"pilot_size": 5000},
    "another seed": {"random_state": 9, "pilot_size": 60},
    "a function": {"map": "nystroem", "kernel": lambda A, B: (1 + A @ B.T) ** 2, "prepare": "l2"},
}


@pytest.fixture(scope="module")
def data(digits):
    """Rows, and labels of which one is rare and one late."""
    X, y = np.ascontiguousarray(digits[0][:1000]), digits[1][:1000].copy()
    y[[40, 700]], y[990:] = 33, 55
    return X, y


def blocks(X, y):
    ends = np.cumsum(SIZES)
    return [(X[end - n : end], y[end - n : end]) for end, n in zip(ends, SIZES, strict=True)]


def on_dask(X, y):
    return da.from_array(X, chunks=(SIZES, (X.shape[1],))), da.from_array(y, chunks=(SIZES,))


def same(there, here):
    """All that was learned."""
    assert there.settings_ == here.settings_ and there.choice_ == here.choice_
    assert there.sparsity_ == here.sparsity_ and there.n_landmarks_ == here.n_landmarks_
    for found, expected in zip(there.components_, here.components_, strict=True):
        assert found.dtype == expected.dtype and np.array_equal(found, expected)
    for found, expected in zip(there.error_, here.error_, strict=True):
        assert np.array_equal(found, expected)
    np.testing.assert_array_equal(there.classes_, here.classes_)
    return True


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SETTINGS)
def test_dask_and_one_machine_learn_the_same_bits(name, dtype, data):
    X, y = data[0].astype(dtype), data[1]
    said = {**SAID, **SETTINGS[name]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here = lkdl.StreamLKDLClassifier(learner="mod", **said).fit(blocks(X, y))
        there = lkdl.dask.LKDLClassifier(**said).fit(*on_dask(X, y))
    assert same(there, here)
    assert np.array_equal(there.virtual_samples(X), here.virtual_samples(X))
    assert np.array_equal(there.residuals(X), here.residuals(X))
    if name == "some classes converge":
        assert len({len(errors) for errors in here.error_}) > 1


def test_classes_may_have_any_names_and_blocks_any_form(data):
    X, y = data
    words = np.array([f"digit {label}" for label in y])
    here = lkdl.StreamLKDLClassifier(learner="mod", **SAID).fit(blocks(X, words))
    expected = lkdl.dask.LKDLClassifier(**SAID).fit(*on_dask(X, words))
    assert same(expected, here)
    as_objects = lkdl.dask.LKDLClassifier(**SAID).fit(*on_dask(X, words.astype(object)))
    assert as_objects.model_.to_bytes() == expected.model_.to_bytes()

    import pandas as pd

    names = [f"pixel{i}" for i in range(64)]
    frame = pd.DataFrame(X, columns=names).assign(label=words)
    parts = [frame[start : start + 250] for start in range(0, 1000, 250)]
    frame = dd.from_pandas(frame, npartitions=4)
    assert [len(part) for part in frame.partitions] == [250] * 4
    there = lkdl.dask.LKDLClassifier(**SAID).fit(frame[names], frame["label"])
    here = lkdl.StreamLKDLClassifier(learner="mod", **SAID)
    here.fit([(part[names], part["label"]) for part in parts])
    assert same(there, here) and list(there.feature_names_in_) == list(here.feature_names_in_)


@pytest.mark.parametrize("persist", [False, True])
@pytest.mark.parametrize("change", ["other labels", "other classes", "other samples"])
def test_data_that_change_between_passes_are_noticed(change, persist, data, monkeypatch):
    X, y = on_dask(*data)
    moved, draw = [], lkdl.dask._classifier.draw_pilot

    def drawn(*arguments):
        pilot = draw(*arguments)
        moved.append(None)
        return pilot

    monkeypatch.setattr(lkdl.dask._classifier, "draw_pilot", drawn)
    if change == "other labels":
        y = y.map_blocks(lambda y: np.where(y == 3, 4, y) if moved else y, dtype=y.dtype)
    elif change == "other classes":
        y = y.map_blocks(lambda y: y + 100 if moved else y, dtype=y.dtype)
    else:
        X = X.map_blocks(lambda X: X * (1 + len(moved)), dtype=X.dtype)
    model = lkdl.dask.LKDLClassifier(**SAID, map="none", prepare="none", persist=persist)
    with pytest.raises(lkdl.LkdlError, match="changed between two passes|were not there"):
        model.fit(X, y)


@pytest.mark.parametrize("change", [lambda X: 2 * X, lambda X: X[:-1]])
def test_samples_of_a_later_pass_are_those_of_the_one_before(change, data, monkeypatch):
    X, y = on_dask(*data)
    moved, update = [], lkdl._core.update_atoms
    moving = lambda *arguments: moved.append(None) or update(*arguments)
    X = X.map_blocks(lambda X: change(X) if moved else X, dtype=X.dtype)
    monkeypatch.setattr(lkdl._core, "update_atoms", moving)
    for estimator in (
        lkdl.dask.LKDLClassifier(**SAID, map="none", prepare="none", persist=False),
        lkdl.dask.MOD(10, sparsity=2, pilot_size=100),
    ):
        moved.clear()
        with pytest.raises(lkdl.LkdlError, match="changed between two passes|has labels of shape"):
            estimator.fit(X, y)
    # virtual samples that workers hold do not change
    moved.clear()
    lkdl.dask.LKDLClassifier(**SAID, map="none", prepare="none").fit(X, y)
