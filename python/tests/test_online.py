"""Learning from samples as they come: the same whatever the blocks, kept by pickles, refused whole."""

from __future__ import annotations

import pickle

import lkdl
import numpy as np
import pytest
from lkdl import _core
from sklearn.base import clone

ALGORITHMS = ["online", "rls"]


def blocks(X, sizes):
    """Rows of X in blocks of these sizes, the last with the rest."""
    return np.split(X, np.cumsum(sizes))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_result_does_not_depend_on_where_blocks_are_cut(algorithm, dtype, digits):
    X = digits[0].astype(dtype)
    found = []
    for sizes in ([200, 1000, 1, 96], [200, 300, 300, 300, 300]):
        learner = lkdl.OnlineDictionary(40, sparsity=4, algorithm=algorithm, batch_size=128)
        for block in blocks(X, sizes):
            learner.partial_fit(block)
        assert learner.n_samples_seen_ == len(X) and learner.components_.dtype == dtype
        found.append(learner.components_)
    assert np.array_equal(*found)
    np.testing.assert_allclose(np.linalg.norm(found[0], axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_learning_goes_on_after_a_pickle_to_the_same_bits(algorithm, digits):
    first, second = blocks(digits[0], [1000])
    learner = lkdl.OnlineDictionary(40, sparsity=4, algorithm=algorithm).partial_fit(first)
    copy = pickle.loads(pickle.dumps(learner))
    assert np.array_equal(copy.components_, learner.components_)
    expected = learner.partial_fit(second)
    assert np.array_equal(copy.partial_fit(second).components_, expected.components_)
    assert np.array_equal(copy.error_, expected.error_)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_more_samples_represent_new_ones_better(algorithm, digits):
    X, new = blocks(digits[0], [1500])
    learner = lkdl.OnlineDictionary(50, sparsity=4, algorithm=algorithm, batch_size=64)
    scores = [learner.partial_fit(block).score(new) for block in blocks(X, [60] * 24)]
    assert scores[-1] > scores[0] + 0.02
    # as good as a dictionary that had all samples at once, ten times
    fitted = lkdl.OnlineDictionary(50, sparsity=4, algorithm=algorithm, batch_size=64).fit(X)
    assert fitted.score(new) > scores[0] and fitted.n_samples_seen_ == 1500 * fitted.n_iter_
    assert scores[-1] > lkdl.MOD(50, sparsity=4).fit(X).score(new) - 0.05


def test_threads_do_not_change_bits(digits):
    X = digits[0]
    one, three = (
        lkdl.OnlineDictionary(40, sparsity=4, n_jobs=n, max_iter=2).fit(X) for n in (1, 3)
    )
    assert np.array_equal(one.components_, three.components_)


def test_what_is_refused_leaves_the_dictionary_as_it_was(few):
    X, _ = few
    learner = lkdl.OnlineDictionary(20, sparsity=3, batch_size=64).partial_fit(X)
    before = learner.components_.copy()
    bad = X.copy()
    bad[7, 3] = np.nan
    for refused, said in [(bad, "NaN"), (X[:, :5], "features"), (X[:0], "0 sample")]:
        with pytest.raises(ValueError, match=said):
            learner.partial_fit(refused)
    assert np.array_equal(learner.components_, before) and learner.n_samples_seen_ == len(X)
    again = lkdl.OnlineDictionary(20, sparsity=3, batch_size=64).partial_fit(X).partial_fit(X)
    assert np.array_equal(learner.partial_fit(X).components_, again.components_)


def test_arguments_that_make_no_sense_are_named(few):
    X, _ = few
    for arguments, said in [
        ({"algorithm": "magic"}, "online or rls"),
        ({"batch_size": 0}, "batch_size"),
        ({"fading": -1.0}, "fading"),
        ({"algorithm": "rls", "forgetting": 1.5}, "forgetting"),
        ({"algorithm": "rls", "forgetting": 0.9}, "total"),
    ]:
        with pytest.raises(lkdl.LkdlError, match=said):
            lkdl.OnlineDictionary(10, sparsity=2, **arguments).partial_fit(X)
    forgetting = lkdl.OnlineDictionary(10, sparsity=2, algorithm="rls", forgetting=0.9)
    assert forgetting.fit(X).n_iter_ >= 1  # which knows how many samples there will be


def test_a_state_that_is_not_whole_is_refused(few):
    learner = lkdl.OnlineDictionary(10, sparsity=2).partial_fit(few[0])._learner
    settings, arrays = learner.state()
    copy = _core.Incremental.from_state(settings, arrays)
    assert np.array_equal(copy.finished()[0], learner.finished()[0])
    for name in arrays:
        lacking = {other: array for other, array in arrays.items() if other != name}
        with pytest.raises(lkdl.LkdlError):
            _core.Incremental.from_state(settings, lacking)
    for name in ("learner.A", "learner.B", "learner.waiting"):
        with pytest.raises(lkdl.LkdlError):
            _core.Incremental.from_state(settings, {**arrays, name: arrays[name][:-1].copy()})


def test_sums_over_blocks_give_the_update_of_all_samples(digits):
    X = digits[0]
    for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 1e-4)):
        samples = X.astype(dtype)
        atoms = lkdl.MOD(30, sparsity=3, max_iter=1).fit(samples).components_
        expected = lkdl.MOD(sparsity=3, max_iter=1, dict_init=atoms).fit(samples)
        sums = _core.dictionary_sums(samples, atoms, 3)
        updated, error, _ = _core.update_atoms(atoms, sums)
        np.testing.assert_allclose(updated, expected.components_, atol=tolerance)
        assert error == pytest.approx(expected.error_[0], rel=tolerance)
    text = "block 7013: .* NaN at feature 2 of sample 5"
    bad = X.copy()
    bad[5, 2] = np.nan
    with pytest.raises(lkdl.LkdlError, match=text):
        _core.dictionary_sums(np.ascontiguousarray(bad), atoms.astype(float), 3, 7013)


