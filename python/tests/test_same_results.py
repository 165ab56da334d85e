"""One recipe, three fronts: the command and Python fit the same model, bit for bit, and read each
other's files. (Rust is the engine of both; crates/lkdl-recipe has the recipe itself.)"""

from __future__ import annotations

import json
import subprocess

import lkdl
import numpy as np
import pytest

METHODS = [
    (lkdl.LKDLClassifier(random_state=3), []),
    (lkdl.LKDLClassifier(kernel="gaussian", n_landmarks=60, rank=30, sampler="uniform", random_state=3),
     ["--kernel", "gaussian", "--landmarks", "60", "--rank", "30", "--sampler", "uniform"]),
    (lkdl.DictionaryClassifier(learner="mod", n_atoms=12, sparsity=3, random_state=3),
     ["--method", "mod", "--map", "none", "--atoms", "12", "--sparsity", "3"]),
    (lkdl.KernelKSVDClassifier(n_atoms=12, random_state=3),
     ["--method", "kernel-ksvd", "--atoms", "12"]),
    (lkdl.LCKSVDClassifier(max_iter=4, random_state=3),
     ["--method", "lc-ksvd2", "--map", "none", "--iters", "4"]),
    (lkdl.DKSVDClassifier(max_iter=4, random_state=3),
     ["--method", "d-ksvd", "--map", "none", "--iters", "4"]),
    (lkdl.FDDLClassifier(max_iter=2, random_state=3),
     ["--method", "fddl", "--map", "none", "--iters", "2"]),
    (lkdl.SRCClassifier(random_state=3), ["--method", "src", "--map", "none"]),
]


