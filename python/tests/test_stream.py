"""Fits from blocks: the command's own, of anything that hands out blocks, in bounded memory."""

from __future__ import annotations

import pickle
import threading
import weakref

import lkdl
import numpy as np
import pandas as pd
import pytest
from lkdl import LkdlError, StreamLKDLClassifier
from scipy import sparse

ROWS = 130
SAID = {"n_atoms": 14, "sparsity": 3, "max_iter": 2, "pilot_size": 250, "random_state": 3}


def model(**said):
    return StreamLKDLClassifier(**{**SAID, "map": "nystroem", "n_landmarks": 40, **said})


@pytest.fixture(scope="module")
def data(digits):
    X, y = digits
    return np.ascontiguousarray(X[:600]), y[:600]


@pytest.fixture(scope="module")
def blocks(data):
    X, y = data
    return [(X[i : i + ROWS], y[i : i + ROWS]) for i in range(0, len(y), ROWS)]


class Again:
    def __init__(self, blocks):
        self.blocks = blocks

    def __iter__(self):
        yield from self.blocks


def test_whatever_hands_out_the_blocks_the_bits_are_the_same(data, blocks, tmp_path):
    X, y = data
    expected = model().fit(blocks).model_.to_bytes()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    frames = [
        (pd.DataFrame(X, columns=[f"p{i}" for i in range(64)]), pd.Series(y)) for X, y in blocks
    ]
    holes = [(X[:0], y[:0]), *blocks, (X[:0], y[:0])]
    for said in (Again(blocks), lambda: iter(blocks), tuple(blocks), frames):
        assert model().fit(said).model_.to_bytes() == expected
    assert model(block_size=ROWS).fit(mapped, y).model_.to_bytes() == expected
    rows = [(sparse.csr_array(X), y.tolist()) for X, y in blocks]
    assert model().fit(rows).model_.to_bytes() == expected
    np.testing.assert_array_equal(model().fit(holes).predict(X), model().fit(blocks).predict(X))
    named = model().fit(frames)
    assert list(named.feature_names_in_) == [f"p{i}" for i in range(64)]
    for n_jobs in (1, 3):
        assert model(n_jobs=n_jobs).fit(blocks).model_.to_bytes() == expected
    copy, frame = pickle.loads(pickle.dumps(named)), frames[0][0]
    assert np.array_equal(copy.predict(frame), named.predict(frame))


def test_rows_of_a_frame_are_cut_by_their_number(data, blocks):
    X, y = data
    expected = model().fit(blocks).model_.to_bytes()
    for index in (np.linspace(0, 1, len(y)), np.arange(len(y))[::-1], [f"row {i}" for i in range(len(y))]):
        frame = pd.DataFrame(X, index=index)
        assert model(block_size=ROWS).fit(frame, pd.Series(y, index=index)).model_.to_bytes() == expected


def test_one_precision_is_that_of_all_blocks(blocks):
    single = [(X.astype(np.float32), y) for X, y in blocks]
    assert model().fit(single).model_.dtype == np.float32
    with pytest.raises(
        LkdlError, match="block 2: is of float32, but the first block is of float64"
    ):
        model().fit([*blocks[:2], single[2]])


def test_classes_may_come_late_and_have_names(data):
    X, y = data
    order = np.argsort(y, kind="stable")[::-1]
    names = np.array([f"digit {label}" for label in y])
    parts = [order[i : i + 50] for i in range(0, len(y), 50)]
    fitted = model(learner="mod").fit([(X[part], names[part]) for part in parts])
    assert list(fitted.classes_) == sorted(set(names))
    assert fitted.score(X, names) > 0.9
    numbers = model(learner="mod").fit([(X[part], y[part]) for part in parts])
    assert np.array_equal(numbers.residuals(X), fitted.residuals(X))
    words = model(learner="mod").fit([(X[part], names[part].astype(object)) for part in parts])
    assert np.array_equal(words.predict(X), fitted.predict(X))


def test_blocks_are_forgotten(data):
    X, y = data
    made, most = [], []

    class Rows(np.ndarray):
        pass

    def fresh():
        for i in range(0, len(y), 50):
            rows = X[i : i + 50].copy().view(Rows)
            made.append(weakref.ref(rows))
            most.append(sum(one() is not None for one in made))
            yield rows, y[i : i + 50]

    model().fit(fresh)
    assert len(most) > 36, "a survey and two passes"
    assert max(most) <= 3


