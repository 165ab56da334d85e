"""Dask: the same model on any number of workers, after the loss of one, and as on one machine."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
from functools import reduce
from pathlib import Path

import lkdl
import numpy as np
import pandas as pd
import pytest
from lkdl import _arguments, _core
from scipy import sparse
from sklearn.base import clone

da = pytest.importorskip("dask.array", reason="Dask is not installed: pip install 'lkdl[dask]'")
distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
dd = pytest.importorskip("dask.dataframe", reason="Dask's data frames are not installed")
cloudpickle = pytest.importorskip("cloudpickle")

import dask
import lkdl.dask
from lkdl.dask._blocks import Blocks, total
from lkdl.dask._pilot import draw_pilot

# workers cannot import the tests
cloudpickle.register_pickle_by_value(sys.modules[__name__])

ROWS = 150
NYSTROEM = {"gamma": 1e-3, "n_components": 40, "rank": 25, "map": "optimal", "centered": True}


@pytest.fixture(scope="module")
def data(digits):
    """Images as a Dask array of 12 blocks, their labels, and both in memory."""
    X, y = np.ascontiguousarray(digits[0]), digits[1]
    return da.from_array(X, chunks=(ROWS, -1)), da.from_array(y, chunks=ROWS), X, y


def estimators():
    return {
        "nystroem": lkdl.dask.Nystroem(**NYSTROEM, pilot_size=300),
        "mod": lkdl.dask.MOD(30, sparsity=3, max_iter=4, tol=0.0, pilot_size=300),
        "online": lkdl.dask.OnlineDictionary(30, sparsity=3, max_iter=2, pilot_size=300),
        "classifier": lkdl.dask.LKDLClassifier(
            map="nystroem", n_landmarks=60, n_atoms=15, sparsity=4, max_iter=3, pilot_size=400
        ),
    }


def bits(estimator):
    """All that was learned."""
    if hasattr(estimator, "model_"):
        return estimator.model_.to_bytes()
    if hasattr(estimator, "normalization_"):
        parts = estimator.components_, estimator.normalization_, estimator._mean
        return b"".join(part.tobytes() for part in parts)
    return estimator.components_.tobytes() + estimator.error_.tobytes()


def cluster(n_workers, threads_per_worker=1):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=threads_per_worker,
        processes=True,
        dashboard_address=None,
        silence_logs="CRITICAL",
    )


@pytest.fixture(scope="module")
def without_cluster(data):
    """What every estimator learns on the threads of one process."""
    X, y, _, _ = data
    return {name: bits(estimator.fit(X, y)) for name, estimator in estimators().items()}


@pytest.mark.parametrize(("n_workers", "n_threads"), [(1, 1), (2, 1), (3, 2)])
def test_models_are_byte_identical_on_any_number_of_workers(
    n_workers, n_threads, data, without_cluster
):
    X, y, memory, _ = data
    with cluster(n_workers, n_threads) as local, distributed.Client(local) as client:
        assert len(client.scheduler_info()["workers"]) == n_workers
        for name, estimator in estimators().items():
            assert bits(estimator.fit(X, y)) == without_cluster[name], name
            if hasattr(estimator, "transform"):
                here = estimator.to_local().transform(memory)
                assert np.array_equal(estimator.transform(X).compute(), here), name
        labels = estimator.predict(X)
        assert isinstance(labels, da.Array)
        assert np.array_equal(labels.compute(), estimator.to_local().predict(memory))


class Deadly:
    """A block that ends the process that loads it, once, when it is loaded for the given time."""

    def __init__(self, folder, block, load):
        self.folder, self.block, self.load = str(folder), block, load

    def __call__(self, X, block_id=None):
        if block_id and block_id[0] == self.block:
            loads = len(list(Path(self.folder).iterdir()))
            Path(self.folder, str(loads)).touch()
            if loads + 1 == self.load:
                os.kill(os.getpid(), signal.SIGKILL)
        return X


@pytest.mark.parametrize(("name", "load"), [("nystroem", 2), ("mod", 3), ("classifier", 2)])
def test_a_worker_that_dies_amid_a_fit_changes_nothing(name, load, data, without_cluster, tmp_path):
    X, y, _, _ = data
    deadly = X.map_blocks(Deadly(tmp_path, 7, load), dtype=X.dtype)
    with cluster(2) as local, distributed.Client(local):
        before = {worker.pid for worker in local.workers.values()}
        fitted = estimators()[name].fit(deadly, y)
        assert bits(fitted) == without_cluster[name]
        assert len(list(tmp_path.iterdir())) > load, "it was loaded again"
        assert before != {worker.pid for worker in local.workers.values()}, "nobody died"


def polynomial(A, B):
    return (1 + A @ B.T) ** 2


def of_two_samples(a, b):
    return float(1 + a @ b) ** 2


def test_a_kernel_that_is_a_function_travels_to_workers(data):
    X, y, memory, labels = data
    said = {"map": "nystroem", "prepare": "l2", "n_landmarks": 30, "n_atoms": 10, "sparsity": 3}
    held = threading.Lock()
    with cluster(2) as local, distributed.Client(local):
        for kernel in (polynomial, lambda A, B: (1 + A @ B.T) ** 3):
            there = lkdl.dask.LKDLClassifier(**said, kernel=kernel, max_iter=2).fit(X, y)
            found = there.predict(X).compute()
            assert np.array_equal(found, there.to_local().predict(memory))
            assert np.mean(found == labels) > 0.8
        few = X[:300].rechunk((100, -1))
        map = lkdl.dask.Nystroem(of_two_samples, n_components=10, rank=5, map="optimal").fit(few)
        assert map.transform(few).compute().shape == (300, 5)
        bound = lambda A, B: (held, polynomial(A, B))[1]
        for estimator in (lkdl.dask.LKDLClassifier(kernel=bound), lkdl.dask.Nystroem(bound)):
            with pytest.raises(lkdl.LkdlError, match="cannot be sent .*lock.*; define the function"):
                estimator.fit(X, y)


def test_a_client_may_be_given_and_stays_at_home(data, without_cluster):
    X = data[0]
    with cluster(1) as local, distributed.Client(local, set_as_default=False) as client:
        estimator = estimators()["mod"]
        estimator.client = client
        assert bits(estimator.fit(X)) == without_cluster["mod"]
        copy = pickle.loads(pickle.dumps(estimator))
        assert copy.client is None and bits(copy) == bits(estimator)
        assert clone(estimator).get_params() == estimator.get_params()
        # a task has the threads of its worker, and they are not all cores
        assert client.submit(_arguments.threads, None, pure=False).result() == 1
        assert client.submit(_arguments.threads, 3, pure=False).result() == 3
    assert _arguments.threads(None) == 0


def test_mod_is_that_of_one_machine(data):
    X, _, memory, _ = data
    atoms = memory[::40]
    arguments = {"sparsity": 3, "max_iter": 5, "tol": 0.0, "dict_init": atoms}
    here, there = lkdl.MOD(**arguments).fit(memory), lkdl.dask.MOD(**arguments).fit(X)
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-8)
    np.testing.assert_allclose(there.error_, here.error_, rtol=1e-8)
    assert there.score(X) == pytest.approx(here.score(memory))
    single = lkdl.dask.MOD(**arguments).fit(X.astype(np.float32))
    assert single.components_.dtype == single.transform(X).dtype == np.float32
    np.testing.assert_allclose(single.components_, here.components_, atol=1e-2)


@pytest.mark.parametrize("algorithm", ["online", "rls"])
def test_online_learning_is_that_of_the_same_blocks(algorithm, data):
    X, _, memory, _ = data
    arguments = {"sparsity": 3, "dict_init": memory[::60], "algorithm": algorithm}
    here = lkdl.OnlineDictionary(**arguments)
    for first in range(0, len(memory), ROWS):
        here.partial_fit(memory[first : first + ROWS])
    there = lkdl.dask.OnlineDictionary(**arguments).partial_fit(X)
    assert np.array_equal(there.components_, here.components_)
    assert there.n_samples_seen_ == here.n_samples_seen_ == len(memory)
    once = lkdl.dask.OnlineDictionary(**arguments, max_iter=1).fit(X)
    assert np.array_equal(once.components_, here.components_)
    assert np.array_equal(there.partial_fit(X).components_, _fed_again(here, memory))


def _fed_again(learner, memory):
    for first in range(0, len(memory), ROWS):
        learner.partial_fit(memory[first : first + ROWS])
    return learner.components_


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_a_map_of_all_samples_is_that_of_one_machine(kernel, data):
    X, _, memory, _ = data
    there = lkdl.dask.Nystroem(kernel, **NYSTROEM, pilot_size=300).fit(X)
    here = lkdl.Nystroem(kernel, **NYSTROEM, landmarks=there.components_).fit(memory)
    F, G = there.transform(X).compute(), here.transform(memory)
    scale = np.abs(G @ G.T).max()
    np.testing.assert_allclose(F @ F.T / scale, G @ G.T / scale, atol=1e-8)
    assert np.abs(F.mean(axis=0)).max() < 1e-8 * np.abs(F).max()
    plain = lkdl.Nystroem(kernel, **{**NYSTROEM, "centered": False}, landmarks=there.components_)
    missed = plain.fit(memory).residual_energy(memory).sum()
    whole = sum(lkdl.kernel(x[None], x[None], kernel, gamma=1e-3)[0, 0] for x in memory)
    assert there.approximation_error_ == pytest.approx(missed / whole)
    assert isinstance(there.to_local(), lkdl.Nystroem) and not hasattr(there.to_local(), "client")
    np.testing.assert_array_equal(there.to_local().transform(memory), there.transform(memory))
    np.testing.assert_array_equal(clone(there).fit_transform(X).compute(), F)
    energy = there.residual_energy(X)
    np.testing.assert_allclose(energy.compute(), there.to_local().residual_energy(memory))


def test_landmarks_say_which_samples_they_are(data):
    X, _, memory, _ = data
    there = lkdl.dask.Nystroem(gamma=1e-3, sampler="uniform", n_components=20, pilot_size=100).fit(
        X
    )
    assert np.array_equal(memory[there.component_indices_], there.components_)


def test_methods_of_a_classifier_are_lazy_and_those_of_one_machine(data):
    X, y, memory, labels = data
    there = estimators()["classifier"].fit(X, y)
    assert there.score(X, y) > 0.9
    assert there.score(X, y) == pytest.approx(there.to_local().score(memory, labels))
    for method in ("residuals", "margins", "decision_function", "virtual_samples"):
        lazy, eager = getattr(there, method)(X), getattr(there.to_local(), method)(memory)
        assert isinstance(lazy, da.Array) and lazy.shape == eager.shape
        np.testing.assert_array_equal(lazy.compute(), eager)
    again = clone(there).set_params(persist=False).fit(X, y)
    assert bits(again) == bits(there)
    with pytest.raises(lkdl.LkdlError, match='learner is "ksvd", but must be mod'):
        clone(there).set_params(learner="ksvd").fit(X, y)


@pytest.mark.filterwarnings("error:X does not have valid feature names")
def test_data_frames_have_blocks_of_unknown_size(data):
    _, _, memory, labels = data
    names = [f"pixel{i}" for i in range(memory.shape[1])]
    frame = pd.DataFrame(memory, columns=names).assign(label=[f"digit {i}" for i in labels])
    frame = dd.from_pandas(frame, npartitions=6)
    model = estimators()["classifier"].fit(frame[names], frame["label"])
    assert list(model.feature_names_in_) == names and model.classes_[3] == "digit 3"
    found = model.predict(frame[names])
    assert np.isnan(found.shape[0]) and model.score(frame[names], frame["label"]) > 0.9
    assert np.array_equal(found.compute(), model.to_local().predict(frame[names].compute()))
    for method in (model.predict, lambda X: model.score(X, frame["label"])):
        with pytest.raises(lkdl.LkdlError, match="columns"):
            method(frame[names[::-1]])
    with pytest.raises(lkdl.LkdlError, match="2 blocks, but X has 6"):
        model.fit(frame[names], frame["label"].repartition(npartitions=2))
    with pytest.raises(lkdl.LkdlError, match="unknown size"):
        model.fit(frame[names], labels)


def test_the_order_of_sums_is_the_engine_s():
    parts = [np.sin(0.7 * i) * 10.0 ** (i % 7 - 3) for i in range(100)]

    def groups(count, size):
        cut = [parts[first : min(first + size, count)] for first in range(0, count, size)]
        return reduce(add, [reduce(add, group) for group in cut])

    add = lambda a, b: a + b
    for count, size in [(1, 1), (2, 2), (64, 8), (65, 9), (100, 10)]:
        tasks = [dask.delayed(part) for part in parts[:count]]
        assert total(add, tasks).compute() == groups(count, size)
    assert groups(100, 10) != reduce(add, parts)


def by_definition(labels, size, seed, per_class=50):
    """Samples of the smallest keys, and so many of every class."""
    order = np.argsort(_core.survey_keys(seed, 0, len(labels)), kind="stable")
    of_class = [order[labels[order] == label][:per_class] for label in np.unique(labels)]
    return np.unique(np.concatenate([order[:size], *of_class]))


def test_the_pilot_are_the_samples_of_the_smallest_keys_whatever_the_blocks(data):
    X, _, memory, labels = data
    rare = np.where(np.arange(len(labels)) % 600 == 7, 77, labels)
    for size, seed in [(1, 0), (200, 3), (200, 4), (5000, 0)]:
        for classes in (labels, rare, np.array([f"digit {label}" for label in rare], dtype=object)):
            expected = by_definition(classes, size, seed)
            for rows in (150, (1, 0, 796, 1000), 5000):
                pilot = draw_pilot(Blocks(X.rechunk((rows, -1)), classes), size, seed)
                np.testing.assert_array_equal(pilot.indices, expected)
                np.testing.assert_array_equal(pilot.samples, memory[expected])
                np.testing.assert_array_equal(pilot.labels, classes[expected])
                found = np.unique(classes, return_counts=True)
                np.testing.assert_array_equal(pilot.classes, found[0])
                np.testing.assert_array_equal(pilot.counts, found[1])
    pilot = draw_pilot(Blocks(X), 200, 3)
    np.testing.assert_array_equal(pilot.indices, by_definition(0 * labels, 200, 3, 0))
    assert pilot.labels is None and pilot.counts.tolist() == [1797]
    with pytest.raises(lkdl.LkdlError, match="pilot_size is 0"):
        draw_pilot(Blocks(X), 0, 3)
    mixed = labels.astype(object)
    mixed[300] = "three"
    with pytest.raises(lkdl.LkdlError, match="block 2: has labels of several types"):
        draw_pilot(Blocks(X, mixed), 10, 3)


def broken(X, number, change):
    """The array with one block changed, which its graph does not say."""
    where = lambda x, block_id: change(x) if block_id[0] == number else x
    return X.map_blocks(lambda x, block_id: where(x, block_id), meta=np.empty((0, 0), X.dtype))


def with_nan(x):
    x = x.copy()
    x[4, 2] = np.nan
    return x


BROKEN = {
    "NaN": (with_nan, r"block 7: holds nan in row 4, column 2"),
    "other columns": (lambda x: x[:, :5], r"block 7: has shape \(150, 5\), but .* 64 columns"),
    "another type": (lambda x: x.astype(np.float32), "block 7: is of float32, .* of float64"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_bad_block_is_named(what, data):
    X, y, _, _ = data
    change, said = BROKEN[what]
    bad, fitted = broken(X, 7, change), estimators()
    for name, estimator in estimators().items():
        with pytest.raises(lkdl.LkdlError, match=said):
            estimator.fit(bad, y)
        fitted[name].fit(X, y)
    with pytest.raises(lkdl.LkdlError, match=said):
        fitted["classifier"].predict(bad).compute()
    with pytest.raises(lkdl.LkdlError, match=said):
        fitted["nystroem"].transform(bad).compute()


def test_a_bad_block_is_named_by_a_cluster_too(data):
    X, y, _, _ = data
    with cluster(2) as local, distributed.Client(local):
        for estimator in estimators().values():
            with pytest.raises(lkdl.LkdlError, match="block 7: holds nan"):
                estimator.fit(broken(X, 7, with_nan), y)


def test_labels_that_are_missing_are_named(data):
    X, y, _, labels = data
    model = estimators()["classifier"]
    numbers = labels.astype(float)
    numbers[ROWS * 3 + 5] = np.nan
    with pytest.raises(lkdl.LkdlError, match="block 3: has no label in row 5"):
        model.fit(X, da.from_array(numbers, chunks=500))
    for gap in (None, np.nan, pd.NA):
        words = labels.astype(str).astype(object)
        words[7] = gap
        with pytest.raises(lkdl.LkdlError, match="block 0: has no label in row 7"):
            model.fit(X, words)
    with pytest.raises(lkdl.LkdlError, match="y is missing"):
        model.fit(X, None)
    with pytest.raises(lkdl.LkdlError, match="1790 labels, but X has 1797"):
        model.fit(X, y[:1790])
    with pytest.raises(lkdl.LkdlError, match="shape"):
        model.fit(X, labels[:-1])
    with pytest.raises(lkdl.LkdlError, match="1 class"):
        model.fit(X, np.zeros(len(labels)))
    fewer = X.map_blocks(lambda x: x[: len(x) - 1], chunks=((np.nan,) * 12, (64,)), dtype=X.dtype)
    with pytest.raises(lkdl.LkdlError, match="block .*: has labels of shape"):
        model.fit(fewer, y)


def differing(labels, number, change):
    """Blocks of labels, one of which is of another type, which their graph does not say."""
    parts = [labels[first : first + ROWS] for first in range(0, len(labels), ROWS)]
    parts[number] = change(parts[number])
    delayed = [dask.delayed(part, pure=False) for part in parts]
    arrays = [da.from_delayed(d, p.shape, labels.dtype) for d, p in zip(delayed, parts, strict=True)]
    return da.concatenate(arrays)


def with_text(labels):
    return np.array(["three", *labels[1:].tolist()], dtype=object)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda y: y.astype(str), "block 7: has labels of <U.*, but those before are of int64; make"),
        (lambda y: y > 4, "block 7: has labels of bool, but those before are of int64; make"),
        (lambda y: y.astype(bytes), "block 7: has labels of .S.*; make them text"),
        (with_text, "block 7: has labels of several types, int and str; make all of them text"),
    ],
)
def test_labels_of_another_type_are_refused_by_block(change, said, data):
    X, _, _, labels = data
    with pytest.raises(lkdl.LkdlError, match=said):
        estimators()["classifier"].fit(X, differing(labels, 7, change))


def test_labels_may_be_categories(data):
    X, y, memory, labels = data
    expected = estimators()["classifier"].fit(X, y)
    for categories in (pd.Series(labels), pd.Series([f"digit {label}" for label in labels])):
        series = dd.from_pandas(categories.astype("category"), chunksize=ROWS)
        model = estimators()["classifier"].fit(X, series)
        assert model.classes_.tolist() == sorted(set(categories.tolist()))
        assert np.array_equal(model.residuals(memory), expected.residuals(memory))
        assert model.score(X, series) == expected.score(X, y)
    with pytest.raises(lkdl.LkdlError, match="one dimension"):
        model.fit(X, series.to_frame())


def test_collections_that_are_none_are_refused(data):
    X, _, memory, _ = data
    for wrong, said in [(memory, "Dask array"), (X[0], "two dimensions"), (X[:0], "no samples")]:
        with pytest.raises(lkdl.LkdlError, match=said):
            lkdl.dask.MOD(10, sparsity=2).fit(wrong)
    uncounted = X.map_blocks(lambda x: x[:, :5], chunks=(X.chunks[0], (np.nan,)), dtype=X.dtype)
    with pytest.raises(lkdl.LkdlError, match="unknown number of columns; X.compute_chunk_sizes"):
        lkdl.dask.MOD(10, sparsity=2).fit(uncounted)
    with pytest.raises(lkdl.LkdlError, match="precomputed"):
        lkdl.dask.Nystroem("precomputed").fit(X)
    with pytest.raises(lkdl.LkdlError, match="landmarks="):
        lkdl.dask.Nystroem(sampler=np.arange(5)).fit(X)
    with pytest.raises(lkdl.LkdlError, match="sparse_output"):
        estimators()["mod"].set_params(sparse_output=True).fit(X).transform(X)
    with pytest.raises(lkdl.LkdlError, match="30 features"):
        estimators()["mod"].fit(X).transform(X[:, :30])


def test_blocks_without_samples_count_for_nothing(data):
    X, y, memory, _ = data
    holes = da.concatenate([X[:0], X[:300], X[:0], X[300:], X[:0]])
    arguments = {"sparsity": 3, "max_iter": 3, "tol": 0.0, "dict_init": memory[::60]}
    whole, holed = (lkdl.dask.MOD(**arguments).fit(array) for array in (X, holes))
    np.testing.assert_allclose(holed.components_, whole.components_, atol=1e-8)
    model = estimators()["classifier"].fit(holes, y)
    np.testing.assert_array_equal(model.predict(holes).compute(), model.predict(memory))
    assert lkdl.dask.Nystroem(**NYSTROEM).fit(holes).transform(holes).compute().shape == (1797, 25)
    online = lkdl.dask.OnlineDictionary(20, sparsity=2, max_iter=1)
    assert online.fit(holes).n_samples_seen_ == 1797


def test_online_learning_goes_on_in_its_precision_and_with_its_atoms(data):
    X, _, memory, _ = data
    arguments = {"sparsity": 2, "pilot_size": 200}
    online = lkdl.dask.OnlineDictionary(20, **arguments).partial_fit(X[:300])
    assert online.partial_fit(X[300:].astype(np.float32)).components_.dtype == np.float64
    assert online.n_samples_seen_ == len(memory)
    # fewer samples than atoms: more will come
    there = lkdl.dask.OnlineDictionary(20, **arguments).partial_fit(X[:5]).partial_fit(X[5:])
    here = lkdl.OnlineDictionary(20, sparsity=2).partial_fit(memory[:5]).partial_fit(memory[5:])
    assert np.array_equal(there.components_, here.components_)
    with pytest.raises(lkdl.LkdlError, match="total"):
        arguments.update(algorithm="rls", forgetting=0.9)
        lkdl.dask.OnlineDictionary(20, **arguments).partial_fit(X)


def test_online_learning_refuses_columns_in_another_order(data):
    _, _, memory, _ = data
    frame = pd.DataFrame(memory, columns=[f"pixel{i}" for i in range(memory.shape[1])])
    frame = dd.from_pandas(frame, npartitions=3)
    online = lkdl.dask.OnlineDictionary(20, sparsity=2).partial_fit(frame)
    before = online.components_.copy()
    with pytest.raises(lkdl.LkdlError, match="columns of X are not those of the fit"):
        online.partial_fit(frame[frame.columns[::-1]])
    assert np.array_equal(online.components_, before)


def test_a_pilot_has_a_sample_for_every_atom_and_landmark(data):
    X = data[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert len(lkdl.dask.MOD(90, sparsity=2, max_iter=1, pilot_size=50).fit(X).components_) == 90
        map = lkdl.dask.Nystroem(gamma=1e-3, n_components=90, pilot_size=50).fit(X)
    assert len(map.components_) == 90


def test_atoms_to_start_from_are_checked_as_on_one_machine(data):
    X, _, memory, _ = data
    given = {"dict_init": memory[:5], "sparsity": 2}
    with pytest.raises(lkdl.LkdlError, match="tol is nan, but must be a finite number >= 0"):
        lkdl.dask.MOD(**given, tol=np.nan).fit(X)
    with pytest.raises(lkdl.LkdlError, match="tol is -1, but must be a finite number >= 0"):
        lkdl.OnlineDictionary(**given, tol=-1).fit(memory)
    given["dict_init"] = np.vstack([memory[:5], np.zeros(64)])
    with pytest.raises(lkdl.LkdlError, match="an initial atom is all zero"):
        lkdl.dask.MOD(**given).fit(X)


def test_columns_in_several_blocks_and_integers_are_taken(data):
    X = data[0]
    model = estimators()["mod"].fit(X)
    assert bits(estimators()["mod"].fit(X.rechunk((ROWS, 10)))) == bits(model)
    assert bits(estimators()["mod"].fit(X.astype(np.int32))) == bits(model)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_array, sparse.csc_matrix])
def test_blocks_may_be_sparse(kind, data, without_cluster):
    X, y, memory, _ = data
    rows = X.map_blocks(kind)
    model = estimators()["classifier"].fit(rows, y)
    assert bits(model) == without_cluster["classifier"]
    assert np.array_equal(model.predict(rows).compute(), model.predict(memory))


def frames(memory, change):
    names = [f"pixel{i}" for i in range(memory.shape[1])]
    return dd.from_pandas(change(pd.DataFrame(memory, columns=names)), npartitions=6)


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "float64[pyarrow]"])
def test_columns_may_be_nullable(dtype, data):
    memory = data[2]
    expected = estimators()["mod"].fit(frames(memory, lambda frame: frame))
    model = estimators()["mod"].fit(frames(memory, lambda frame: frame.astype(dtype)))
    assert bits(model) == bits(expected)
    assert np.array_equal(model.feature_names_in_, expected.feature_names_in_)


def with_missing(frame):
    frame = frame.astype("Float64")
    frame.iloc[650, 3] = pd.NA
    return frame


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (with_missing, "block 2: holds <NA> in row 50, column 3; fill, drop or encode"),
        (lambda frame: frame.assign(pixel5="dark"), "block .: holds 'dark' in row 0, column 5; fill"),
    ],
)
def test_columns_that_are_no_numbers_are_named(change, said, data):
    collection = frames(data[2], change)
    for name in ("mod", "nystroem"):
        with pytest.raises(lkdl.LkdlError, match=said):
            estimators()[name].fit(collection)
    with pytest.raises(lkdl.LkdlError, match=said):
        estimators()["mod"].fit(frames(data[2], lambda frame: frame)).transform(collection).compute()


def test_only_texts_are_names_of_columns(data):
    numbered = frames(data[2], lambda frame: frame.set_axis(range(64), axis=1))
    assert not hasattr(estimators()["mod"].fit(numbered), "feature_names_in_")
    with pytest.raises(lkdl.LkdlError, match="complex128, but samples must be real"):
        estimators()["mod"].fit(data[0].astype(complex))


def test_results_stay_lazy_and_scores_are_of_one_kind(data):
    X, y, memory, _ = data
    map = lkdl.dask.Nystroem(gamma=1e-3, n_components=10, pilot_size=100).fit(X)
    assert isinstance(map.set_output(transform="pandas").transform(X), da.Array)
    assert isinstance(map.transform(memory), pd.DataFrame)
    model = estimators()["classifier"].fit(X, y)
    with pytest.raises(lkdl.LkdlError, match="has labels of <U.*, but those before are of int64"):
        model.score(X, y.astype(str))


@pytest.mark.parametrize("name", lkdl.dask.__all__)
def test_parameters_are_documented_as_they_are_here(name):
    kind = getattr(lkdl.dask, name)
    for parameter in kind().get_params():
        assert parameter in kind.__doc__, parameter
    assert "client : distributed.Client" in kind.__doc__ and "lkdl.dask." in kind.__doc__
    for elsewhere in ("precomputed", "random order", "first block", "None`` and -1 are", "evenly"):
        assert elsewhere not in kind.__doc__, elsewhere


def test_without_dask_the_import_says_what_to_install():
    code = "import sys; sys.modules['dask'] = None; import lkdl; import lkdl.dask"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode != 0 and "pip install 'lkdl[dask]'" in done.stderr