def tensors(path) -> dict[str, bytes]:
    """Names, types, shapes and bytes of everything in a model file but its card."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__")
    body = data[8 + size :]
    return {
        name: (entry["dtype"], tuple(entry["shape"]), body[slice(*entry["data_offsets"])])
        for name, entry in header.items()
    }


def run(*words) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def files(tmp_path_factory, digits):
    """Samples to learn from and others, as files that both can read."""
    X, y = digits
    folder = tmp_path_factory.mktemp("data")
    np.savez(folder / "train.npz", X=X[:300], y=y[:300])
    np.savez(folder / "test.npz", X=X[300:400], y=y[300:400])
    return folder, X, y


@pytest.mark.parametrize("estimator, flags", METHODS, ids=lambda v: repr(v) if v and not isinstance(v, list) else "")
def test_command_and_python_fit_the_same_bits(estimator, flags, files, command, tmp_path):
    folder, X, y = files
    by_command, by_python = tmp_path / "command.safetensors", tmp_path / "python.safetensors"
    run(command, "fit", folder / "train.npz", "-o", by_command, "--seed", 3, "--quiet", *flags)
    model = estimator.fit(X[:300], y[:300])
    lkdl.save(model, by_python)
    assert tensors(by_command) == tensors(by_python)

    loaded = lkdl.load(by_command)
    assert type(loaded) is type(model) and loaded.settings_ == model.settings_
    assert np.array_equal(loaded.residuals(X[300:400]), model.residuals(X[300:400]))
    assert np.array_equal(loaded.predict(X[300:400]), model.predict(X[300:400]))

    lines = run(command, "predict", by_python, folder / "test.npz", "--quiet").splitlines()
    cells = [line.split(",") for line in lines[1:]]
    assert [row[1] for row in cells] == [str(label) for label in model.predict(X[300:400])]
    residuals = np.array([[float(cell) for cell in row[3:]] for row in cells])
    assert np.array_equal(residuals, model.residuals(X[300:400])), "numbers are printed in full"


@pytest.mark.parametrize("learner", ["online", "rls", "mod"])
def test_command_and_python_learn_the_same_bits_from_blocks(learner, digits, command, tmp_path):
    X, y = digits[0][:600], digits[1][:600]
    parts = {"all": slice(None), "a": slice(300), "b": slice(300, None)}
    for name, part in parts.items():
        np.savez(tmp_path / f"{name}.npz", X=X[part], y=y[part])
    by_command, by_python = tmp_path / "command.safetensors", tmp_path / "python.safetensors"
    run(command, "fit", tmp_path / "all.npz", "-o", by_command, "--seed", 3, "--quiet", "--stream",
        "--block", 130, "--pilot", 250, "--method", learner, "--atoms", 14, "--iters", 2)
    model = lkdl.StreamLKDLClassifier(
        learner=learner, block_size=130, pilot_size=250, n_atoms=14, max_iter=2, random_state=3
    )
    model.fit([(X[i : i + 130], y[i : i + 130]) for i in range(0, 600, 130)])
    lkdl.save(model, by_python)
    assert tensors(by_command) == tensors(by_python)
    assert model.n_iter_ == 2 and model.score(X, y) > 0.9
    loaded = lkdl.load(by_command)
    assert loaded.learner == learner and loaded.settings_ == model.settings_
    assert np.array_equal(loaded.predict(X), model.predict(X))

    model.fit(tmp_path / "all.npz")
    assert model.model_.to_bytes() == by_command.read_bytes(), "the card says the same too"
    assert np.array_equal(model.classes_, np.arange(10)) and model.n_features_in_ == 64
    lkdl.save(model.fit([tmp_path / "a.npz", str(tmp_path / "b.npz")]), by_python)
    assert tensors(by_command) == tensors(by_python), "a block may reach into the next file"


def test_command_and_python_grow_by_the_same_landmarks(digits, command, tmp_path):
    data, by_command = tmp_path / "all.npz", tmp_path / "command.safetensors"
    np.savez(data, X=digits[0][:600], y=digits[1][:600])
    flags = ["--grow", 7, "--drift-limit", 1.01, "--block", 50, "--pilot", 150, "--landmarks", 30]
    words = ["--seed", 3, "--stream", "--atoms", 14, "--iters", 2, "--json", *flags]
    report = json.loads(run(command, "fit", data, "-o", by_command, *words))
    model = lkdl.StreamLKDLClassifier(
        grow=7, drift_limit=1.01, block_size=50, pilot_size=150, n_landmarks=30, n_atoms=14,
        max_iter=2, random_state=3,
    ).fit(data)  # fmt: skip
    assert model.model_.to_bytes() == by_command.read_bytes()
    found = {"level": model.drift_, "highest": model.highest_drift_, "limit": 1.01}
    assert report["drift"] == {**found, "landmarks_added": model.n_grown_} and model.n_grown_ > 0


def test_names_of_classes_come_back(few, tmp_path):
    X, y = few
    names = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
    model = lkdl.DictionaryClassifier(n_atoms=5, sparsity=2).fit(X, names[y])
    path = tmp_path / "model.safetensors"
    lkdl.save(model, path)
    again = lkdl.load(str(path))
    assert list(again.classes_) == sorted(names)
    assert np.array_equal(again.predict(X), model.predict(X))
    single = lkdl.DictionaryClassifier(n_atoms=5, sparsity=2).fit(X.astype(np.float32), y)
    lkdl.save(single, path)
    assert np.array_equal(lkdl.load(path).residuals(X), single.residuals(X))


def test_what_is_no_model_is_refused(few, tmp_path):
    X, y = few
    with pytest.raises(lkdl.LkdlError, match="Nystroem cannot be saved"):
        lkdl.save(lkdl.Nystroem().fit(X), tmp_path / "map")
    with pytest.raises(ValueError, match="not fitted"):
        lkdl.save(lkdl.LKDLClassifier(), tmp_path / "model")
    (tmp_path / "other").write_bytes(b"no model at all")
    with pytest.raises(lkdl.LkdlError, match="not a model file"):
        lkdl.load(tmp_path / "other")
    with pytest.raises(OSError):
        lkdl.load(tmp_path / "missing")
    with pytest.raises(OSError):
        model = lkdl.DictionaryClassifier(n_atoms=5, sparsity=2).fit(X, y)
        lkdl.save(model, tmp_path / "no" / "such" / "folder")
    custom = lkdl.DictionaryClassifier(
        kernel=lambda A, B: A @ B.T, map="nystroem", n_landmarks=20, n_atoms=5, sparsity=2
    ).fit(X, y)
    with pytest.raises(lkdl.LkdlError, match="cannot be saved"):
        lkdl.save(custom, tmp_path / "model")