class Broken(Exception):
    pass


@pytest.mark.parametrize("load", [3, 9])
def test_what_the_user_s_code_raises_comes_through(load, blocks):
    loads = []

    def failing():
        for block in blocks:
            loads.append(threading.current_thread())
            if len(loads) == load:
                raise Broken("disk is gone", load)
            yield block

    with pytest.raises(Broken) as raised:
        model().fit(failing)
    assert raised.value.args == ("disk is gone", load) and len(loads) == load
    assert set(loads) == {threading.current_thread()}, (
        "connections belong to the thread of the call"
    )
    with pytest.raises(KeyboardInterrupt):
        model().fit(raising(blocks, KeyboardInterrupt))


def raising(blocks, error):
    def begin():
        yield blocks[0]
        raise error

    return begin


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_may_be_made_by_lkdl(n_jobs, blocks):
    map = lkdl.Nystroem(gamma=1e-3, n_components=30, n_jobs=n_jobs).fit(blocks[0][0])
    mapped = lambda: ((map.transform(X), y) for X, y in blocks)
    fitted = model(n_jobs=n_jobs, map="none", n_landmarks="auto").fit(mapped)
    assert fitted.n_features_in_ == 30


def with_nan(X):
    X = X.copy()
    X[4, 2] = np.nan
    return X


def with_object(y, label):
    y = y.astype(object)
    y[7] = label
    return y