def test_a_classifier_of_blocks_is_about_as_good_as_one_of_all(digits):
    X, y = digits
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    stream = lkdl.OnlineLKDLClassifier()
    for first in range(0, 1400, 350):
        stream.partial_fit(X[first : first + 350], y[first : first + 350])
    whole = lkdl.LKDLClassifier().fit(X[:1400], y[:1400])
    expected = whole.score(X[1400:], y[1400:])
    assert stream.score(X[1400:], y[1400:]) > expected - 0.02
    assert stream.n_samples_seen_ == 1400
    copy = pickle.loads(pickle.dumps(stream))
    assert np.array_equal(copy.residuals(X), stream.residuals(X))
    copy.partial_fit(X[1400:], y[1400:])
    stream.partial_fit(X[1400:], y[1400:])
    assert np.array_equal(copy.residuals(X), stream.residuals(X))


@pytest.mark.parametrize("known", [False, True])
def test_a_class_may_come_late(known, digits):
    X, y = digits
    classes = np.arange(10) if known else None
    names = np.array([f"digit {label}" for label in range(10)])
    early = y < 8
    stream = lkdl.OnlineLKDLClassifier()
    stream.partial_fit(X[early][:600], names[y[early][:600]], None if classes is None else names)
    assert len(stream.classes_) == (10 if known else 8)
    assert set(stream.predict(X)) <= set(names[:8])
    if known:
        assert np.isinf(stream.residuals(X[:5])[:, 8:]).all()
    for first in range(0, 1500, 500):
        stream.partial_fit(X[first : first + 500], names[y[first : first + 500]])
    assert list(stream.classes_) == list(names)
    assert stream.residuals(X[:5]).shape == (5, 10)
    late = y[1500:] >= 8
    assert (stream.predict(X[1500:][late]) == names[y[1500:][late]]).mean() > 0.8
    with pytest.raises(lkdl.LkdlError, match="not among the classes"):
        lkdl.OnlineLKDLClassifier().partial_fit(X, y, classes=np.arange(5))


def test_the_first_block_may_have_one_class_of_those_announced(digits):
    X, y = digits
    stream = lkdl.OnlineLKDLClassifier().partial_fit(X[y == 3], y[y == 3], classes=np.arange(10))
    assert set(stream.predict(X)) == {3}
    assert stream.partial_fit(X, y).score(X, y) > 0.95
    with pytest.raises(lkdl.LkdlError, match="1 class"):
        lkdl.OnlineLKDLClassifier().partial_fit(X[y == 3], y[y == 3])


def test_a_label_that_was_not_announced_is_refused_and_changes_nothing(digits):
    X, y = digits
    stream = lkdl.OnlineLKDLClassifier().partial_fit(X[:500], y[:500] % 3, classes=[0, 1, 2])
    before = stream.residuals(X[:20])
    with pytest.raises(lkdl.LkdlError, match="label"):
        stream.partial_fit(X[500:], y[500:] % 4)
    assert np.array_equal(stream.residuals(X[:20]), before) and stream.n_samples_seen_ == 500


