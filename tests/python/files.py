"""What the command writes, read by the programs people have: NumPy, SciPy, safetensors.

Usage: python files.py path/to/lkdl
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse
from safetensors import safe_open

LKDL = sys.argv[1]


def lkdl(*words: object) -> str:
    command = [LKDL, *map(str, words), "--quiet"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def omp_residual(f: np.ndarray, atoms: np.ndarray, sparsity: int) -> float:
    """Squared residual of f over at most `sparsity` rows of `atoms`, by textbook OMP."""
    chosen: list[int] = []
    residual = f.copy()
    for _ in range(sparsity):
        correlation = np.abs(atoms @ residual)
        correlation[chosen] = 0
        chosen.append(int(correlation.argmax()))
        code, *_ = np.linalg.lstsq(atoms[chosen].T, f, rcond=None)
        residual = f - atoms[chosen].T @ code
    return float(residual @ residual)


def prepared(samples: np.ndarray) -> np.ndarray:
    centred = samples - samples.mean(axis=1, keepdims=True)
    return centred / np.linalg.norm(centred, axis=1, keepdims=True)


def a_model_is_understood_from_its_tensors(folder: Path, samples: np.ndarray) -> None:
    model = folder / "m.safetensors"
    lkdl("fit", "digits", "-o", model, "--landmarks", 60, "--rank", 40, "--atoms", 15, "--iters", 2)
    rows = list(csv.DictReader(lkdl("predict", model, "digits").splitlines()))
    with safe_open(model, framework="np") as file:
        about = json.loads(file.metadata()["lkdl"])["model"]
        assert about["kernel"] == {"name": "polynomial", "degree": 2.0, "offset": 0.0}, about
        assert about["preparation"] == "center,l2", about
        kernel = (prepared(samples) @ file.get_tensor("landmarks").T) ** 2
        virtual = kernel @ file.get_tensor("projection").T
        names = about["card"]["class_names"]
        for i in range(0, len(samples), 90):
            for label, name in enumerate(names):
                atoms = file.get_tensor(f"dictionary.{label}")
                expected = omp_residual(virtual[i], atoms, about["sparsity"])
                np.testing.assert_allclose(float(rows[i][f"residual_{name}"]), expected, atol=1e-9)
    transformed = folder / "virtual.npz"
    lkdl("transform", model, "digits", "-o", transformed)
    np.testing.assert_allclose(np.load(transformed)["X"], virtual, atol=1e-10)
    codes = folder / "codes.npz"
    lkdl("encode", model, "digits", "-o", codes)
    matrix = scipy.sparse.load_npz(codes)
    assert matrix.shape == (len(samples), 15 * 10) and matrix.format == "csr"
    assert 0 < np.diff(matrix.indptr).max() <= about["sparsity"]


def copies_hold_the_same_numbers(folder: Path, samples: np.ndarray, labels: np.ndarray) -> None:
    lkdl("data", "convert", "digits", folder / "d.mat")
    mat = scipy.io.loadmat(folder / "d.mat")
    np.testing.assert_array_equal(mat["X"].T, samples)
    np.testing.assert_array_equal(mat["y"].ravel(), labels)
    lkdl("data", "convert", "digits", folder / "d.csv")
    table = np.genfromtxt(folder / "d.csv", delimiter=",", skip_header=1)
    np.testing.assert_array_equal(table[:, :-1], samples)
    np.testing.assert_array_equal(table[:, -1], labels)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lkdl("data", "convert", "digits", folder / "d.npz")
        digits = np.load(folder / "d.npz")
        assert digits["X"].shape == (1797, 64) and digits["y"].dtype == np.int64
        a_model_is_understood_from_its_tensors(folder, digits["X"])
        copies_hold_the_same_numbers(folder, digits["X"], digits["y"])
    print("files: read by NumPy, SciPy and safetensors as they were written")


if __name__ == "__main__":
    main()