BAD = {
    "NaN": (lambda X, y: (with_nan(X), y), "block 2: .*NaN"),
    "other columns": (lambda X, y: (X[:, :5], y), "block 2: X has 5 features, but .* 64"),
    "one dimension": (lambda X, y: (X[0], y), "block 2: Expected 2D array"),
    "fewer labels": (lambda X, y: (X, y[1:]), r"block 2: has labels of shape \(129,\), but 130"),
    "missing label": (
        lambda X, y: (X, np.where(np.arange(len(y)) == 7, np.nan, y)),
        "block 2: has no label in row 7",
    ),
    "text": (lambda X, y: (X, y.astype(str)), "block 2: has labels of .*U.*, but .* int64"),
    "bytes": (lambda X, y: (X, y.astype(bytes)), "block 2: has labels of .*S.*; make them text"),
    "objects that are bytes": (
        lambda X, y: (X, y.astype(bytes).astype(object)),
        "block 2: has labels of .*S.*; make them text",
    ),
    "None": (lambda X, y: (X, with_object(y, None)), "block 2: has no label in row 7"),
    "a text among numbers": (
        lambda X, y: (X, with_object(y, "seven")),
        "block 2: has labels of several types, int and str; make all of them text",
    ),
    "a number among texts": (
        lambda X, y: (X, with_object(y.astype(str), 7)),
        "block 2: has labels of several types, int and str",
    ),
    "truth values": (lambda X, y: (X, y > 4), "block 2: has labels of bool, but .* int64; make"),
    "objects that are truth values": (
        lambda X, y: (X, (y > 4).astype(object)),
        "block 2: has labels of bool, but .* int64; make",
    ),
    "pairs": (lambda X, y: (X, pd.Series(list(zip(y, y)))), "block 2: has labels of tuple; make"),
    "dates": (lambda X, y: (X, y.astype("M8[D]")), "block 2: has labels of datetime64.*; make"),
    "measurements": (lambda X, y: (X, y + 0.5), "block 2: Unknown label type"),
    "no pair": (lambda X, y: X, r"block 2: is a ndarray, but must be a pair \(X, y\)"),
    "three": (lambda X, y: (X, y, y), "block 2: is a tuple, but must be a pair"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_block_is_named(what, blocks):
    change, said = BAD[what]
    with pytest.raises(LkdlError, match=said):
        model().fit([*blocks[:2], change(*blocks[2]), *blocks[3:]])


def test_types_that_scikit_learn_refuses_are_refused_by_block(blocks):
    X, y = blocks[2]
    for rows, said in (
        (np.full(X.shape, {}), "block 2: float.. argument must be a string or a real number"),
        (pd.DataFrame(X).rename(columns={3: "three"}), "block 2: Feature names are only supported"),
    ):
        with pytest.raises(TypeError, match=said):
            model().fit([*blocks[:2], (rows, y), *blocks[3:]])


KINDS_OF_LABELS = {
    "categories": lambda y: pd.Series(y).astype("category"),
    "categories of texts": lambda y: pd.Categorical([f"digit {label}" for label in y]),
    "nullable": lambda y: pd.Series(y).astype("Int64"),
    "texts of pandas": lambda y: pd.Series(y).astype("string"),
    "objects that are numbers": lambda y: y.astype(object),
    "truth values": lambda y: pd.Series(y > 4).astype("boolean"),
}


@pytest.mark.parametrize("kind", KINDS_OF_LABELS)
def test_labels_may_be_of_any_kind_that_scikit_learn_takes(kind, data, blocks):
    change = KINDS_OF_LABELS[kind]
    fitted = model().fit([(X, change(y)) for X, y in blocks])
    labels = np.asarray(change(data[1])).tolist()
    assert np.mean(fitted.predict(data[0]) == np.array(labels)) > 0.9
    assert fitted.classes_.tolist() == sorted(set(labels))
    assert fitted.classes_.dtype.kind == ("O" if isinstance(labels[0], str) else "ib"["truth" in kind])


def changing(first, then):
    """Blocks that are others from the second pass on; before the first, its head is looked at."""
    passes = []

    def begin():
        passes.append(None)
        return iter(first if len(passes) <= 2 else then)

    return begin


def test_a_source_that_changes_is_an_error(blocks):
    X, y = blocks[1]
    late = (X, np.where(np.arange(len(y)) == 3, 77, y))
    for then, said in [
        (blocks[:-1], "changed since its first pass: it ends after 520 samples in 4 blocks"),
        ([*blocks, blocks[0]], "changed since its first pass: it goes on"),
        ([], "changed since its first pass: it ends after 0 samples"),
        ([blocks[1], blocks[0], *blocks[2:]], "changed since its first pass: values or labels"),
        ([blocks[0], late, *blocks[2:]], "block 1: has the label 77, which was not there"),
    ]:
        with pytest.raises(LkdlError, match=said):
            model().fit(changing(blocks, then))


def test_what_is_no_source_is_refused_with_what_is(data, blocks):
    X, y = data
    for wrong, said in [
        (iter(blocks), "iterator, which can be gone through only once"),
        ((block for block in blocks), "iterator, which can be gone through only once"),
        (17, r"iterable of pairs \(X, y\), not int"),
        (lambda: None, r"iterable of pairs \(X, y\), not NoneType"),
        ([], "no samples"),
        ([(X[:0], y[:0])], "no samples"),
        (X, "y is None"),
        ([(X, np.zeros(len(y)))], "1 class"),
    ]:
        with pytest.raises(LkdlError, match=said):
            model().fit(wrong)
    with pytest.raises(LkdlError, match="online, rls, mod"):
        model(learner="ksvd").fit(blocks)
    with pytest.raises(LkdlError, match="pilot_size is 0"):
        model(pilot_size=0).fit(blocks)
    with pytest.raises(LkdlError, match="block_size is 0"):
        model(block_size=0).fit(X, y)
    with pytest.raises(LkdlError, match="memory"):
        model(memory_limit=100_000).fit(blocks)
    with pytest.raises(LkdlError, match="batch_size|batch"):
        model(learner="mod", batch_size=10).fit(blocks)
    with pytest.raises(OSError):
        model().fit("no such file.npz")


def test_a_kernel_may_be_a_function(data, blocks):
    X, y = data
    fitted = model(kernel=lambda A, B: (1 + A @ B.T) ** 2, prepare="l2").fit(blocks)
    assert fitted.score(X, y) > 0.9
    with pytest.raises(LkdlError, match="name one for files"):
        model(kernel=lambda A, B: A @ B.T).fit("digits")


def test_samples_and_labels_may_be_in_npy_files(data, tmp_path):
    X, y = data
    expected = model(block_size=ROWS).fit(X, y).model_.to_bytes()
    np.save(tmp_path / "y.npy", y)
    for name, rows in (("X", X), ("columns", np.asfortranarray(X)), ("bytes", X.astype(np.uint8))):
        file = tmp_path / f"{name}.npy"
        np.save(file, rows)
        for labels in (y, tmp_path / "y.npy", str(tmp_path / "y.npy")):
            assert model(block_size=ROWS).fit(file, labels).model_.to_bytes() == expected
    np.save(tmp_path / "words.npy", y.astype(str))
    assert model(block_size=ROWS).fit(str(file), tmp_path / "words.npy").classes_[3] == "3"


def test_npy_files_that_hold_no_samples_or_labels_are_refused(data, tmp_path):
    X, y = data
    file, other = tmp_path / "X.npy", tmp_path / "other.npy"
    np.save(file, X)
    np.save(other, y.astype(object))
    with pytest.raises(LkdlError, match=r"other\.npy is no array of numbers or text .*objects"):
        model().fit(file, other)
    other.write_bytes(b"")
    with pytest.raises(LkdlError, match=r"other\.npy is no array"):
        model().fit(other, y)
    with pytest.raises(LkdlError, match="X.npz is no .npy file"):
        model().fit(tmp_path / "X.npz", y)
    with pytest.raises(LkdlError, match="X.npy has no labels; give .* as y"):
        model().fit(file)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model().fit(file, y[:-1])
    with pytest.raises(OSError):
        model().fit(tmp_path / "missing.npy", y)


@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.csc_matrix, sparse.dok_array])
def test_sparse_rows_of_any_kind_are_taken(kind, data, blocks):
    X, y = data
    expected = model().fit(blocks).model_.to_bytes()
    assert model(block_size=ROWS).fit(kind(X), y).model_.to_bytes() == expected
    assert model().fit([(kind(X), y) for X, y in blocks]).model_.to_bytes() == expected


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.filterwarnings("error:X .* feature names")
def test_columns_of_files_have_names(kind, data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"pixel {i}" for i in range(64)])
    file = tmp_path / f"digits.{kind}"
    getattr(frame.assign(label=y), f"to_{kind}")(file, index=False)
    fitted = model().fit(file)
    assert list(fitted.feature_names_in_) == list(frame.columns)
    assert fitted.score(frame, y) > 0.8
    lkdl.save(fitted, tmp_path / "model.lkdl")
    for other in (fitted, lkdl.load(tmp_path / "model.lkdl")):
        with pytest.raises(ValueError, match="must be in the same order"):
            other.predict(frame[frame.columns[::-1]])
    np.savez(tmp_path / "digits.npz", X=X, y=y)
    assert not hasattr(fitted.fit(tmp_path / "digits.npz"), "feature_names_in_")


