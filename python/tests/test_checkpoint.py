"""Fits that are killed go on from their checkpoint to the same bits; drift is watched, and answered."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import lkdl
import numpy as np
import pytest
from lkdl import LkdlError, StreamLKDLClassifier

ROWS = 60
SAID = {
    "map": "nystroem",
    "n_landmarks": 40,
    "n_atoms": 14,
    "sparsity": 3,
    "max_iter": 2,
    "pilot_size": 250,
    "random_state": 3,
}


@pytest.fixture(scope="module")
def data(digits):
    return np.ascontiguousarray(digits[0][:600]), np.array([f"digit {y}" for y in digits[1][:600]])


def blocks(X, y, stop=None):
    """Blocks; the pass and block that `stop` names end in an exception."""
    passes = []

    def begin():
        passes.append(None)
        for i in range(0, len(y), ROWS):
            if stop == (len(passes) - 2, i // ROWS):
                raise InterruptedError("stopped here")
            yield X[i : i + ROWS], y[i : i + ROWS]

    return begin


@pytest.mark.parametrize("learner", ["online", "rls", "mod"])
@pytest.mark.parametrize("stop", [(1, 0), (1, 1), (1, 9), (2, 0), (2, 5)])
def test_a_fit_that_was_stopped_ends_in_the_same_bits(learner, stop, data, tmp_path):
    path = tmp_path / "fit.ckpt"
    expected = StreamLKDLClassifier(learner=learner, **SAID).fit(blocks(*data))
    model = StreamLKDLClassifier(
        learner=learner, **SAID, checkpoint=path, checkpoint_every=1, resume=True
    )
    with pytest.raises(InterruptedError):
        model.fit(blocks(*data, stop))
    assert path.exists()
    model = StreamLKDLClassifier(**model.get_params())
    assert model.fit(blocks(*data)).model_.to_bytes() == expected.model_.to_bytes()
    assert list(model.classes_) == list(expected.classes_) and model.classes_.dtype.kind == "U"
    assert model.choice_ == expected.choice_ and model.warnings_ == expected.warnings_
    assert (model.drift_, model.highest_drift_) == (expected.drift_, expected.highest_drift_)
    assert not path.exists(), "a fit that has ended leaves no checkpoint"


@pytest.mark.parametrize("kind", [np.int32, np.float64, bool, str, object])
def test_labels_keep_their_type(kind, digits, tmp_path):
    X, y = digits[0][:600], digits[1][:600] % 2
    y = y.astype(str).astype(object) if kind is object else y.astype(kind)
    model = StreamLKDLClassifier(
        **SAID, checkpoint=tmp_path / "fit.ckpt", checkpoint_every=1, resume=True
    )
    expected = StreamLKDLClassifier(**SAID).fit(blocks(X, y))
    with pytest.raises(InterruptedError):
        model.fit(blocks(X, y, (1, 4)))
    model.fit(blocks(X, y))
    assert model.classes_.dtype == expected.classes_.dtype
    assert np.array_equal(model.predict(X), expected.predict(X))


PROGRAM = textwrap.dedent(
    """
    import sys, time
    import lkdl, numpy as np
    path, out, learner, files = *sys.argv[1:4], sys.argv[4:]
    data = np.load(files[0])
    X, y = data["X"], data["y"]

    def blocks():
        for i in range(0, len(y), 60):
            time.sleep(0.01)  # a slow disk
            yield X[i : i + 60], y[i : i + 60]

    model = lkdl.StreamLKDLClassifier(
        learner=learner, map="nystroem", n_landmarks=40, n_atoms=14, sparsity=3, max_iter=2,
        pilot_size=250, random_state=3, block_size=60, grow=5, checkpoint=path, checkpoint_every=1,
        resume=True,
    )
    print("ready", flush=True)
    lkdl.save(model.fit(files if "files" in path else blocks), out)
    """
)


@pytest.mark.parametrize("source", ["blocks", "files"])
def test_a_fit_that_is_killed_at_any_moment_ends_in_the_same_bytes(source, digits, tmp_path):
    np.savez(tmp_path / "data.npz", X=digits[0][:1500], y=digits[1][:1500])
    path, out = tmp_path / f"{source}.ckpt", tmp_path / "model.safetensors"

    def start(learner):
        words = [sys.executable, "-c", PROGRAM, path, out, learner, tmp_path / "data.npz"]
        environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(lkdl.__file__))}
        child = subprocess.Popen(
            list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment,
        )  # fmt: skip
        assert child.stdout.readline() == "ready\n", child.stderr.read()
        return child, time.monotonic()

    resumed = 0
    for learner in ("online", "mod"):
        child, begun = start(learner)
        assert child.wait() == 0, child.stderr.read()
        whole, expected = time.monotonic() - begun, out.read_bytes()
        assert not path.exists()
        for part in (0.4, 0.8):
            for _ in range(2):  # killed twice in one fit
                child, _ = start(learner)
                time.sleep(part * whole)
                child.send_signal(signal.SIGKILL)
                child.communicate()
                resumed += path.exists()
                part /= 2
            out.unlink(missing_ok=True)
            child, _ = start(learner)
            assert child.wait() == 0, child.stderr.read()
            assert out.read_bytes() == expected and not path.exists()
    assert resumed, "no run was killed while it learned"


def test_a_checkpoint_of_another_run_or_with_damage_is_refused(data, tmp_path):
    path = tmp_path / "fit.ckpt"
    kept = {**SAID, "checkpoint": path, "checkpoint_every": 1, "resume": True}
    with pytest.raises(InterruptedError):
        StreamLKDLClassifier(**kept).fit(blocks(*data, (2, 3)))
    whole = path.read_bytes()
    X, y = data
    for change, samples, said in [
        ({"random_state": 4}, X, "random_state was 3 and is 4"),
        ({"pilot_size": 251}, X, "pilot_size was 250 and is 251"),
        ({"tol": 0.1}, X, "tol was not given and is 0.1"),
        ({"learner": "mod"}, X, "learner was online and is mod"),
        ({"memory_limit": 10**9}, X, "memory_limit was not given and is 1000000000"),
        ({"grow": 3}, X, "grow was 0 and is 3"),
        ({"drift_limit": 2.5}, X, "drift_limit was 2 and is 2.5"),
        ({}, X[:, :60], "the data was blocks of samples of 64 features"),
        ({}, X.astype(np.float32), "the precision was f64 and is f32"),
    ]:
        with pytest.raises(LkdlError, match=f"the checkpoint is of another run: {said}"):
            StreamLKDLClassifier(**{**kept, **change}).fit(blocks(samples, y))
    with pytest.raises(LkdlError, match="the checkpoint is of another run: the data"):
        StreamLKDLClassifier(**kept, block_size=ROWS).fit(X, y)
    with pytest.raises(LkdlError, match="changed since its first pass"):
        StreamLKDLClassifier(**kept).fit(blocks(X[::-1].copy(), y[::-1]))
    path.write_bytes(whole)
    with pytest.raises(LkdlError, match=r"fit.ckpt is there already; resume=True"):
        StreamLKDLClassifier(**{**kept, "resume": False}).fit(blocks(*data))
    for place in (5, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(LkdlError, match="checkpoint"):
            StreamLKDLClassifier(**kept).fit(blocks(*data))
    path.write_bytes(b"no checkpoint")
    with pytest.raises(LkdlError, match="not a checkpoint of lkdl"):
        StreamLKDLClassifier(**kept).fit(blocks(*data))
    path.write_bytes(whole)
    assert StreamLKDLClassifier(**kept).fit(blocks(*data)).n_iter_ == 2


def test_arguments_of_checkpoints_are_checked_before_the_work(data, tmp_path):
    path = tmp_path / "fit.ckpt"
    for arguments, error, said in [
        ({"resume": True}, LkdlError, "set checkpoint"),
        ({"checkpoint_every": 3}, LkdlError, "set checkpoint"),
        ({"checkpoint": path, "checkpoint_every": "often"}, LkdlError, "checkpoint_every is"),
        ({"checkpoint": path, "checkpoint_every": 0}, LkdlError, "checkpoint_every is"),
        ({"checkpoint": tmp_path / "no" / "fit"}, OSError, "no"),
        ({"checkpoint": tmp_path}, OSError, "irectory"),
        ({"checkpoint": path, "kernel": lambda A, B: A @ B.T}, LkdlError, "function"),
        ({"grow": -1}, LkdlError, "grow is -1"),
        ({"grow": 5, "map": "none", "n_landmarks": "auto"}, LkdlError, "grow does not go with map"),
        ({"drift_limit": 1.0}, LkdlError, "drift limit is 1"),
    ]:
        with pytest.raises(error, match=said):
            StreamLKDLClassifier(**{**SAID, **arguments}).fit(blocks(*data))
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_lies_elsewhere_is_drift_and_landmarks_grow_into_it():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 12)), rng.integers(2, size=6000)
    X[:, 2:], X[-100:] = 0, rng.normal(size=(100, 12))  # a plane, and at the end what is not in it
    X[y == 0, 0] += 3
    said = {"map": "nystroem", "kernel": "polynomial", "degree": 2, "offset": 1, "prepare": "none"}
    said |= {"sampler": "uniform", "n_landmarks": 12, "pilot_size": 500, "block_size": 50}
    said |= {"n_atoms": 6, "sparsity": 2, "max_iter": 1}
    still, grown = (StreamLKDLClassifier(**said, grow=grow).fit(X, y) for grow in (0, 40))
    assert still.highest_drift_ > 2 and still.drift_ > 2 and still.n_landmarks_ == 12
    assert still.n_grown_ == 0 and any("missed" in text for text in still.warnings_)
    assert grown.n_grown_ > 0 and grown.n_landmarks_ == 12 + grown.n_grown_
    assert grown.drift_ < still.drift_ and grown.settings_["grow"] == "40"
    patient = StreamLKDLClassifier(**said, grow=40, drift_limit=1e6).fit(X, y)
    assert patient.n_grown_ == 0 and patient.drift_ == still.drift_
    linear = StreamLKDLClassifier(map="none", max_iter=1, n_atoms=6).fit(X, y)
    assert linear.drift_ is None and linear.highest_drift_ is None and linear.n_grown_ == 0


def test_a_checkpoint_is_of_the_blocks_that_it_has_learned(data, tmp_path):
    X, y = data
    model = StreamLKDLClassifier(
        **{**SAID, "max_iter": 1}, checkpoint=tmp_path / "c", checkpoint_every=1, resume=True
    )
    with pytest.raises(InterruptedError):
        model.fit(blocks(X, y, (1, 9)))
    for other in (blocks(X[::-1], y), blocks(X, y[::-1])):
        with pytest.raises(LkdlError, match="not those that the checkpoint has learned"):
            model.fit(other)
    model.fit(blocks(X, y))
