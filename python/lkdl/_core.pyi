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

MapSums: TypeAlias = tuple[int, float, NDArray[np.float64], NDArray[np.float64]]
Worst: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], Floats]
DictionarySums: TypeAlias = tuple[
    int,
    int,
    NDArray[np.float64],
    NDArray[np.float64],
    float,
    float,
    NDArray[np.int64],
    Worst,
]
# where the state of a fit is kept ("path"), how often ("every"), whether it goes on from there ("resume"),
# and whether the memory was limited by the caller ("limits_memory")
Checkpoint: TypeAlias = dict[str, Any]

Moments: TypeAlias = tuple[int, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
GatherRequest: TypeAlias = tuple[dict[str, str], int, list[Moments], int | None, Floats | None]
Candidates: TypeAlias = tuple[int, NDArray[np.float64], NDArray[np.int64], Floats]
GatheredPart: TypeAlias = tuple[str, Moments | Candidates | MapSums]

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
def map_sums(map: FeatureMap, X: Floats, block: int = 0, threads: int = 0) -> MapSums: ...
def map_by_sums(
    map: FeatureMap,
    sums: MapSums,
    rank: int | float | None,
    variant: str,
    centered: bool = False,
    indefinite: str = "reject",
    seed: int = 0,
    threads: int = 0,
) -> tuple[FeatureMap, float]: ...
def dictionary_sums(
    X: Floats, D: Floats, sparsity: int, block: int = 0, threads: int = 0
) -> DictionarySums: ...
def update_atoms(
    D: Floats, sums: DictionarySums, threads: int = 0
) -> tuple[Floats, float, int]: ...
def fit_blocks(
    blocks: Any,
    dtype: str,
    settings: dict[str, str],
    n_pilot: int,
    drift: tuple[float, int],
    checkpoint: Checkpoint | None = None,
    kernel: Callable[[Floats, Floats], Floats] | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[Model, tuple[float, float, int] | None]: ...
def fit_files(
    data: list[str],
    block_size: int,
    settings: dict[str, str],
    n_pilot: int,
    drift: tuple[float, int],
    checkpoint: Checkpoint | None = None,
    data_dir: str | PathLike[str] | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[Model, tuple[float, float, int] | None]: ...
def group_size(n_blocks: int) -> int: ...
def survey_keys(seed: int, first: int, count: int) -> NDArray[np.uint64]: ...
def start_blocks(
    X: Floats,
    labels: NDArray[np.int64],
    indices: NDArray[np.int64],
    counts: tuple[int, int, list[int]],
    class_names: list[str],
    settings: dict[str, str],
    kernel: Callable[[Floats, Floats], Floats] | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
    gather: Callable[[GatherRequest], GatheredPart] | None = None,
) -> Model: ...
def gather_block(
    request: GatherRequest,
    X: Floats,
    first: int,
    kernel: Callable[[Floats, Floats], Floats] | None = None,
    threads: int = 0,
) -> GatheredPart | None: ...
def add_gathered(first: GatheredPart | None, later: GatheredPart | None) -> GatheredPart | None: ...
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

class Drift:
    @staticmethod
    def of(missed: NDArray[np.float64], whole: NDArray[np.float64]) -> Drift: ...
    def after(self, missed: NDArray[np.float64], whole: NDArray[np.float64]) -> Drift: ...
    def numbers(self) -> list[float]: ...
    @staticmethod
    def from_numbers(numbers: list[float]) -> Drift: ...
    @property
    def level(self) -> float: ...

class Incremental:
    @staticmethod
    def start(
        pilot: Floats,
        settings: dict[str, Any],
        initial: Floats | None = None,
        stream: int = 0,
        threads: int = 0,
    ) -> Incremental: ...
    @staticmethod
    def from_state(settings: dict[str, Any], arrays: dict[str, Any]) -> Incremental: ...
    def state(self) -> tuple[dict[str, Any], dict[str, Any]]: ...
    def fed(self, X: Floats, threads: int = 0) -> Incremental: ...
    def passed(self, threads: int = 0) -> tuple[Incremental, float]: ...
    def grown(self, n_features: int) -> Incremental: ...
    def finished(
        self, threads: int = 0
    ) -> tuple[Floats, NDArray[np.float64], int, list[str]]: ...
    @property
    def n_features(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...

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
    def from_bytes(
        data: bytes, kernel: Callable[[Floats, Floats], Floats] | None = None
    ) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def to_bytes_without_kernel(self) -> bytes: ...
    def with_dictionaries(
        self,
        dictionaries: list[Floats],
        errors: list[list[float]],
        class_names: list[str],
        sparsity: int,
        n_samples: int,
    ) -> Model: ...
    def mapped(
        self, X: Floats, threads: int = 0
    ) -> tuple[Floats, tuple[NDArray[np.float64], NDArray[np.float64]] | None]: ...
    def grown(self, X: Floats, n_landmarks: int, seed: int = 0, threads: int = 0) -> Model: ...
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
    def choice(self) -> str | None: ...
    @property
    def kernel_function(self) -> Callable[[Floats, Floats], Floats] | None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def feature_names(self) -> list[str] | None: ...
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