def test_classes_are_announced_at_the_first_call(digits):
    X, y = digits
    stream = lkdl.OnlineLKDLClassifier(n_atoms=8, sparsity=2)
    stream.partial_fit(X[:300], y[:300], classes=np.arange(10))
    stream.partial_fit(X[300:], y[300:], classes=np.arange(10)[::-1])
    with pytest.raises(lkdl.LkdlError, match="classes are not those of the first call"):
        stream.partial_fit(X[300:], y[300:], classes=np.arange(12))
    stream = clone(stream).partial_fit(X[:300], y[:300])
    with pytest.raises(lkdl.LkdlError, match="classes are not those of the first call"):
        stream.partial_fit(X[300:], y[300:], classes=np.arange(10))
    assert stream.n_samples_seen_ == 300


def test_labels_of_another_kind_are_refused_and_change_nothing(digits):
    X, y = digits
    model = lkdl.OnlineLKDLClassifier(n_atoms=8, sparsity=2).partial_fit(X[:300], y[:300])
    before = model.model_.to_bytes()
    with pytest.raises(lkdl.LkdlError, match="y has labels of <U.*, but those before are of int64"):
        model.partial_fit(X[300:400], y[300:400].astype(str))
    with pytest.raises(lkdl.LkdlError, match="y has labels of bool, but those before are of int64"):
        model.partial_fit(X[300:400], y[300:400] > 4)
    assert model.model_.to_bytes() == before and model.classes_.dtype == y.dtype
    model.partial_fit(X[300:400], y[300:400])


def test_drift_is_seen_and_landmarks_grow_into_it(digits):
    X, y = digits
    X = np.where(np.arange(len(X))[:, None] < 900, X, X[:, ::-1] ** 2)  # another kind of image
    arguments = {"map": "nystroem", "kernel": "gaussian", "n_landmarks": 100, "n_atoms": 20}
    models = []
    for n_more in (0, 60):
        model = lkdl.OnlineLKDLClassifier(**arguments, n_more=n_more)
        model.partial_fit(X[:450], y[:450]).partial_fit(X[450:900], y[450:900])
        assert model.drift_ < 2 and model.n_landmarks_ == 100
        rank = model.rank_
        for first in (900, 1200):
            model.partial_fit(X[first : first + 300], y[first : first + 300])
        models.append(model)
    still, grown = models
    assert still.drift_ > 2 and still.n_landmarks_ == 100
    assert grown.n_landmarks_ > 100 and grown.rank_ > rank and grown.drift_ < still.drift_
    assert grown.score(X[1500:], y[1500:]) >= still.score(X[1500:], y[1500:])


def test_samples_of_the_same_kind_are_no_drift(digits):
    X, y = digits
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    model = lkdl.OnlineLKDLClassifier(map="nystroem", n_landmarks=50, n_atoms=20)
    assert model.partial_fit(X[:800], y[:800]).drift_ == pytest.approx(1)
    assert model.partial_fit(X[800:], y[800:]).drift_ < 1.3
    model = lkdl.OnlineLKDLClassifier(map="none", n_atoms=20).fit(X, y)
    assert model.partial_fit(X, y).drift_ is None


def test_the_running_share_is_that_of_its_definition():
    rng = np.random.default_rng(0)
    first, later = rng.uniform(size=(2, 50)), rng.uniform(size=(2, 700))
    missed, whole = first * [[0.1], [1.0]] @ np.ones(50) * 1000 / 50
    share = missed / whole
    for energy, value in zip(*later, strict=True):
        missed, whole = 0.999 * missed + energy, 0.999 * whole + value
    drift = _core.Drift.of(*(first * [[0.1], [1.0]])).after(*later)
    assert drift.level == pytest.approx(missed / whole / share)
    assert pickle.loads(pickle.dumps(drift)).numbers() == drift.numbers()
    assert _core.Drift.of(np.zeros(3), np.ones(3)).level == 0
    with pytest.raises(lkdl.LkdlError, match="residual energy"):
        drift.after(np.array([np.nan]), np.ones(1))


def test_a_streamed_model_is_a_model_file_like_any_other(tmp_path, digits):
    X, y = digits
    stream = lkdl.OnlineLKDLClassifier().partial_fit(X[:600], y[:600])
    stream.partial_fit(X[600:1200], y[600:1200])
    lkdl.save(stream, tmp_path / "model.safetensors")
    loaded = lkdl.load(tmp_path / "model.safetensors")
    assert np.array_equal(loaded.predict(X), stream.predict(X))