def test_columns_of_frames_have_names_in_every_block(blocks):
    names = [f"pixel {i}" for i in range(64)]
    frames = [(pd.DataFrame(X, columns=names), y) for X, y in blocks]
    fitted = model().fit(lambda: iter(frames))
    assert list(fitted.feature_names_in_) == names
    reverse = frames[2][0][names[::-1]]
    with pytest.raises(ValueError, match="must be in the same order"):
        fitted.predict(reverse)
    with pytest.raises(LkdlError, match=r"block 2: (.|\n)*must be in the same order"):
        model().fit([*frames[:2], (reverse, frames[2][1]), *frames[3:]])
    numbered = [(pd.DataFrame(X), y) for X, y in blocks]
    assert not hasattr(fitted.fit(numbered), "feature_names_in_")


def test_files_that_are_damaged_or_do_not_fit_are_refused(data, tmp_path):
    X, y = data
    whole, flipped, unlabelled = (tmp_path / f"{name}.npz" for name in ("whole", "flipped", "nan"))
    np.savez(whole, X=X, y=y)
    damaged = bytearray(whole.read_bytes())
    damaged[20_000] ^= 64
    flipped.write_bytes(damaged)
    with pytest.raises(LkdlError, match=r"flipped\.npz: .*checksum does not match"):
        model().fit(flipped)
    np.savez(unlabelled, X=X, y=np.where(np.arange(len(y)) == 500, np.nan, y))
    with pytest.raises(LkdlError, match="label is NaN, but must be finite"):
        model().fit(unlabelled)
    names = [f"pixel{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    for name, columns in (("first", names), ("second", names[::-1])):
        frame[columns].assign(label=y).to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / "first.csv", tmp_path / "second.csv"]
    with pytest.raises(LkdlError, match='feature 0 is "pixel63", where the first file has "pixel0"'):
        model().fit(files)
    with pytest.raises(LkdlError, match="block_size is 4611686018427387904, but must be between"):
        model(block_size=2**62).fit(whole)
