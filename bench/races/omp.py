"""Sparse codes of q atoms for N random samples of unit norm.

Our codes are plain OMP's and must equal scikit-learn's, atom by atom. SPAMS runs the order-recursive
variant, which picks other atoms; its mean residual must be within 1 % of ours. The product of all
atoms with all samples, by NumPy, runs beside them: no pursuit can be faster than it.
"""

from collections.abc import Iterator

import lkdl
import numpy as np
import spams
from data import unit_rows
from race import OURS, Case, Contestant, Disagreement
from scipy import sparse
from sklearn.linear_model import orthogonal_mp_gram
from threads import N_THREADS

#: (p, m, N, q): the classes of USPS, of MNIST and the faces of Yale B, as the paper learns them.
SHAPES = [(256, 300, 7291, 5), (784, 700, 6000, 11), (504, 570, 1216, 30)]
#: Codes of equal supports solve the same least-squares problem: they differ by its rounding.
CODE_TOLERANCE = {"float64": 1e-9, "float32": 1e-3}
#: Samples whose two best atoms tie to within the rounding may part ways in single precision.
TIED_SAMPLES = {"float64": 0.0, "float32": 2e-3}
RESIDUAL_TOLERANCE = 0.01
PRODUCT = "bare product"


def cases() -> Iterator[Case]:
    for shape in SHAPES:
        for precision in ("float64", "float32"):
            yield case(*shape, precision)


def case(p: int, m: int, n: int, q: int, precision: str) -> Case:
    rng = np.random.default_rng(0)
    X = unit_rows(rng.standard_normal((n, p))).astype(precision)
    D = unit_rows(rng.standard_normal((m, p))).astype(precision)

    def ours(_seed):
        return lkdl.omp(X, D, q, sparse_output=True, n_jobs=N_THREADS)

    def order_recursive(_seed):
        # Atoms and samples as columns in Fortran order: the same bytes. Without eps, SPAMS reads one
        # that nobody set, and in single precision returns no codes at all in some processes.
        return spams.omp(X.T, D.T, L=q, eps=0.0, numThreads=N_THREADS)

    def product(_seed):
        return D @ X.T

    def oracle(_seed):
        return orthogonal_mp_gram(D @ D.T, D @ X.T, n_nonzero_coefs=q)

    def residual(codes) -> dict[str, float]:
        if not sparse.issparse(codes) and np.count_nonzero(codes) > q * n:
            return {}  # the bare product has no codes to judge
        return {"residual": float(np.linalg.norm(X - rows(codes, n) @ D, axis=1).mean())}

    def agree(results) -> None:
        mine, exact = rows(results[OURS], n), rows(results["scikit-learn"], n)
        other = (mine != 0).toarray() != (exact != 0).toarray()
        parted = other.any(axis=1)
        if parted.mean() > TIED_SAMPLES[precision]:
            raise Disagreement(f"{parted.sum()} of {n} supports differ from scikit-learn's")
        gap = abs(mine - exact).toarray()[~parted].max() / abs(exact).max()
        if gap > CODE_TOLERANCE[precision]:
            raise Disagreement(f"codes differ from scikit-learn's by {gap:.1e} of the largest")
        recursive = residual(results["SPAMS"])["residual"]
        if abs(residual(mine)["residual"] / recursive - 1) > RESIDUAL_TOLERANCE:
            raise Disagreement("mean residual is more than 1 % from SPAMS's")

    return Case(
        race="omp",
        name=f"p={p} m={m} N={n} q={q}",
        precision=precision,
        contestants=[
            Contestant(OURS, {"code": ours}),
            Contestant("SPAMS", {"code": order_recursive}, note="order-recursive variant"),
            Contestant("scikit-learn", {"code": oracle}, repeats=1, note="orthogonal_mp_gram"),
            Contestant(PRODUCT, {"code": product}, note="no codes: what all of them compute first"),
        ],
        judge=residual,
        agree=agree,
        repeats=9,
    )


def rows(codes, n_samples: int):
    """Codes as sparse rows, whichever way the contestant lays them out."""
    codes = sparse.csr_array(codes)
    return codes if codes.shape[0] == n_samples else sparse.csr_array(codes.T)
