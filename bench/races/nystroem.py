"""Nyström features, fit and transform, of the same Gaussian kernel and number of landmarks.

With the landmarks scikit-learn drew, both approximate the kernel matrix by the same K̂, so the error
is equal by construction; it is measured nonetheless, as ‖K − K̂‖_F / ‖K‖_F on a sample. The default
landmarks of ours are a third contestant: more time spent on choosing them, less error.
"""

from collections.abc import Iterator

import lkdl
import numpy as np
from data import Split, splits
from race import OURS, Case, Contestant, Disagreement
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import check_random_state
from threads import N_THREADS

#: Landmarks by data set, as `Nystroem(1000)` is often used on it.
N_LANDMARKS = {"digits": 200, "usps": 1000, "mnist-10000": 1000}
#: On samples of unit norm, squared distances are 2 − 2·cos.
GAMMA = 1.0
#: Samples to measure the error on.
N_JUDGED = 1000
ERROR_TOLERANCE = {"float64": 1e-6, "float32": 1e-3}


def cases() -> Iterator[Case]:
    for split in splits():
        for precision in ("float64", "float32"):
            yield case(split.astype(precision), precision)


def case(split: Split, precision: str) -> Case:
    X = split.X_train
    n_landmarks = N_LANDMARKS[split.name]
    judged = np.random.default_rng(0).choice(len(X), min(N_JUDGED, len(X)), replace=False)
    K = rbf_kernel(X[judged].astype("float64"), gamma=GAMMA)
    parameters = {"kernel": "rbf", "gamma": GAMMA, "n_components": n_landmarks}

    def with_their_landmarks(seed):
        # as scikit-learn draws them: the first of a permutation
        drawn = check_random_state(seed).permutation(len(X))[:n_landmarks]
        mapper = lkdl.Nystroem(**parameters, sampler=drawn, n_jobs=N_THREADS)
        return mapper.fit(X).transform(X)

    def with_our_landmarks(seed):
        mapper = lkdl.Nystroem(**parameters, random_state=seed, n_jobs=N_THREADS)
        return mapper.fit(X).transform(X)

    def peer(seed):
        return Nystroem(**parameters, random_state=seed).fit(X).transform(X)

    def error(features) -> dict[str, float]:
        F = np.asarray(features)[judged].astype("float64")
        return {"error": float(np.linalg.norm(K - F @ F.T) / np.linalg.norm(K))}

    def agree(results) -> None:
        mine, theirs = (error(results[name])["error"] for name in (OURS, "scikit-learn"))
        if abs(mine - theirs) > ERROR_TOLERANCE[precision]:
            raise Disagreement(f"error {mine:.6f} is not scikit-learn's {theirs:.6f}")

    n, p = X.shape
    return Case(
        race="nystroem",
        name=f"{split.name} p={p} N={n} c={n_landmarks}",
        precision=precision,
        contestants=[
            Contestant(
                OURS, {"fit+transform": with_their_landmarks}, note="landmarks of scikit-learn"
            ),
            Contestant("scikit-learn", {"fit+transform": peer}),
            Contestant("lkdl, own landmarks", {"fit+transform": with_our_landmarks}),
        ],
        judge=error,
        agree=agree,
        repeats=3,
    )
