"""The compiled engine. Private: use the functions and estimators of `lkdl`."""

from collections.abc import Callable
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64] | NDArray[np.float32]
Kernel: TypeAlias = dict[str, Any] | Callable[[Floats, Floats], Floats]
Progress: TypeAlias = Callable[[str, int, int, int | None, float | None], object]
Coded: TypeAlias = tuple[NDArray[np.signedinteger], NDArray[np.signedinteger], Floats, NDArray[np.float64]]

VERSION: str

class LkdlError(ValueError):
    """What lkdl cannot do, with the value that was given and the fix."""

def omp(
    X: Floats,
    D: Floats,
    sparsity: int | None = None,
    tol: float | None = None,
    threads: int = 0,
) -> Coded: ...
def omp_gram(
    gram: Floats,
    products: Floats,
    sq_norms: NDArray[np.float64],
    sparsity: int | None = None,
    tol: float | None = None,
    threads: int = 0,
) -> Coded: ...
def lasso(
    X: Floats,
    D: Floats,
    penalty: float,
    relative: bool,
    solver: str,
    tol: float,
    max_iter: int,
    threads: int = 0,
) -> tuple[Coded, int]: ...
def learn(
    X: Floats,
    method: str,
    n_atoms: int,
    sparsity: int,
    max_iter: int,
    tol: float,
    initial: Floats | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[Floats, NDArray[np.float64], bool, list[str]]: ...
def kernel(X: Floats, Y: Floats, kernel: Kernel, threads: int = 0) -> Floats: ...
def median_distance(X: Floats, seed: int = 0, threads: int = 0) -> float: ...
def landmarks(
    X: Floats,
    kernel: Kernel,
    sampler: str | NDArray[np.int64],
    n_landmarks: str,
    seed: int = 0,
    memory: int | None = None,
    threads: int = 0,
) -> tuple[Floats, NDArray[np.int64] | None, float | None, list[str]]: ...
def read(
    data: str, data_dir: str | PathLike[str] | None = None
) -> tuple[
    NDArray[np.float64],
    tuple[NDArray[np.int64], list[str]] | None,
    list[str] | None,
    tuple[int, int] | None,
]: ...
def write_file(path: str | PathLike[str], data: bytes, overwrite: bool = True) -> None: ...

class FeatureMap:
    @staticmethod
    def nystroem(
        X: Floats,
        kernel: Kernel,
        sampler: str | NDArray[np.int64],
        n_landmarks: str,
        rank: int | float | None,
        variant: str,
        centered: bool = False,
        indefinite: str = "reject",
        landmarks: Floats | None = None,
        seed: int = 0,
        memory: int | None = None,
        threads: int = 0,
    ) -> FeatureMap: ...
    @staticmethod
    def random(
        name: str, dtype: str, n_features: int, sigma: float, rank: int, seed: int = 0
    ) -> FeatureMap: ...
    @staticmethod
    def from_parts(
        kernel: Kernel,
        points: Floats,
        indices: NDArray[np.int64] | None,
        n_rows: int,
        projection: Floats,
        mean: Floats,
        eigenvalues: NDArray[np.float64],
    ) -> FeatureMap: ...
    def transform(self, X: Floats, threads: int = 0) -> Floats: ...
    def residual_energy(
        self, X: Floats, threads: int = 0
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    @property
    def points(self) -> Floats: ...
    @property
    def indices(self) -> NDArray[np.int64] | None: ...
    @property
    def projection(self) -> Floats: ...
    @property
    def mean(self) -> Floats: ...
    @property
    def eigenvalues(self) -> NDArray[np.float64]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def warnings(self) -> list[str]: ...

class Model:
    @staticmethod
    def fit(
        X: Floats,
        labels: NDArray[np.int64],
        class_names: list[str],
        settings: dict[str, str],
        kernel: Callable[[Floats, Floats], Floats] | None = None,
        seed: int = 0,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> Model: ...
    @staticmethod
    def from_bytes(data: bytes) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def predict(
        self, X: Floats, threads: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]: ...
    def transform(self, X: Floats, threads: int = 0) -> Floats: ...
    @property
    def settings(self) -> dict[str, str]: ...
    @property
    def class_names(self) -> list[str]: ...
    @property
    def seed(self) -> int: ...
    @property
    def choice(self) -> tuple[str, int, int, int] | None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def rank(self) -> int: ...
    @property
    def n_landmarks(self) -> int | None: ...
    @property
    def sparsity(self) -> int | None: ...
    @property
    def n_atoms(self) -> list[int]: ...
    @property
    def class_atoms(self) -> list[Floats] | None: ...
    @property
    def errors(self) -> list[NDArray[np.float64]]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
