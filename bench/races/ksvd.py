"""A dictionary by approximate K-SVD: the same samples, starting atoms and number of iterations.

Judged by the error of the samples coded anew, by the same OMP for both, with the final atoms; the
two errors must be within 1 %.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import lkdl
import numpy as np
from data import Split, splits
from dictlearn import DictionaryLearning
from race import OURS, Case, Contestant, Disagreement
from threads import N_THREADS

ERROR_TOLERANCE = 0.01


@dataclass(frozen=True)
class Size:
    """How large a dictionary, for samples of how many features."""

    n_atoms: int
    sparsity: int
    n_iters: int


#: The published experiments' atoms and sparsity, by data set; all classes share the atoms here.
SIZES = {
    "digits": Size(n_atoms=100, sparsity=5, n_iters=10),
    "usps": Size(n_atoms=300, sparsity=5, n_iters=10),
    "mnist-10000": Size(n_atoms=700, sparsity=11, n_iters=5),
}


def cases() -> Iterator[Case]:
    for split in splits():
        yield case(split, SIZES[split.name])


def case(split: Split, size: Size) -> Case:
    X = split.X_train
    rng = np.random.default_rng(0)
    start = np.ascontiguousarray(X[rng.choice(len(X), size.n_atoms, replace=False)])

    def ours(seed):
        learner = lkdl.KSVD(
            size.n_atoms,
            sparsity=size.sparsity,
            max_iter=size.n_iters,
            tol=0.0,
            dict_init=start,
            random_state=seed,
            n_jobs=N_THREADS,
        )
        return learner.fit(X).components_

    def peer(seed):
        learner = DictionaryLearning(
            size.n_atoms,
            fit_algorithm="aksvd",
            n_nonzero_coefs=size.sparsity,
            max_iter=size.n_iters,
            dict_init=start,
            random_state=seed,
        )
        return learner.fit(X).components_

    def error(atoms) -> dict[str, float]:
        codes = lkdl.omp(X, np.ascontiguousarray(atoms), size.sparsity, sparse_output=True)
        return {"error": float(np.linalg.norm(X - codes @ atoms) / np.linalg.norm(X))}

    def agree(results) -> None:
        mine, theirs = (error(results[name])["error"] for name in (OURS, "dictlearn"))
        if mine / theirs - 1 > ERROR_TOLERANCE:
            raise Disagreement(f"final error {mine:.4f} is over 1 % above dictlearn's {theirs:.4f}")

    n, p = X.shape
    return Case(
        race="ksvd",
        name=f"{split.name} p={p} m={size.n_atoms} N={n} q={size.sparsity}, {size.n_iters} iterations",
        precision="float64",
        contestants=[
            Contestant(OURS, {"fit": ours}),
            Contestant("dictlearn", {"fit": peer}, repeats=2, note="AK-SVD, OMP compiled by Numba"),
        ],
        judge=error,
        agree=agree,
        repeats=3,
    )
